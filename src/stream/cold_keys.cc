#include "stream/cold_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <tuple>

namespace ouro::stream {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "keys-";
constexpr std::string_view kSuffix = ".run";
constexpr double kFilterBits = 10;  // One new key in a hundred is looked for in vain.
constexpr std::size_t kMostRuns = 40;

// How ColdKey::bits are used.
constexpr std::uint32_t kKindShift = KeyState::kEpochBits;
constexpr std::uint32_t kHasStub = std::uint32_t{1} << 28;
constexpr std::uint32_t kHasStoredVersions = std::uint32_t{1} << 29;
static_assert(KeyState::kEpochBits <= 26);

ColdKey packed(const KeyState& key) {
  ColdKey cold;
  cold.name = key.name;
  cold.stub = key.stub;
  cold.last_epoch = key.last_epoch;
  cold.bits = key.first_epoch | static_cast<std::uint32_t>(key.kind) << kKindShift;
  if (key.has_stub) cold.bits |= kHasStub;
  if (key.has_stored_versions) cold.bits |= kHasStoredVersions;
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
  key.has_stored_versions = (cold.bits & kHasStoredVersions) != 0;
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
  keeps_dropped_ = true;
  may_merge_ = true;
  return in.ok() && (memory > 0 || !runs_.empty()) ? open(folder, memory) : Status();
}

// ---- back ----

KeyState* ColdKeys::find(const Name& name) {
  const std::uint64_t hash = name.hash();
  if (KeyState* const known = keys_.find(name, hash)) return known;
  if (Status status = bring_back({&name, 1}, {&hash, 1}); !status.ok()) error_ = status.error();
  return keys_.find(name, hash);
}

KeyState* ColdKeys::find_or_add(const Name& name) {
  KeyState* const known = find(name);
  return known != nullptr ? known : keys_.find_or_add(name, name.hash());
}

// As Intake finds them: in three strides, so that neither the table nor the states are waited for.
Status ColdKeys::look_up(std::span<const Name> names, std::span<const std::uint64_t> hashes) {
  constexpr std::size_t kStride = 12;
  const std::size_t count = names.size();
  wanted_.clear();
  for (std::size_t i = 0; i < count + 2 * kStride; ++i) {
    if (i < count) keys_.prefetch(hashes[i]);
    if (i >= kStride && i - kStride < count) {
      KeyState* const likely = keys_.likely(hashes[i - kStride]);
      if (likely != nullptr) __builtin_prefetch(likely, 1);
    }
    if (i < 2 * kStride) continue;
    const std::size_t k = i - 2 * kStride;
    if (keys_.find(names[k], hashes[k]) == nullptr) wanted_.push_back({hashes[k], names[k]});
  }
  if (wanted_.empty()) return {};
  std::sort(wanted_.begin(), wanted_.end(),
            [](const Wanted& a, const Wanted& b) { return a.hash < b.hash; });
  found_.clear();
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    if (Status status = (*run)->find(wanted_, found_); !status.ok()) return status;
    if (found_.size() == wanted_.size()) break;
  }
  for (const ColdKey& cold : found_) revive(cold);
  return {};
}

void ColdKeys::revive(const ColdKey& cold) {
  const std::uint64_t hash = cold.name.hash();
  if (keys_.find(cold.name, hash) != nullptr) return;  // It was asked for twice.
  unpack(cold, *keys_.find_or_add(cold.name, hash), pool_);
  ++came_back_;
}

// ---- away ----

bool ColdKeys::may_leave(const KeyState& key) {
  if (!key.reads.empty()) return false;
  if (key.kind != KeyKind::List) return key.kind == KeyKind::Register && key.registers.empty();
  if (key.lists.empty()) return true;
  return key.lists.size() == 1 && key.lists.at(key.lists.begin()).is_stub();
}

std::uint64_t ColdKeys::keys_before(std::size_t run) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < run; ++i) sum += runs_[i]->info().keys;
  return sum;
}

Result<std::unique_ptr<RunWriter>> ColdKeys::new_run(std::uint32_t number, std::uint64_t keys,
                                                     std::uint64_t others) {
  const double share =
      static_cast<double>(filter_bytes_) * 8 / static_cast<double>(keys + others + 1);
  auto writer = std::make_unique<RunWriter>(number, keys, std::clamp(share, 1.0, kFilterBits));
  if (Status status = writer->open(path(number)); !status.ok()) return status.error();
  return Result<std::unique_ptr<RunWriter>>(std::move(writer));
}

Status ColdKeys::begin(std::uint64_t keys) {
  auto writer = new_run(next_run_, keys, keys_before(runs_.size()));
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

// ---- few runs ----

std::optional<std::size_t> ColdKeys::first_to_merge() const {
  std::uint64_t newer = keys_before(runs_.size());
  for (std::size_t i = 0; i + 1 < runs_.size(); ++i) {
    const std::uint64_t keys = runs_[i]->info().keys;
    newer -= keys;
    // The oldest has most keys, and whatever is newer may be copies of them.
    if (i == 0 ? newer * 2 >= keys : newer >= keys * 3) return i;
  }
  return std::nullopt;
}

Status ColdKeys::begin_merge(std::size_t first) {
  auto merge = std::make_unique<Merge>();
  merge->first = first;
  merge->count = runs_.size() - first;
  merge->number = next_run_++;
  std::uint64_t keys = 0;
  for (std::size_t i = first; i < runs_.size(); ++i) {
    keys += runs_[i]->info().keys;
    Run::Cursor& input = merge->inputs.emplace_back(*runs_[i]);
    if (!input.next()) return input.error() ? Status(*input.error()) : Status();
  }
  auto writer = new_run(merge->number, keys, keys_before(first));
  if (!writer.ok()) return writer.error();
  merge->writer = *std::move(writer);
  merge_ = std::move(merge);
  return {};
}

Status ColdKeys::merge(std::size_t keys) {
  if (merge_ == nullptr && !std::exchange(may_merge_, false)) return {};
  if (merge_ == nullptr) {
    const auto first = first_to_merge();
    if (!first) return {};
    if (Status status = begin_merge(*first); !status.ok()) return status;
  }
  const bool hurry = runs_.size() > kMostRuns;
  Status status;
  for (; status.ok() && !merge_->inputs.empty() && (keys > 0 || hurry); --keys) {
    status = merge_next();
  }
  if (status.ok() && merge_->inputs.empty()) return end_merge();
  if (!status.ok()) {
    const std::uint32_t number = merge_->number;
    merge_ = nullptr;
    drop(number);
  }
  return status;
}

// Of keys that are in several runs the newest counts.
Status ColdKeys::merge_next() {
  auto& inputs = merge_->inputs;
  std::size_t least = 0;
  bool copies = false;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const auto place = [&](std::size_t at) {
      return std::tuple(inputs[at].hash(), inputs[at].key().name);
    };
    if (inputs[i].hash() > inputs[least].hash() || place(i) > place(least)) continue;
    copies = place(i) == place(least);
    least = i;
  }
  if (Status status = merge_->writer->add(inputs[least].key(), inputs[least].hash());
      !status.ok()) {
    return status;
  }
  const Name name = inputs[least].key().name;
  for (std::size_t i = least + 1; i-- > (copies ? 0 : least);) {
    if (inputs[i].key().name != name || inputs[i].next()) continue;
    if (inputs[i].error()) return *inputs[i].error();
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

Status ColdKeys::end_merge() {
  const std::unique_ptr<Merge> merge = std::move(merge_);
  auto info = merge->writer->finish();
  if (!info.ok()) {
    drop(merge->number);
    return info.error();
  }
  merge->writer = nullptr;
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(merge->first);
  const auto end = begin + static_cast<std::ptrdiff_t>(merge->count);
  // Not both at once: filters are large.
  for (auto run = begin; run != end; ++run) (*run)->forget_filter();
  auto merged = Run::open(path(info->number), *info);
  if (!merged.ok()) {
    drop(merge->number);
    return merged.error();
  }
  for (auto run = begin; run != end; ++run) dropped_.push_back((*run)->info().number);
  *begin = *std::move(merged);
  runs_.erase(begin + 1, end);
  if (!keeps_dropped_) delete_dropped();
  may_merge_ = true;
  return {};
}

void ColdKeys::drop(std::uint32_t number) {
  std::error_code ignored;  // What cannot be removed now is removed by the next stream.
  fs::remove(path(number), ignored);
}

void ColdKeys::delete_dropped() {
  for (const std::uint32_t number : dropped_) drop(number);
  dropped_.clear();
}

// ---- accounts ----

std::uint64_t ColdKeys::disk_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& run : runs_) sum += run->info().bytes;
  return sum;
}

std::size_t ColdKeys::bytes() const {
  std::size_t sum = wanted_.capacity() * sizeof(Wanted) + found_.capacity() * sizeof(ColdKey);
  for (const auto& run : runs_) sum += run->bytes();
  if (leaving_ != nullptr) sum += leaving_->bytes();
  if (merge_ == nullptr) return sum;
  for (const Run::Cursor& input : merge_->inputs) sum += input.bytes();
  return sum + merge_->writer->bytes();
}

}  // namespace ouro::stream
