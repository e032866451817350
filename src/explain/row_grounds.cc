#include "explain/row_grounds.h"

#include <algorithm>
#include <utility>

#include "base/budget.h"
#include "base/slice.h"
#include "check/predicates/possible_result.h"
#include "check/versions/predicate_reads.h"
#include "history/access.h"
#include "history/commuting.h"
#include "history/value_order.h"

namespace ouro {
namespace {

constexpr std::uint64_t kStepsPerMatch = 20;

}  // namespace

void RowGrounds::prepare() {
  if (prepared_) return;
  prepared_ = true;
  if (evidence_ == Evidence::Observed) {
    note_writes();
  } else {
    prepare_versions();
  }
}

void RowGrounds::prepare_versions() {
  const Budget budget;  // Counts.
  auto observed = Observed::observe(h_, budget, 1, evidence_);
  if (!observed.ok() || RowVersions::missing_order(*observed).valid()) return;
  const auto reads = PredicateReads::read(*observed, SnapshotAt::Start, budget, 1);
  if (!reads.ok()) return;
  if (reads->has_snapshots()) {
    const auto later = PredicateReads::read(*observed, SnapshotAt::Commit, budget, 1);
    const bool at_commit = later.ok() && later->snapshots_fit();
    if (at_commit && !reads->snapshots_fit()) moments_.clear();
    if (at_commit) moments_.push_back(SnapshotAt::Commit);
  }
  observed_ = *std::move(observed);
  rows_.emplace(*observed_);
  steps_ = budget.spent();
}

std::uint64_t RowGrounds::take_steps() {
  constexpr std::uint64_t kStepsPerRow = 3;
  const std::uint64_t all = steps_ + (written_ ? kStepsPerRow * written_->looked_at() : 0);
  return all - std::exchange(taken_, all);
}

std::uint64_t RowGrounds::steps_for_all() {
  prepare();
  constexpr std::uint64_t kStepsPerRow = 10;  // By observation.
  std::uint64_t steps = 0;
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const OpId id{i};
    if (!judged(id) && !is_open(id)) continue;
    const PredicateRead& read = h_.predicate_read(id);
    if (evidence_ == Evidence::Observed) {
      steps += kStepsPerRow * written_->scope(read.predicate);
    } else {
      rows_->prepare(read.predicate);
      steps += kStepsPerMatch * rows_->scope(read.predicate).cost;
    }
  }
  return steps;
}

const std::vector<RowGrounds::Row>* RowGrounds::of(OpId read) {
  if (!has_condition(h_.op(read).kind) || evidence_ == Evidence::Observed) return nullptr;
  prepare();
  if (!judged(read)) return nullptr;
  const auto [at, added] = known_.try_emplace(read);
  if (added) at->second = ground(read);
  return &at->second;
}

bool RowGrounds::is_open(OpId read) const {
  if (!has_condition(h_.op(read).kind) || !has_untold_keys(h_, read)) return false;
  const bool placed =
      h_.start_ts(h_.txn_of(read)).has_value() || h_.predicate_read(read).has_version_set;
  return evidence_ == Evidence::Observed || (rows_ && !placed);
}

const std::vector<RowGrounds::Matter>* RowGrounds::open(OpId read) {
  if (!has_condition(h_.op(read).kind)) return nullptr;
  prepare();
  if (!is_open(read)) return nullptr;
  const PredicateRead& details = h_.predicate_read(read);
  const auto [at, added] = open_.try_emplace(read);
  if (!added) return &at->second;
  if (evidence_ == Evidence::Observed) {
    at->second = rows_written(details);
    return &at->second;
  }
  rows_->prepare(details.predicate);
  std::vector<RowVersions::KeyPosition> matches;
  rows_->select(details.predicate, matches);
  steps_ += kStepsPerMatch * matches.size();
  for (const RowVersions::KeyPosition& place : matches) {
    if (!rows_->part(details, place).counts) continue;
    if (at->second.empty() || at->second.back().key != place.key) {
      at->second.push_back({place.key, place.position == 0});
    }
  }
  return &at->second;
}

// All rows in any version, also in one that its own transaction overwrote: in a part of the history
// it may be the last.
void RowGrounds::note_writes() {
  const std::vector<bool> lists = list_keys(h_);
  std::vector<WrittenRows::Row> rows;
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    const Value initial = h_.initial(KeyId{k});
    if (!lists[k] && !initial.is_null()) rows.push_back({{KeyId{k}, initial}, true});
  }
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const Op op = h_.op(OpId{i});
    const bool row = writes_register(op.kind) && leaves_row(op) && !lists[op.key.index()];
    if (!row || h_.status(h_.txn_of(op.id)) == TxnStatus::Aborted) continue;
    rows.push_back({{op.key, op.value}, false});
  }
  written_.emplace(h_, std::move(rows));
}

std::vector<RowGrounds::Matter> RowGrounds::rows_written(const PredicateRead& read) {
  std::vector<Matter> out;
  written_->for_each_that_counts(read, [&](const WrittenRows::Row& row) {
    out.push_back({row.version.key, row.initially});
  });
  // Of each key the entry that says most comes first.
  std::sort(out.begin(), out.end(), [](const Matter& a, const Matter& b) {
    return std::pair(a.key, !a.initially) < std::pair(b.key, !b.initially);
  });
  const auto same = [](const Matter& a, const Matter& b) { return a.key == b.key; };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

bool RowGrounds::judged(OpId read) const {
  const OpKind kind = h_.op(read).kind;
  if (!rows_ || !has_condition(kind) || evidence_ == Evidence::Observed) return false;
  const TxnId txn = h_.txn_of(read);
  if (!observed_->counted(txn)) return false;
  return h_.start_ts(txn).has_value() || h_.predicate_read(read).has_version_set;
}

std::vector<RowGrounds::Row> RowGrounds::ground(OpId read) {
  const PredicateId predicate = h_.predicate_read(read).predicate;
  rows_->prepare(predicate);
  std::vector<RowVersions::KeyPosition> matches;
  rows_->select(predicate, matches);
  steps_ += kStepsPerMatch * matches.size();
  absl::flat_hash_map<KeyId, Op> owned;  // The last own write before the read.
  for (OpId id = h_.first_op(h_.txn_of(read)); id < read; ++id.value) {
    const Op op = h_.op(id);
    if (is_write(op.kind)) owned.insert_or_assign(op.key, op);
  }
  std::vector<Row> out;
  for (const auto& [key, write] : owned) {
    if (!rows_->of(key).empty()) out.push_back(own(read, write));
  }
  for (auto first = matches.begin(); first != matches.end();) {
    const auto end = std::find_if(first, matches.end(), [&](const RowVersions::KeyPosition& p) {
      return p.key != first->key;
    });
    const std::size_t moments = h_.predicate_read(read).has_version_set ? 1 : moments_.size();
    for (std::size_t i = 0; i < moments && !owned.contains(first->key); ++i) {
      out.push_back(row(read, moments_[i], slice(matches, first, end)));
    }
    first = end;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Row& a, const Row& b) { return a.key < b.key; });
  return out;
}

// The row of a key that the transaction itself wrote before the read: as long as that write stays,
// the read says nothing about other writers of the key.
RowGrounds::Row RowGrounds::own(OpId read, const Op& write) const {
  const PredicateId predicate = h_.predicate_read(read).predicate;
  const bool alive = leaves_row(write);
  return {.key = write.key,
          .needed = {write.id, OpId{}, OpId{}},
          .seen = write.id,
          .value = write.value,
          .matches = alive && evaluate(h_, predicate, write.key, write.value) == Truth::True,
          .like = Value::unobserved(),
          .initially = Value::unobserved(),
          .initial_matches = rows_->matches(predicate, {write.key, 0}),
          .missed = false,
          .position = {}};
}

RowGrounds::Row RowGrounds::row(OpId read, SnapshotAt at,
                                std::span<const RowVersions::KeyPosition> matches) const {
  const KeyId key = matches.front().key;
  const auto versions = rows_->of(key);
  const auto match = [&](std::uint32_t position) {
    return std::binary_search(matches.begin(), matches.end(),
                              RowVersions::KeyPosition{key, position});
  };
  const std::uint32_t seen = position(read, at, key);
  Row out{.key = key,
          .needed = {},
          .seen = write(versions[seen]),
          .value = versions[seen].value,
          .matches = match(seen),
          .like = {},
          .initially = {},
          .initial_matches = match(0),
          .missed = misses(read, key),
          .position = {}};
  const PredicateRead& details = h_.predicate_read(read);
  const RowVersions::Part part = rows_->part(details, {key, seen});
  std::uint32_t first = seen;
  while (first > 0 && rows_->part(details, {key, first - 1}) == part) --first;
  const auto rows = h_.rows(details);
  const KeyVersion version{key, out.value};
  const bool returned = std::find(rows.begin(), rows.end(), version) != rows.end();
  const bool selected = out.matches && h_.op(read).kind == OpKind::Select;
  if (returned || selected) {
    // (A select that should have returned the version, but did not, is wrong because of it.)
    out.needed[0] = out.seen;
  } else {
    out.position = seen;
  }
  if (out.position && first > 0) {
    out.needed[1] = write(versions[first]);
    out.needed[2] = write(versions[first - 1]);
  }
  out.like = versions[first].value;
  out.initially = versions[0].value;
  // To list a null version is to leave out the key. Then it is taken for absent, which must mean
  // that same version.
  const std::uint32_t absent = rows_->position(key, Value::null());
  if (out.like.is_null() && absent != first) out.like = Value::unobserved();
  if (out.initially.is_null() && absent != 0) out.initially = Value::unobserved();
  // A read cannot have seen what its own transaction wrote later, so in that case the version that
  // it saw must stay.
  const OpId instead = write(versions[first]);
  if (instead.valid() && h_.txn_of(instead) == h_.txn_of(read)) out.needed[0] = out.seen;
  return out;
}

bool RowGrounds::is_even(OpId read, const Row& row, const std::function<bool(OpId)>& stays) const {
  const PredicateRead& details = h_.predicate_read(read);
  const RowVersions::Part part = rows_->part(details, {row.key, *row.position});
  if (rows_->part(details, {row.key, 0}) != part) return false;
  const auto versions = rows_->of(row.key);
  for (std::uint32_t i = 1; i <= *row.position; ++i) {
    if (stays(write(versions[i])) && rows_->part(details, {row.key, i}) != part) return false;
  }
  return true;
}

std::uint32_t RowGrounds::position(OpId read, SnapshotAt at, KeyId key) const {
  const PredicateRead& details = h_.predicate_read(read);
  const TxnId txn = h_.txn_of(read);
  const auto versions = rows_->of(key);
  if (!details.has_version_set) {
    const SnapshotMoments moments(h_, at);
    const Moment snapshot = moments.snapshot(txn);
    const auto after =
        std::partition_point(versions.begin() + 1, versions.end(), [&](const auto& version) {
          return moments.commit(observed_->txn(version.write)) < snapshot;
        });
    return static_cast<std::uint32_t>(after - versions.begin() - 1);
  }
  for (const KeyVersion& version : h_.version_set(details)) {
    if (version.key != key || version.value.is_null()) continue;
    const std::uint32_t listed = rows_->position(key, version.value);
    if (listed >= versions.size()) continue;
    const ItemId write = versions[listed].write;
    if (!write.valid() || observed_->txn(write) != txn) return listed;
  }
  const std::uint32_t absent = rows_->position(key, Value::null());
  return absent < versions.size() ? absent : 0;
}

bool RowGrounds::misses(OpId read, KeyId key) const {
  const PredicateRead& details = h_.predicate_read(read);
  if (!details.has_version_set) return false;
  const auto set = h_.version_set(details);
  return rows_->position(key, Value::null()) == RowVersions::kNone &&
         std::none_of(set.begin(), set.end(), [&](const KeyVersion& version) {
           return version.key == key && !version.value.is_null();
         });
}

OpId RowGrounds::write(const RowVersions::Version& version) const {
  return version.write.valid() ? observed_->items().op(version.write) : OpId{};
}

}  // namespace ouro
