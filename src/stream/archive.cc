#include "stream/archive.h"

#include <algorithm>
#include <type_traits>

#include "stream/timelines.h"

namespace ouro::stream {
namespace {

constexpr std::size_t kRecentBatches = 4;  // Batches read from disk that are kept in memory.

void append_big_endian(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

// All keys whose hashes have the same upper 16 bits share an entry, a group: few entries cost less
// to write than one for each key.
constexpr int kGroupShift = 48;

std::string group_key(std::uint64_t group) {
  std::string key = "k";
  append_big_endian(key, group);
  return key;
}

// The key of a batch. It sorts after the keys of all groups, since 't' follows 'k'.
std::string batch_key(Arrival first) {
  std::string key = "t";
  append_big_endian(key, first);
  return key;
}

Arrival arrival_of(const std::string& key) {
  Arrival arrival = 0;
  for (std::size_t i = 1; i < key.size(); ++i) {
    arrival = arrival << 8 | static_cast<unsigned char>(key[i]);
  }
  return arrival;
}

template <class T>
void encode_until(const Sequence<T>& all, typename Sequence<T>::Cursor from,
                  typename Sequence<T>::Cursor end, Encoder& out) {
  std::uint64_t count = 0;
  for (auto c = from; c != end; c = all.next(c)) ++count;
  out.number(count);
  for (auto c = from; c != end; c = all.next(c)) out.number(all.at(c));
}

}  // namespace

Status Archive::open(const std::string& folder) {
  auto store = VersionStore::open(folder, first_kept_, next_epoch_ - 1);
  if (!store.ok()) return store.error();
  store_ = *std::move(store);
  return {};
}

void Archive::save(Encoder& out) const {
  out.number(next_epoch_);
  out.number(first_kept_);
  out.number(first_based_);
  out.number(newest_);
  out.number(newest_dropped_);
  out.number(disk_bytes_);
  out.number(spilled_);
  out.number(recalled_);
  out.number<std::uint64_t>(epochs_.size());
  for (const Epoch& epoch : epochs_) out.number(epoch);
  out.number<std::uint64_t>(back_.size());
  for (const auto& [epoch, name] : back_) {
    out.number(epoch);
    out.number(name);
  }
}

Status Archive::restore(Decoder& in, const std::string& folder, bool limited, bool based) {
  next_epoch_ = in.number<std::uint32_t>();
  first_kept_ = in.number<std::uint32_t>();
  first_based_ = based ? in.number<std::uint32_t>() : next_epoch_;
  newest_ = in.number<Moment>();
  newest_dropped_ = in.number<Moment>();
  disk_bytes_ = in.number<std::uint64_t>();
  spilled_ = in.number<std::uint64_t>();
  recalled_ = in.number<std::uint64_t>();
  const auto epochs = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < epochs && in.ok(); ++i) epochs_.push_back(in.number<Epoch>());
  const auto back = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < back && in.ok(); ++i) {
    const auto epoch = in.number<std::uint32_t>();
    back_.insert({epoch, in.number<Name>()});
  }
  keys_.set_last_epoch(epochs_.empty() ? 0 : epochs_.back().number);
  guard_ = newest_;
  dropped_.keep();
  return in.ok() && (limited || !epochs_.empty()) ? open(folder) : Status();
}

// ---- to disk ----

template <class V>
bool Archive::has_stub(KeyState& key) {
  auto& versions = key.versions<V>();
  if constexpr (!std::is_same_v<V, ListVersion>) return key.has_stub;
  return !versions.empty() && versions.at(versions.begin()).is_stub();
}

// Whether the key has versions (stubs aside) or reads before `until`.
template <class V>
bool Archive::has_before(KeyState& key, const Moment& until) {
  auto& versions = key.versions<V>();
  auto first = versions.begin();
  if (std::is_same_v<V, ListVersion> && has_stub<V>(key)) first = versions.next(first);
  if (first != versions.end() && versions.at(first).at() < until) return true;
  return !key.reads.empty() && key.reads.at(key.reads.begin()).at() < until;
}

template <class V>
void Archive::encode_before(KeyState& key, const Moment& until, Epoch& epoch) {
  auto& versions = key.versions<V>();
  const auto end = versions.lower_bound(until);
  const auto end_reads = key.reads.lower_bound(until);
  auto first = versions.begin();
  if (std::is_same_v<V, ListVersion> && has_stub<V>(key)) first = versions.next(first);
  encode_base<V>(key);
  encode_until(versions, first, end, group_);
  encode_until(key.reads, key.reads.begin(), end_reads, group_);
  if (first != end) {
    epoch.newest = std::max(epoch.newest, versions.at(versions.before(end)).at());
  }
  if (end_reads != key.reads.begin()) {
    epoch.newest = std::max(epoch.newest, key.reads.at(key.reads.before(end_reads)).at());
  }
}

template <class V>
void Archive::encode_base(KeyState& key) {
  const bool stub = has_stub<V>(key);
  const Base::Kind kind = key.unsure ? Base::Kind::Unknown
                          : stub     ? Base::Kind::Stub
                                     : Base::Kind::Initial;
  group_.number(kind);
  if (kind != Base::Kind::Stub) return;
  if constexpr (std::is_same_v<V, ListVersion>) {
    group_.number(key.lists.at(key.lists.begin()));
  } else {
    group_.number<std::uint64_t>(key.stub);
  }
}

// Frees the versions and reads before `until`, which are in `epoch` now, and leaves a stub.
template <class V>
void Archive::forget_before(KeyState& key, const Moment& until, std::uint32_t epoch) {
  auto& versions = key.versions<V>();
  const std::size_t before = versions.size() + key.reads.size();
  const auto end = versions.lower_bound(until);
  if (end != versions.begin()) {
    const V newest = versions.at(versions.before(end));
    if constexpr (std::is_same_v<V, ListVersion>) {
      versions.erase_before(versions.before(end), pool_);
      versions.at(versions.begin()) = ListVersion::stub_of(newest);
    } else {
      versions.erase_before(end, pool_);
      key.stub = newest.value;
      key.has_stub = true;
      key.unsure = false;
    }
  }
  key.reads.erase_before(key.reads.lower_bound(until), pool_);
  spilled_ += before - versions.size() - key.reads.size();
  if (key.first_epoch == 0) key.first_epoch = epoch & KeyState::kMostEpochs;
  key.last_epoch = epoch;
}

Status Archive::begin_sweep(const Moment& until, std::function<std::size_t()> excess) {
  auto writer = store_->write(next_epoch_);
  if (!writer.ok()) return writer.error();
  sweep_ = std::make_unique<Sweep>();
  sweep_->epoch.number = next_epoch_++;
  sweep_->until = until;
  sweep_->excess = std::move(excess);
  sweep_->writer = *std::move(writer);
  for (const Window::Batch& batch : window_.batches()) {
    if (batch.first + batch.history->txn_count() > window_.lately()) break;
    ++sweep_->batches;
  }
  guard_ = std::max(newest_, until);
  return {};
}

Status Archive::finish_sweep(StreamTime now) {
  while (sweeping()) {
    if (Status status = sweep(1'000'000, now); !status.ok()) return status;
  }
  return {};
}

Status Archive::sweep(std::size_t keys, StreamTime now) {
  while (sweeping() && keys > 0) {
    sweep_->epoch.written = now;
    Status status = step(keys);
    if (status.ok()) continue;
    Sweep& s = *sweep_;
    if (s.phase == Phase::Leave) {
      cold_.abandon();  // The keys stay in memory.
      s.left = false;
      s.phase = Phase::Erase;
      s.part = 0;
    } else {
      store_->drop(s.epoch.number);
      sweep_ = nullptr;
      guard_ = newest_;
    }
    return status;
  }
  return {};
}

// Does a step of the sweep, and subtracts from `keys` about as many keys as it is worth.
Status Archive::step(std::size_t& keys) {
  Sweep& s = *sweep_;
  const auto spend = [&](std::size_t count) { keys -= std::min(keys, count + 1); };
  // Looking at a key costs about a quarter of writing it.
  const std::size_t in_part = keys_.size() / KeyTable::kParts / 4;
  switch (s.phase) {
    case Phase::WriteKeys:
      spend(gather_part());
      if (s.part == KeyTable::kParts) s.phase = Phase::WriteBatches;
      return write_part();
    case Phase::WriteBatches:
      spend(1000);
      return write_batches();
    case Phase::Forget:
      spend(1000);
      forget_some(1000);
      return s.key == s.keys.size() ? begin_leaving() : Status();
    case Phase::Leave:
      spend(in_part);
      return leave_part();
    case Phase::Erase:
      spend(in_part);
      erase_part();
      return {};
  }
  return {};
}

void Archive::sort_part() {
  std::sort(part_.begin(), part_.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->name < b.second->name;
  });
}

// Gathers the keys of the next part of the table that have something to write. Returns how many
// keys the part has in all.
std::size_t Archive::gather_part() {
  part_.clear();
  std::size_t count = 0;
  const auto gather = [&](KeyState& key, std::uint64_t hash) {
    const bool list = key.kind == KeyKind::List;
    const Moment& until = sweep_->until;
    ++count;
    if (list ? has_before<ListVersion>(key, until) : has_before<Version>(key, until)) {
      part_.emplace_back(hash, &key);
    } else if (ColdKeys::may_leave(key)) {
      ++sweep_->idle[age_of(key)];
    }
  };
  keys_.for_each(sweep_->part++, gather, true);
  sort_part();
  return count;
}

Status Archive::write_part() {
  Sweep& s = *sweep_;
  for (std::size_t i = 0; i < part_.size();) {
    const std::uint64_t group = part_[i].first >> kGroupShift;
    group_.clear();
    for (; i < part_.size() && part_[i].first >> kGroupShift == group; ++i) {
      KeyState& key = *part_[i].second;
      group_.number(key.name);
      group_.number<KeyKind>(key.kind);
      if (key.kind == KeyKind::List) {
        encode_before<ListVersion>(key, s.until, s.epoch);
      } else {
        encode_before<Version>(key, s.until, s.epoch);
      }
      key.touched = false;
      s.keys.push_back(&key);
    }
    if (Status status = s.writer->add(group_key(group), group_.view()); !status.ok()) {
      return status;
    }
  }
  return {};
}

void Archive::forget_some(std::size_t count) {
  Sweep& s = *sweep_;
  const std::size_t end = std::min(s.keys.size(), s.key + count);
  for (; s.key < end; ++s.key) {
    KeyState& key = *s.keys[s.key];
    if (s.key + 24 < end) __builtin_prefetch(s.keys[s.key + 24], 1);
    if (s.key + 12 < end) s.keys[s.key + 12]->prefetch_times();
    if (key.touched) {
      back_.insert({s.epoch.number, key.name});
      continue;
    }
    if (key.kind == KeyKind::List) {
      forget_before<ListVersion>(key, s.until, s.epoch.number);
    } else {
      forget_before<Version>(key, s.until, s.epoch.number);
    }
    if (ColdKeys::may_leave(key)) ++s.idle[0];
  }
}

// How many sweeps ago something of the key was last written, at most kAges - 1.
std::size_t Archive::age_of(const KeyState& key) const {
  const std::uint32_t now = sweep_->epoch.number;
  return std::min<std::size_t>(now - std::min(now, key.last_epoch), kAges - 1);
}

// Decides which keys leave: as many as are needed to free enough memory, those touched longest ago
// first. Of the last age that is needed only a share leaves, chosen by hash.
Status Archive::begin_leaving() {
  Sweep& s = *sweep_;
  s.part = 0;
  s.phase = Phase::Erase;
  s.keys = {};
  s.key = 0;
  const std::uint64_t wanted = (s.excess() + sizeof(KeyState) - 1) / sizeof(KeyState);
  std::uint64_t leaving = 0;
  s.leave_age = kAges;
  while (s.leave_age > 0 && leaving < wanted) leaving += s.idle[--s.leave_age];
  if (leaving == 0) return {};
  const double last = static_cast<double>(s.idle[s.leave_age]);
  const double too_many = leaving > wanted ? static_cast<double>(leaving - wanted) : 0;
  s.share = too_many == 0 ? ~std::uint64_t{0}
                          : static_cast<std::uint64_t>((last - too_many) / last * 0x1p63) * 2;
  s.phase = Phase::Leave;
  s.left = true;
  return cold_.begin(std::min(leaving, wanted));
}

bool Archive::leaves(const KeyState& key, std::uint64_t hash) const {
  if (!ColdKeys::may_leave(key)) return false;
  const std::size_t age = age_of(key);
  if (age != sweep_->leave_age) return age > sweep_->leave_age;
  // Mixes the epoch in, so that every sweep chooses other keys.
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return (hash ^ sweep_->epoch.number) * kOdd <= sweep_->share;
}

Status Archive::leave_part() {
  Sweep& s = *sweep_;
  if (s.part == KeyTable::kParts) {
    if (Status status = cold_.end(); !status.ok()) return status;
    s.phase = Phase::Erase;
    s.part = 0;
    return {};
  }
  part_.clear();
  keys_.for_each(s.part++, [&](KeyState& key, std::uint64_t hash) {
    key.leaving = leaves(key, hash);
    if (!key.leaving) return;
    key.touched = false;
    part_.emplace_back(hash, &key);
  });
  sort_part();
  for (const auto& [hash, key] : part_) {
    if (Status status = cold_.leave(*key, hash); !status.ok()) return status;
  }
  return {};
}

// Erases the keys that left, and those of unknown kind, which were only ever read as null and have
// no reads in memory: if such a key is named again, its new state looks for it in all epochs.
void Archive::erase_part() {
  Sweep& s = *sweep_;
  keys_.erase_if(s.part++, [&](const KeyState& key) {
    if (key.kind == KeyKind::Unknown) return key.reads.empty() && key.registers.empty();
    return s.left && key.leaving && !key.touched && ColdKeys::may_leave(key);
  });
  if (s.part < KeyTable::kParts) return;
  sweep_ = nullptr;
  guard_ = newest_;
}

// Writes some of the batches. After the last one the epoch is complete.
Status Archive::write_batches() {
  constexpr std::size_t kTxns = 2000;
  Sweep& s = *sweep_;
  std::size_t txns = 0;
  for (; s.batch < s.batches && txns < kTxns; ++s.batch) {
    const Window::Batch& batch = window_.batches()[s.batch];
    const std::size_t count = batch.history->txn_count();
    if (s.batch == 0) s.epoch.first_txn = batch.first;
    s.epoch.end_txn = batch.first + count;
    if (count == 0) continue;
    txns += count;
    group_.clear();
    encode(*batch.history, group_);
    if (Status status = s.writer->add(batch_key(batch.first), group_.view()); !status.ok()) {
      return status;
    }
  }
  if (s.batch < s.batches) return {};
  if (s.keys.empty() && s.batches == 0) {
    s.writer = nullptr;
    store_->drop(s.epoch.number);
  }
  if (s.writer != nullptr) {
    auto bytes = s.writer->finish();
    if (!bytes.ok()) return bytes.error();
    s.epoch.bytes = *bytes;
    disk_bytes_ += *bytes;
    newest_ = std::max(newest_, s.epoch.newest);
    epochs_.push_back(s.epoch);
    keys_.set_last_epoch(s.epoch.number);
    for (; s.batches > 0; --s.batches) window_.drop_first_batch();
  }
  s.writer = nullptr;
  s.phase = Phase::Forget;
  return {};
}

Arrival Archive::drop_before(StreamTime until) {
  Arrival first = 0;
  while (!epochs_.empty() && epochs_.front().written < until) {
    const Epoch& old = epochs_.front();
    newest_dropped_ = std::max(newest_dropped_, old.newest);
    first = std::max(first, old.end_txn);
    disk_bytes_ -= old.bytes;
    first_kept_ = old.number + 1;
    dropped_.add(old.number);
    absl::erase_if(back_, [&](const auto& chunk) { return chunk.first == old.number; });
    epochs_.pop_front();
  }
  // What is dropped is dropped at once, whoever happens to be in memory.
  std::erase_if(recent_, [&](const auto& batch) { return batch.first < first; });
  dropped_.tidy([this](std::uint32_t epoch) { store_->drop(epoch); });
  return first;
}

// ---- and back ----

// The epochs that may have something of the key that is not in memory.
std::vector<const Archive::Epoch*> Archive::epochs_with(const KeyState& key) const {
  std::vector<const Epoch*> some;
  for (const Epoch& epoch : epochs_) {
    if (epoch.number < key.first_epoch || epoch.number > key.last_epoch) continue;
    if (!back_.contains({epoch.number, key.name})) some.push_back(&epoch);
  }
  return some;
}

template <class V>
void Archive::take_in(KeyState& key, Decoder& in) {
  for (const V& version : in.array<V>()) {
    auto& versions = key.versions<V>();
    versions.insert(versions.lower_bound(version.at()), version, pool_);
  }
  for (const Read& read : in.array<Read>()) {
    key.reads.insert(key.reads.lower_bound(read.at()), read, pool_);
  }
}

Archive::Base Archive::decode_base(KeyKind kind, Decoder& in) const {
  Base base{in.number<Base::Kind>(), 0, {}};
  if (base.kind != Base::Kind::Stub) return base;
  if (kind == KeyKind::List) {
    base.stub = in.number<ListVersion>();
  } else {
    base.value = in.number<std::uint64_t>();
  }
  return base;
}

void Archive::set_base(KeyState& key, const Base& base) {
  const bool stub = base.kind == Base::Kind::Stub;
  key.unsure = base.kind == Base::Kind::Unknown;
  if (key.kind == KeyKind::List) {
    remove_stub<ListVersion>(key);
    if (stub) key.lists.insert(key.lists.begin(), base.stub, pool_);
    return;
  }
  key.has_stub = stub;
  key.stub = base.value;
}

bool Archive::load(KeyState& key, const Epoch& epoch) {
  auto bytes = store_->find(epoch.number, group_key(key.name.hash() >> kGroupShift));
  if (!bytes.ok()) {
    error_ = bytes.error();
    return false;
  }
  back_.insert({epoch.number, key.name});
  key.touched = true;
  const bool based = epoch.number >= first_based_;
  Decoder in(*bytes ? std::string_view(**bytes) : std::string_view());
  while (!in.at_end() && in.ok()) {
    const bool found = in.number<Name>() == key.name;
    const auto kind = in.number<KeyKind>();
    const Base base = based ? decode_base(kind, in) : Base();
    if (found) {
      ++recalled_;
      set_base(key, base);
      kind == KeyKind::List ? take_in<ListVersion>(key, in) : take_in<Version>(key, in);
      return in.ok();
    }
    in.skip(kind == KeyKind::List ? sizeof(ListVersion) : sizeof(Version));
    in.skip(sizeof(Read));
  }
  return in.ok();
}

template <class V>
void Archive::remove_stub(KeyState& key) {
  auto& versions = key.versions<V>();
  if (std::is_same_v<V, ListVersion> && has_stub<V>(key)) {
    versions.erase_before(versions.next(versions.begin()), pool_);
  }
  key.has_stub = false;
}

bool Archive::prepare_late(KeyState& key, const Moment& begin) {
  key.touched = true;
  return key.last_epoch == 0 || recall(key, begin);
}

bool Archive::recall(KeyState& key, const Moment& begin) {
  const std::vector<const Epoch*> left = epochs_with(key);
  const bool gone =
      key.first_epoch < first_kept_ && newest_dropped_.timestamp() >= begin.timestamp();
  const auto first =
      gone ? left.begin() : std::find_if(left.begin(), left.end(), [&](const Epoch* epoch) {
        return epoch->newest.timestamp() >= begin.timestamp();
      });
  for (auto at = left.end(); at != first;) {
    if (load(key, **--at)) continue;
    key.unsure = true;
    return false;
  }
  // Even if the version before `begin` is known, reads after it may have been dropped: a version
  // that came too late for them is before them, and may be there still.
  return !gone;
}

bool Archive::can_place(KeyState& key, const Moment& moment) const {
  if (!has_stub(key) && !key.unsure) return true;
  const Version* const version = Timelines::expected(key, moment);
  if (version != nullptr && !version->is_stub()) return true;
  return newest_dropped_.timestamp() < moment.timestamp();
}

void Archive::detail(KeyState& key, const Moment& begin) {
  if (key.last_epoch == 0) return;
  const std::vector<const Epoch*> left = epochs_with(key);
  for (auto at = left.rbegin(); at != left.rend(); ++at) {
    const Version* const version = Timelines::expected(key, begin);
    const bool known = version != nullptr && !version->is_stub();
    if (key.kind != KeyKind::List && (known || !key.has_stub)) return;
    if (!load(key, **at)) return;
  }
}

std::optional<Source> Archive::find(Arrival arrival) {
  for (const auto& [first, history] : recent_) {
    if (arrival >= first && arrival - first < history->txn_count()) {
      return Source{history, TxnId{arrival - first}};
    }
  }
  for (const Epoch& epoch : epochs_) {
    if (arrival < epoch.first_txn || arrival >= epoch.end_txn) continue;
    auto entry = store_->find_before(epoch.number, batch_key(arrival));
    if (!entry.ok()) error_ = entry.error();
    if (!entry.ok() || !*entry || (*entry)->key[0] != 't') return std::nullopt;
    const Arrival first = arrival_of((*entry)->key);
    Decoder in((*entry)->value);
    auto history = decode_history(in);
    if (arrival - first >= history->txn_count()) return std::nullopt;
    recent_.emplace_front(first, history);
    if (recent_.size() > kRecentBatches) recent_.pop_back();
    return Source{std::move(history), TxnId{arrival - first}};
  }
  return std::nullopt;
}

}  // namespace ouro::stream
