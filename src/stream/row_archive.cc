#include "stream/row_archive.h"

#include <algorithm>
#include <limits>

namespace ouro::stream {
namespace {

constexpr std::size_t kMostSlabs = 16;  // The most slabs that one sweep makes.
// A slab has at least so many items, unless it is the only one of its sweep.
constexpr std::size_t kFewItems = 1000;
constexpr std::size_t kPart = std::size_t{1} << 18;  // About how many bytes an entry of a slab has.

std::string part_key(std::uint64_t number) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
  return key;
}

}  // namespace

Status RowArchive::open(const std::string& folder) {
  std::uint32_t first = next_;
  for (const Slab& slab : slabs_) first = std::min(first, slab.number);
  auto store = VersionStore::open(folder + "/rows", first, next_ - 1);
  if (!store.ok()) return store.error();
  store_ = *std::move(store);
  return {};
}

// ---- to disk ----

std::vector<RowArchive::Moved> RowArchive::gather(const Moment& until) {
  std::vector<Moved> moved;
  for (const RowKey& key : table_.keys()) {
    const auto& versions = key.versions;
    const auto end = versions.lower_bound(until);
    if (end == versions.begin()) continue;
    const auto newest = versions.before(end);
    for (auto c = versions.begin(); c != newest;) {
      const RowVersion* const version = &versions.at(c);
      c = versions.next(c);
      moved.push_back({versions.at(c).at(), &key, version, {}});
    }
  }
  for (auto at = reads_.begin(); at != reads_.end() && at->first.begin < until; ++at) {
    moved.push_back({at->first.begin, nullptr, nullptr, at});
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const Moved& a, const Moved& b) { return a.until < b.until; });
  return moved;
}

void RowArchive::encode(const Moved& moved, Encoder& out) {
  out.number<bool>(moved.version != nullptr);
  if (moved.version != nullptr) {
    out.number(moved.key->name);
    out.number(*moved.version);
    table_.store().encode(moved.version->value, out);
    return;
  }
  out.number(moved.read->first);
  out.number(packed(moved.read->second));
  out.number(moved.read->second.expected);
}

Result<RowArchive::Slab> RowArchive::write(const Moved* first, const Moved* last, StreamTime now) {
  Slab slab{next_++, (last - 1)->until, now, 0};
  auto writer = store_->write(slab.number);
  if (!writer.ok()) return writer.error();
  Encoder out;
  std::uint64_t parts = 0;
  for (; first != last; ++first) {
    encode(*first, out);
    if (out.view().size() < kPart && first + 1 != last) continue;
    if (Status status = (*writer)->add(part_key(parts++), out.view()); !status.ok()) {
      return status.error();
    }
    out.clear();
  }
  auto bytes = (*writer)->finish();
  if (!bytes.ok()) return bytes.error();
  slab.bytes = *bytes;
  return slab;
}

Status RowArchive::sweep(const Moment& until, StreamTime now) {
  const std::vector<Moved> moved = gather(until);
  if (moved.empty()) return {};
  const std::size_t count = std::clamp<std::size_t>(moved.size() / kFewItems, 1, kMostSlabs);
  const std::uint32_t first = next_;
  std::vector<Slab> added;
  for (std::size_t i = 0; i < count; ++i) {
    const Moved* const all = moved.data();
    auto slab = write(all + moved.size() * i / count, all + moved.size() * (i + 1) / count, now);
    if (!slab.ok()) {
      for (std::uint32_t number = first; number < next_; ++number) store_->drop(number);
      return slab.error();
    }
    added.push_back(*slab);
  }
  for (const Slab& slab : added) disk_bytes_ += slab.bytes;
  slabs_.insert(slabs_.end(), added.begin(), added.end());
  newest_ = std::max(newest_, moved.back().until);
  spilled_ += moved.size();
  for (RowKey& key : table_.keys()) {
    const auto end = key.versions.lower_bound(until);
    if (end != key.versions.begin()) table_.forget_before(key, key.versions.before(end));
  }
  reads_.erase(reads_.begin(), reads_.lower_bound({until, 0}));
  return {};
}

void RowArchive::remove(const Slab& slab) {
  disk_bytes_ -= slab.bytes;
  dropped_.add(slab.number);
}

void RowArchive::drop_before(StreamTime until) {
  const auto old = [&](const Slab& slab) { return slab.written < until; };
  for (const Slab& slab : slabs_) {
    if (!old(slab)) continue;
    newest_dropped_ = std::max(newest_dropped_.value_or(slab.newest), slab.newest);
    remove(slab);
  }
  std::erase_if(slabs_, old);
  tidy();
}

void RowArchive::tidy() {
  dropped_.tidy([this](std::uint32_t slab) { store_->drop(slab); });
}

// ---- and back ----

bool RowArchive::prepare_late(const Moment& moment) {
  for (auto slab = slabs_.begin(); slab != slabs_.end();) {
    if (slab->newest < moment) {
      ++slab;
      continue;
    }
    if (!load(*slab)) return false;
    remove(*slab);
    slab = slabs_.erase(slab);
  }
  tidy();
  newest_ = newest_dropped_.value_or(Moment());
  for (const Slab& slab : slabs_) newest_ = std::max(newest_, slab.newest);
  return true;
}

bool RowArchive::load(const Slab& slab) {
  for (std::uint64_t part = 0;; ++part) {
    auto bytes = store_->find(slab.number, part_key(part));
    if (!bytes.ok()) error_ = bytes.error();
    if (!bytes.ok()) return false;
    if (!*bytes) break;
    Decoder in(**bytes);
    while (in.ok() && !in.at_end()) take_in(in);
    if (!in.ok()) return false;
  }
  ++recalled_;
  return true;
}

void RowArchive::take_in(Decoder& in) {
  if (in.number<bool>()) {
    const auto name = in.number<Name>();
    auto version = in.number<RowVersion>();
    version.value = table_.store().decode(in);
    RowKey* const key = table_.find(name);
    if (in.ok() && key != nullptr) table_.add(*key, version);
    return;
  }
  const auto moment = in.number<ReadMoment>();
  TimedRead& read = reads_[moment];
  unpack(in.number<std::uint32_t>(), read);
  read.expected = in.number<std::uint64_t>();
}

// ---- checkpoints ----

void RowArchive::save(Encoder& out) const {
  out.number(next_);
  out.number(newest_);
  out.number(newest_dropped_.has_value());
  out.number(newest_dropped_.value_or(Moment()));
  out.number(disk_bytes_);
  out.number(spilled_);
  out.number(recalled_);
  out.array(std::span<const Slab>(slabs_));
}

Status RowArchive::restore(Decoder& in, const std::string& folder, bool limited) {
  next_ = in.number<std::uint32_t>();
  newest_ = in.number<Moment>();
  const bool dropped = in.number<bool>();
  const auto newest_dropped = in.number<Moment>();
  if (dropped) newest_dropped_ = newest_dropped;
  disk_bytes_ = in.number<std::uint64_t>();
  spilled_ = in.number<std::uint64_t>();
  recalled_ = in.number<std::uint64_t>();
  slabs_ = in.array<Slab>();
  dropped_.keep();
  return in.ok() && (limited || !slabs_.empty()) ? open(folder) : Status();
}

}  // namespace ouro::stream
