#include "stream/cold_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>
#include <system_error>

namespace ouro::stream {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "keys-";
constexpr std::string_view kSuffix = ".run";
// The most bits of filter for a key: then one key in a hundred that a run does not have is looked
// for on disk in vain.
constexpr double kFilterBits = 10;
constexpr double kLeastShare = 3;      // With fewer bits for a key the oldest run has no filter.
constexpr std::size_t kMostRuns = 40;  // With more runs the merge under way is waited for.
constexpr std::size_t kPiece = 128;    // Keys that a thread looks for at once.

// How ColdKey::bits are used, beside ColdKey::kHasList: first_epoch in the lower bits, then the
// kind of the key, then these.
constexpr std::uint32_t kKindShift = KeyState::kEpochBits;
constexpr std::uint32_t kHasStub = std::uint32_t{1} << 28;
constexpr std::uint32_t kUnsure = std::uint32_t{1} << 30;  // Bit 29 was used by older versions.
static_assert(KeyState::kEpochBits <= 26);

ColdKey packed(const KeyState& key) {
  ColdKey cold;
  cold.name = key.name;
  cold.stub = key.stub;
  cold.last_epoch = key.last_epoch;
  cold.bits = key.first_epoch | static_cast<std::uint32_t>(key.kind) << kKindShift;
  if (key.has_stub) cold.bits |= kHasStub;
  if (key.unsure) cold.bits |= kUnsure;
  if (key.kind != KeyKind::List || key.lists.empty()) return cold;
  const ListVersion& stub = key.lists.at(key.lists.begin());
  cold.bits |= ColdKey::kHasList;
  cold.stub = stub.value;
  cold.list = {stub.own_hash, stub.own_length, stub.hash, stub.length};
  return cold;
}

void unpack(const ColdKey& cold, KeyState& key, Pool& pool) {
  key.stub = cold.stub;
  key.last_epoch = cold.last_epoch;
  key.first_epoch = cold.bits & KeyState::kMostEpochs;
  key.kind = static_cast<KeyKind>(cold.bits >> kKindShift & 3);
  key.has_stub = (cold.bits & kHasStub) != 0;
  key.unsure = (cold.bits & kUnsure) != 0;
  if ((cold.bits & ColdKey::kHasList) == 0) return;
  ListVersion stub = ListVersion::stub_of({});
  stub.value = std::exchange(key.stub, 0);
  stub.own_hash = cold.list[0];
  stub.own_length = cold.list[1];
  stub.hash = cold.list[2];
  stub.length = cold.list[3];
  key.lists.insert(key.lists.end(), stub, pool);
}

std::optional<std::uint32_t> number_of(const std::string& file) {
  if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = file.data() + file.size() - kSuffix.size();
  const auto parsed = std::from_chars(file.data() + kPrefix.size(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

std::string ColdKeys::path(std::uint32_t number) const {
  return fmt::format("{}/{}{:010}{}", folder_, kPrefix, number, kSuffix);
}

Status ColdKeys::open(const std::string& folder, std::size_t memory) {
  folder_ = folder;
  filter_bytes_ = memory / 8;
  std::error_code failed;
  fs::create_directories(folder, failed);
  for (auto at = fs::directory_iterator(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    const auto number = number_of(at->path().filename().string());
    const bool known = std::any_of(runs_.begin(), runs_.end(),
                                   [&](const auto& run) { return run->info().number == number; });
    if (number && !known) fs::remove(at->path(), failed);
  }
  if (!failed) return {};
  Error error;
  error.file = folder;
  error.what = failed.message() + "; a stream with a memory limit needs a folder it can use";
  return error;
}

void ColdKeys::save(Encoder& out) const {
  out.number(next_run_);
  out.number(left_);
  out.number(came_back_);
  out.number<std::uint64_t>(runs_.size());
  for (const auto& run : runs_) out.number(run->info());
}

Status ColdKeys::restore(Decoder& in, const std::string& folder, std::size_t memory) {
  folder_ = folder;
  next_run_ = in.number<std::uint32_t>();
  left_ = in.number<std::uint64_t>();
  came_back_ = in.number<std::uint64_t>();
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto info = in.number<RunInfo>();
    auto run = Run::open(path(info.number), info);
    if (!run.ok()) return run.error();
    runs_.push_back(*std::move(run));
  }
  dropped_.keep();
  may_merge_ = true;
  return in.ok() && (memory > 0 || !runs_.empty()) ? open(folder, memory) : Status();
}

// ---- keys come back ----

KeyState* ColdKeys::find(const Name& name) {
  const std::uint64_t hash = name.hash();
  if (KeyState* const known = keys_.find(name, hash)) return known;
  KeyState* state = nullptr;
  if (Status status = bring_back({&name, 1}, {&hash, 1}, {&state, 1}); !status.ok()) {
    error_ = status.error();
  }
  return state;
}

KeyState* ColdKeys::find_or_add(const Name& name) {
  KeyState* const known = find(name);
  return known != nullptr ? known : keys_.find_or_add(name, name.hash());
}

// Looks in memory first, in three steps that prefetch for each other as in
// BatchReader::find_keys(); then on disk for those not found.
Status ColdKeys::look_up(std::span<const Name> names, std::span<const std::uint64_t> hashes,
                         std::span<KeyState*> states) {
  constexpr std::size_t kStride = 12;
  const std::size_t count = names.size();
  wanted_.clear();
  for (std::size_t i = 0; i < count + 2 * kStride; ++i) {
    if (i < count) keys_.prefetch(hashes[i]);
    if (i >= kStride && i - kStride < count) {
      KeyState* const likely = keys_.likely(hashes[i - kStride]);
      states[i - kStride] = likely;
      if (likely != nullptr) keys_.prefetch_state(likely);
    }
    if (i < 2 * kStride) continue;
    const std::size_t k = i - 2 * kStride;
    if (states[k] != nullptr && states[k]->name == names[k]) continue;
    if (states[k] != nullptr) states[k] = keys_.find(names[k], hashes[k]);
    if (states[k] != nullptr) continue;
    wanted_.push_back({hashes[k], names[k], static_cast<std::uint32_t>(k)});
  }
  if (wanted_.empty()) return {};
  std::sort(wanted_.begin(), wanted_.end(),
            [](const Wanted& a, const Wanted& b) { return a.hash < b.hash; });
  for (Searcher& searcher : searchers_) {
    searcher.found.clear();
    searcher.status = {};
  }
  aside_.share((wanted_.size() + kPiece - 1) / kPiece,
               [this](std::size_t piece, std::size_t who) { search(piece, searchers_[who]); });
  for (const Searcher& searcher : searchers_) {
    if (!searcher.status.ok()) return searcher.status;
    for (std::size_t i = 0; i < searcher.found.size(); ++i) {
      const FoundKey& found = searcher.found[i];
      const std::size_t soon = std::min(i + kStride, searcher.found.size() - 1);
      keys_.prefetch(hashes[searcher.found[soon].number]);
      states[found.number] = revive(found.key, hashes[found.number]);
    }
  }
  return {};
}

void ColdKeys::search(std::size_t piece, Searcher& searcher) {
  const std::size_t first = piece * kPiece;
  const std::size_t count = std::min(kPiece, wanted_.size() - first);
  const std::size_t before = searcher.found.size();
  try {
    for (auto run = runs_.rbegin(); run != runs_.rend() && searcher.status.ok(); ++run) {
      searcher.status =
          (*run)->find(std::span(wanted_).subspan(first, count), searcher.search, searcher.found);
      if (searcher.found.size() - before == count) return;
    }
  } catch (const std::bad_alloc&) {  // Caught here, as this may run in the helper thread, where
                                     // nobody else would.
    Error error;
    error.what = "out of memory while keys come back from disk";
    searcher.status = std::move(error);
  }
}

KeyState* ColdKeys::revive(const ColdKey& cold, std::uint64_t hash) {
  const std::size_t before = keys_.size();
  KeyState* const key = keys_.find_or_add(cold.name, hash);
  if (keys_.size() == before) return key;  // The same name was wanted twice, and is back already.
  unpack(cold, *key, pool_);
  ++came_back_;
  return key;
}

// ---- keys leave ----

bool ColdKeys::may_leave(const KeyState& key) {
  if (!key.reads.empty()) return false;
  if (key.kind != KeyKind::List) return key.kind == KeyKind::Register && key.registers.empty();
  if (key.lists.empty()) return true;
  return key.lists.size() == 1 && key.lists.at(key.lists.begin()).is_stub();
}

// A key is looked for in the newest run first and mostly found in the oldest, so the newer, smaller
// runs are asked most often in vain, and there a bit of filter saves most. So each run gets half of
// the memory for filters that the older ones left.
double ColdKeys::filter_bits(std::uint64_t keys, std::size_t older) const {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < older; ++i) taken += runs_[i]->info().blocks * sizeof(FilterBlock);
  const auto left = static_cast<double>(filter_bytes_ - std::min(filter_bytes_, taken)) * 8;
  const double share = left / static_cast<double>(keys + 1);
  // If there is not enough for the oldest run, it has no filter; then only keys that are new to the
  // stream are looked for there in vain.
  if (older == 0 && share < kLeastShare) return 0;
  return std::clamp(share / 2, 1.0, kFilterBits);
}

Result<std::unique_ptr<RunWriter>> ColdKeys::new_run(std::uint32_t number, std::uint64_t keys,
                                                     std::size_t older) {
  auto writer = std::make_unique<RunWriter>(number, keys, filter_bits(keys, older));
  if (Status status = writer->open(path(number)); !status.ok()) return status.error();
  return Result<std::unique_ptr<RunWriter>>(std::move(writer));
}

Status ColdKeys::begin(std::uint64_t keys) {
  auto writer = new_run(next_run_, keys, runs_.size());
  if (!writer.ok()) return writer.error();
  leaving_ = *std::move(writer);
  leaving_number_ = next_run_++;
  return {};
}

Status ColdKeys::leave(const KeyState& key, std::uint64_t hash) {
  return leaving_->add(packed(key), hash);
}

Status ColdKeys::end() {
  auto info = leaving_->finish();
  if (!info.ok()) return info.error();
  leaving_ = nullptr;
  if (info->keys == 0) {
    drop(info->number);
    return {};
  }
  auto run = Run::open(path(info->number), *info);
  if (!run.ok()) {
    drop(info->number);
    return run.error();
  }
  runs_.push_back(*std::move(run));
  left_ += info->keys;
  may_merge_ = true;
  return {};
}

void ColdKeys::abandon() {
  if (leaving_ == nullptr) return;
  leaving_ = nullptr;
  drop(leaving_number_);
}

// ---- merging ----

std::optional<std::size_t> ColdKeys::first_to_merge() const {
  std::uint64_t newer = 0;
  for (const auto& run : runs_) newer += run->info().keys;
  for (std::size_t i = 0; i + 1 < runs_.size(); ++i) {
    const std::uint64_t keys = runs_[i]->info().keys;
    newer -= keys;
    // The oldest run has most keys, and newer runs may consist of copies of these; so it is merged
    // early, which saves space. The others are merged when the newer ones are three times as large.
    if (i == 0 ? newer * 2 >= keys : newer >= keys * 3) return i;
  }
  return std::nullopt;
}

Status ColdKeys::begin_merge(std::size_t first) {
  std::uint64_t keys = 0;
  std::vector<const Run*> inputs;
  for (std::size_t i = first; i < runs_.size(); ++i) {
    keys += runs_[i]->info().keys;
    inputs.push_back(runs_[i].get());
  }
  const std::uint32_t number = next_run_++;
  auto writer = new_run(number, keys, first);
  if (!writer.ok()) return writer.error();
  auto merge = std::make_unique<Merge>();
  merge->first = first;
  merge->count = inputs.size();
  merge->number = number;
  merge->keys = keys * 2 / 3;  // About a third are copies that are out of date.
  merge->work = std::make_unique<RunMerge>(std::move(inputs), *std::move(writer));
  merge_ = std::move(merge);
  return {};
}

// The thread that merges is faster than `keys` suggest, but when its result is used must not depend
// on its speed: otherwise memory(), and with it the time of the next sweep, would differ for the
// same calls. A merge that failed ends at once, since its unfinished run takes space that the disk
// may not have.
Status ColdKeys::merge(std::size_t keys) {
  if (merge_ == nullptr && !std::exchange(may_merge_, false)) return {};
  if (merge_ == nullptr) {
    const auto first = first_to_merge();
    if (!first) return {};
    if (Status status = begin_merge(*first); !status.ok()) return status;
  }
  merge_->keys -= std::min<std::uint64_t>(merge_->keys, keys);
  const bool due = merge_->keys == 0 || runs_.size() > kMostRuns || merge_->work->failed();
  return due ? end_merge() : Status();
}

Status ColdKeys::end_merge() {
  const std::unique_ptr<Merge> merge = std::move(merge_);
  auto info = merge->work->finish();
  if (!info.ok()) {
    drop(merge->number);
    return info.error();
  }
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(merge->first);
  const auto end = begin + static_cast<std::ptrdiff_t>(merge->count);
  // Two filters at once would take too much memory.
  for (auto run = begin; run != end; ++run) (*run)->forget_filter();
  auto merged = Run::open(path(info->number), *info);
  if (!merged.ok()) {
    drop(merge->number);
    return merged.error();
  }
  for (auto run = begin; run != end; ++run) dropped_.add((*run)->info().number);
  *begin = *std::move(merged);
  runs_.erase(begin + 1, end);
  dropped_.tidy([this](std::uint32_t run) { drop(run); });
  may_merge_ = true;
  return {};
}

void ColdKeys::drop(std::uint32_t number) {
  std::error_code ignored;  // What cannot be removed now is removed by the next stream.
  fs::remove(path(number), ignored);
}

// ---- accounts ----

std::uint64_t ColdKeys::disk_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& run : runs_) sum += run->info().bytes;
  return sum;
}

std::size_t ColdKeys::bytes() const {
  // Counts what all searchers found together: which of them found a key depends on chance, and the
  // memory in use must be the same for the same calls.
  std::size_t sum = wanted_.capacity() * (sizeof(Wanted) + sizeof(FoundKey));
  for (const auto& run : runs_) sum += run->bytes();
  if (leaving_ != nullptr) sum += leaving_->bytes();
  return merge_ == nullptr ? sum : sum + merge_->work->bytes();
}

}  // namespace ouro::stream
