#include "stream/checker.h"

#include <algorithm>
#include <limits>

#include "history/access.h"
#include "history/input_error.h"
#include "history/real_time.h"

namespace ouro::stream {
namespace {

// How many keys a sweep goes on with for every transaction, or for every operation, that arrives;
// the larger of the two counts.
constexpr std::size_t kSweptPerTxn = 30;
constexpr std::size_t kSweptPerOp = 16;
// With more violations that were not withdrawn, those of transactions that were dropped are
// forgotten, and are not withdrawn any more.
constexpr std::size_t kMostReported = 1'000'000;
// How many cold keys are merged for every operation: each key that leaves is written four to six
// times.
constexpr std::size_t kMergedPerOp = 8;

std::uint64_t& count_of(StreamSummary& summary, AnomalyKind kind) {
  return summary.counts[static_cast<std::size_t>(kind)];
}

// Whether the transaction wrote anything.
bool writes_any(const History& history, TxnId txn) {
  for (OpId op = history.first_op(txn); op < history.end_op(txn); ++op.value) {
    if (is_write(history.op(op).kind)) return true;
  }
  return false;
}

}  // namespace

Checker::Checker(const StreamOptions& options)
    : options_(options),
      rules_(rules(options.level)),
      reader_(keys_, cold_, initials_, rules_),
      timelines_(pool_, initials_),
      real_time_(options.clock_drift),
      commit_times_(options.clock_drift),
      predicates_(pool_, cold_, initials_, rules_,
                  [this](Arrival arrival) { return find(arrival); }),
      find_([this](Arrival arrival) { return find(arrival); }) {
  if (options.memory > 0) {
    keys_.be_thrifty();
    pool_.set_step(sizeof(KeyState));
  } else {
    pool_.work_ahead();
  }
}

Status Checker::append(std::shared_ptr<const History> batch, StreamTime now) {
  if (Status status = admit_predicates(*batch); !status.ok()) return status;
  if (Status status = check_numbers(*batch); !status.ok()) return status;
  if (Status status = reader_.enter(*batch); !status.ok()) return status;
  now_ = std::max(now_, now);
  const History& h = *batch;
  enter_initials(batch);
  if (h.txn_count() > 0) window_.add_batch(batch);
  batch_sessions_.clear();
  const auto named = [&](std::size_t s) { return !h.session_name(SessionId{s}).is_null(); };
  const auto numbered = [&](std::size_t s) {
    const auto txns = h.session_txns(SessionId{s});
    return !txns.empty() && h.sno(txns[0]).has_value();
  };
  for (std::size_t s = 0; s < h.session_count() && rules_.sessions; ++s) {
    if (named(s) && !numbered(s)) {
      sessions_.try_emplace(name_of(h, h.session_name(SessionId{s})));
    }
  }
  for (std::size_t s = 0; s < h.session_count() && rules_.sessions; ++s) {
    const SessionId session{s};
    const bool plain = named(s) && !numbered(s);
    batch_sessions_.push_back(plain ? &sessions_[name_of(h, h.session_name(session))] : nullptr);
  }
  constexpr std::size_t kAhead = 4;
  const std::size_t count = h.txn_count();
  for (std::size_t t = 0; t < count; ++t) {
    if (t + 2 * kAhead < count) reader_.prefetch_keys(TxnId{t + 2 * kAhead});
    if (t + kAhead < count) reader_.prefetch_tails(TxnId{t + kAhead});
    arrive(reader_.take(TxnId{t}, window_.next()));
  }
  predicates_.tidy();
  limit_memory(count, h.op_count());
  if (auto error = archive_.take_error()) return *error;
  if (auto error = cold_.take_error()) return *error;
  if (auto error = predicates_.archive().take_error()) return *error;
  return {};
}

void Checker::enter_initials(const std::shared_ptr<const History>& batch) {
  const std::vector<KeyId> changed = initials_.enter(*batch, reader_.fingerprints());
  enter_predicates(batch, changed);
  // A list is empty at the start, whatever the batch says, so its reads need not be judged again,
  // unless only this batch shows that the key is a list.
  std::vector<KeyId> again;
  for (const KeyId id : changed) {
    if (reader_.key(id)->kind != KeyKind::List) again.push_back(id);
  }
  const bool any = !initials_.all().value.is_null() || !initials_.own().empty();
  if (any) again.insert(again.end(), reader_.new_lists().begin(), reader_.new_lists().end());
  for (const KeyId id : again) {
    KeyState& key = *reader_.key(id);
    const bool all = archive_.prepare(key, Moment());
    timelines_.judge_first_reads(key);
    for (const Change& change : timelines_.changes()) apply(change, key);
    if (all) continue;
    lost_ = true;
    reconsider(key, Moment(), initials_.of(key.name).print);
  }
  if (lost_) ++summary_.lost_stragglers;
  straggles_ = lost_ = false;
}

void Checker::arrive(const Arriving& txn) {
  OpenTxn& open = window_.open(now_);
  if (!txn.hidden.empty()) hide(txn);
  const History& h = *window_.batches().back().history;
  if (!txn.known() && rules_.sessions && h.has_session(txn.txn) && h.sno(txn.txn)) {
    numbered_.pass(name_of(h, h.session_name(h.session(txn.txn))), *h.sno(txn.txn), txn.arrival);
  }
  if (!txn.takes_part) {
    ++summary_.left_out;
    return;
  }
  ++summary_.txns;
  summary_.operations += h.end_op(txn.txn).value - h.first_op(txn.txn).value;
  if (txn.missing && options_.faults_apart) {
    excuse(txn);
    return report_fault(txn.arrival);
  }
  if (txn.missing || txn.inverted) {
    const AnomalyKind kind =
        txn.missing ? AnomalyKind::MissingTimestamp : AnomalyKind::InvertedTimestamps;
    ++count_of(summary_, kind);
    report({.kind = kind, .txn = txn.arrival, .other_op = {}, .source = {}, .expected = {}}, now_);
  }
  if (txn.missing) return;
  if (rules_.sessions) check_session(txn);
  if (rules_.clocks()) check_real_time(txn);
  check_reads(txn, open);
  for (const KeyWrite& write : txn.written) install(txn, write);
  if (predicates_.on()) check_predicates(txn, open);
  if (straggles_ || lost_) ++summary_.stragglers;
  if (lost_) report_lost(txn.arrival);
  straggles_ = lost_ = false;
}

void Checker::check_session(const Arriving& txn) {
  const History& h = *window_.batches().back().history;
  if (!h.has_session(txn.txn)) return;
  if (const auto sno = h.sno(txn.txn)) return check_number(txn, *sno);
  Session& session = *batch_sessions_[h.session(txn.txn).index()];
  if (session.txn != kNobody && txn.begin < session.commit) {
    ++count_of(summary_, AnomalyKind::SessionInversion);
    report({.kind = AnomalyKind::SessionInversion,
            .txn = txn.arrival,
            .other = session.txn,
            .other_op = {},
            .source = {},
            .expected = {}},
           now_);
  }
  if (session.txn == kNobody || session.commit < txn.commit) session = {txn.commit, txn.arrival};
}

Status Checker::check_numbers(const History& batch) const {
  if (!rules_.sessions) return {};
  for (std::size_t s = 0; s < batch.session_count(); ++s) {
    const auto txns = batch.session_txns(SessionId{s});
    if (txns.empty() || !batch.has_session(txns[0])) continue;
    const Name name = name_of(batch, batch.session_name(SessionId{s}));
    const bool counts = batch.sno(txns[0]).has_value();
    if (counts ? sessions_.contains(name) : numbered_.has(name)) {
      return error_at(batch.place(txns[0]),
                      "some transactions of this session have a \"sno\", others have none; give it "
                      "to all of them or to none");
    }
    for (const TxnId txn : txns) {
      if (!counts || !numbered_.has(name, *batch.sno(txn))) continue;
      return error_at(batch.place(txn),
                      "another transaction of this session had this \"sno\" already; count them");
    }
  }
  return {};
}

// What a transaction should have followed may arrive later, so that the finding is provisional,
// although it is not withdrawn any more: another transaction may be what it missed first.
void Checker::check_number(const Arriving& txn, std::int64_t sno) {
  constexpr AnomalyKind kKind = AnomalyKind::SessionInversion;
  const History& h = *window_.batches().back().history;
  const Name session = name_of(h, h.session_name(h.session(txn.txn)));
  bool known = true;
  numbered_.add(session, sno, txn, txn.arrival, known);
  if (!known) lost_ = true;
  for (const RealTime::Change& change : numbered_.changes()) apply(change, kKind);
  const Arrival missed = numbered_.missed_by(session, sno, txn.arrival);
  if (missed != kNobody) apply(RealTime::Change{txn.arrival, kNobody, missed}, kKind);
}

Arrival Checker::missed_in_session(const Source& source, Arrival txn) const {
  const History& h = *source.history;
  return numbered_.missed_by(name_of(h, h.session_name(h.session(source.txn))),
                             h.sno(source.txn).value_or(kNoSno), txn);
}

// The rule of the level is about commits that were answered, and what must follow them. At the
// levels of snapshots begins count, too: they come before commits that were asked for later, by
// transactions that wrote something. The others have no commit of their own on the timeline.
void Checker::check_real_time(const Arriving& txn) {
  const History& h = *window_.batches().back().history;
  const auto completed = h.completed(txn.txn);
  if (completed) answer(real_time_, *completed, txn.commit, txn.arrival);
  ask(real_time_, asked_by(h, txn.txn), rules_.time_to_commit() ? txn.commit : txn.begin,
      txn.arrival);
  if (!rules_.begins_apart()) return;
  if (completed) answer(commit_times_, *completed, txn.commit, txn.arrival);
  if (const auto began = h.began(txn.txn)) answer(commit_times_, *began, txn.begin, txn.arrival);
  if (writes_any(h, txn.txn)) ask(commit_times_, commit_asked(h, txn.txn), txn.commit, txn.arrival);
}

// The clock by which the rule of the level judges a transaction.
std::optional<std::int64_t> Checker::asked_by(const History& h, TxnId txn) const {
  const bool asks = rules_.time_to_commit() && h.committing(txn) && writes_any(h, txn);
  return asks ? h.committing(txn) : h.invoked(txn);
}

void Checker::answer(RealTime& times, std::int64_t clock, const Moment& moment, Arrival txn) {
  if (!times.complete(clock, moment, txn)) lost_ = true;
  for (const RealTime::Change& change : times.changes()) {
    // What a transaction missed by the rule of the level comes first; see missed_in_time().
    const auto source = &times == &commit_times_ ? find(change.txn) : std::nullopt;
    const bool first = !source || !misses_main_rule(*source, change.txn);
    if (first) apply(change, AnomalyKind::RealTimeInversion);
  }
}

void Checker::ask(RealTime& times, std::optional<std::int64_t> clock, const Moment& moment,
                  Arrival txn) {
  if (!clock) return;
  bool known = true;
  const Arrival missed = times.invoke(*clock, moment, txn, known);
  if (!known) lost_ = true;
  if (missed == kNobody) return;
  apply(RealTime::Change{txn, kNobody, missed}, AnomalyKind::RealTimeInversion);
}

bool Checker::misses_main_rule(const Source& source, Arrival txn) const {
  const auto clock = asked_by(*source.history, source.txn);
  return clock && real_time_.missed_by(*clock, txn) != kNobody;
}

// A transaction is untimely once, whatever rules it breaks.
void Checker::apply(const RealTime::Change& change, AnomalyKind kind) {
  if (window_.is_open(change.txn)) {
    OpenTxn& open = window_.at(change.txn);
    open.changed = now_;
    const bool session = kind == AnomalyKind::SessionInversion;
    if ((session ? open.disordered : open.untimely) == 0) {
      ++count_of(summary_, kind);
      count_provisional(kind, 1);
    }
    if (session) open.disordered = 1;
    if (!session) open.untimely = 1;
    return;
  }
  const Reported earlier{change.txn, 0, kind};
  const bool anew = change.was == kNobody && !reported_.contains(earlier);
  if (anew) ++count_of(summary_, kind);
  straggles_ = true;
  if (!anew) withdraw(earlier);
  report_untimely(kind, change.txn, change.other, now_);
}

// A transaction that the one that is about to become final should have followed.
Arrival Checker::missed_in_time(const Source& source, Arrival txn) const {
  const auto clock = asked_by(*source.history, source.txn);
  const Arrival missed = clock ? real_time_.missed_by(*clock, txn) : kNobody;
  const auto asked = commit_asked(*source.history, source.txn);
  return missed == kNobody && asked ? commit_times_.missed_by(*asked, txn) : missed;
}

void Checker::check_reads(const Arriving& txn, OpenTxn& open) {
  for (const OuterRead& read : txn.reads) {
    if (!archive_.prepare(*read.key, txn.begin) && !archive_.can_place(*read.key, txn.begin)) {
      lost_ = true;
      continue;
    }
    if (!timelines_.add(read, txn.begin)) continue;
    ++open.wrong;
    count_provisional(AnomalyKind::SnapshotMismatch, 1);
    ++count_of(summary_, AnomalyKind::SnapshotMismatch);
  }
  for (const InnerFinding& inner : txn.inner) report_inner(txn, inner);
}

void Checker::install(const Arriving& txn, const KeyWrite& write) {
  KeyState& key = *write.key;
  const bool all = archive_.prepare(key, txn.begin);
  if (!all) {
    lost_ = true;
    if (!archive_.can_place(key, txn.commit)) {
      key.unsure = true;
      timelines_.judge_first_reads(key);
      for (const Change& change : timelines_.changes()) apply(change, key);
      return reconsider(key, txn.commit, write.value);
    }
  }
  timelines_.add(write, txn.begin, txn.commit, rules_.begins_apart());
  for (const Clash& clash : timelines_.overlaps()) {
    ++count_of(summary_, AnomalyKind::WriteConflict);
    report_clash(AnomalyKind::WriteConflict, key, clash);
  }
  for (const Clash& clash : timelines_.former_ties()) {
    --count_of(summary_, AnomalyKind::DuplicateTimestamp);
    if (const auto second = find(clash.second)) {
      withdraw({clash.second, first_write(*second, key.name), AnomalyKind::DuplicateTimestamp});
    }
  }
  for (const Clash& clash : timelines_.ties()) {
    ++count_of(summary_, AnomalyKind::DuplicateTimestamp);
    report_clash(AnomalyKind::DuplicateTimestamp, key, clash);
  }
  for (const Change& change : timelines_.changes()) apply(change, key);
  if (!all) reconsider(key, txn.commit, write.value);
}

void Checker::apply(const Change& change, KeyState& key) {
  if (!count(change, AnomalyKind::SnapshotMismatch)) return;
  if (change.wrong) report_read(key, change.begin, change.op, now_);
}

bool Checker::count(const Change& change, AnomalyKind kind) {
  std::uint64_t& count = count_of(summary_, kind);
  if (change.wrong) ++count;
  if (change.was_wrong) --count;
  if (!window_.is_open(change.txn)) {
    straggles_ = true;
    using What = StreamEvent::What;
    const What what = change.known ? What::Withdrawal : What::Undecided;
    if (change.was_wrong) withdraw({change.txn, change.op, kind}, what);
    return true;
  }
  if (change.wrong == change.was_wrong) return false;
  OpenTxn& open = window_.at(change.txn);
  const bool was = open.wrong > 0;
  open.wrong += change.wrong ? 1 : -1;
  count_provisional(kind, change.wrong ? 1 : -1);
  open.changed = now_;
  if (was == (open.wrong > 0)) return false;
  count_flip(open);
  return false;
}

void Checker::count_flip(OpenTxn& open) {
  constexpr std::size_t kMost = std::tuple_size_v<decltype(summary_.flipped)>;
  ++summary_.flips;
  if (open.flips == 0) ++summary_.flipped_txns;
  if (open.flips > 0) --summary_.flipped[std::min<std::size_t>(open.flips, kMost) - 1];
  ++open.flips;
  ++summary_.flipped[std::min<std::size_t>(open.flips, kMost) - 1];
  std::size_t bucket = 0;
  for (StreamTime limit = std::chrono::milliseconds(1);
       bucket + 1 < summary_.flip_waits.size() && now_ - open.flipped >= limit; limit *= 10) {
    ++bucket;
  }
  ++summary_.flip_waits[bucket];
  open.flipped = now_;
}

void Checker::hide(const Arriving& txn) {
  for (const HiddenWrite& write : txn.hidden) {
    auto& [first, second] = hidden_[{write.key->name, write.value}];
    if (first.txn == txn.arrival || second.txn == txn.arrival) continue;
    const auto better_than = [&](const Hidden& known) {
      return known.txn == kNobody || (!known.has_moments && txn.known());
    };
    const Hidden hidden{txn.arrival, txn.known(), txn.takes_part && txn.missing};
    if (better_than(first)) {
      second = std::exchange(first, hidden);
    } else if (better_than(second)) {
      second = hidden;
    }
  }
}

void Checker::excuse(const Arriving& txn) {
  for (const HiddenWrite& write : txn.hidden) {
    KeyState& key = *write.key;
    static_cast<void>(archive_.prepare(key, Moment()));
    if (key.kind == KeyKind::List) {
      key.unsure = true;
      timelines_.judge_first_reads(key);
      for (const Change& change : timelines_.changes()) apply(change, key);
    }
    for (auto at = accused_.lower_bound({key.name, Moment(), 0});
         at != accused_.end() && at->first.key == key.name; ++at) {
      if (key.kind != KeyKind::List && at->second.value != write.value) continue;
      const Reported reported{at->first.begin.number(), at->first.op,
                              AnomalyKind::SnapshotMismatch};
      const auto found = reported_.find(reported);
      if (found == reported_.end() || found->second != at->second.number) continue;
      Read* const read = Timelines::find_read(key, at->first.begin, at->first.op);
      if (read != nullptr) read->set_wrong(false);
      --count_of(summary_, AnomalyKind::SnapshotMismatch);
      withdraw(reported, StreamEvent::What::Undecided);
    }
  }
  if (!txn.hidden.empty()) excuse_predicates();
}

bool Checker::excuses(const KeyState& key, std::uint64_t value) const {
  if (!options_.faults_apart) return false;
  const auto found = hidden_.find({key.name, value});
  return found != hidden_.end() && std::any_of(found->second.begin(), found->second.end(),
                                               [](const Hidden& hidden) { return hidden.untimed; });
}

bool Checker::excuse(KeyState& key, Read& read) {
  if (read.open() || !excuses(key, read.value)) return false;
  read.set_wrong(false);
  --count_of(summary_, AnomalyKind::SnapshotMismatch);
  ++summary_.undecided;
  return true;
}

void Checker::advance(StreamTime now) {
  now_ = std::max(now_, now);
  while (window_.size() > 0 && window_.at(window_.first()).arrived + options_.timeout <= now_) {
    close_first(now_);
  }
  limit_memory(0, 0);
}

void Checker::finish() {
  while (window_.size() > 0) close_first(now_);
}

void Checker::close_first(StreamTime now) {
  const Arrival first = window_.first();
  const OpenTxn open = window_.at(first);
  window_.close_first();
  now_ = now;
  const auto source = open.untimely + open.disordered > 0 ? find(first) : std::nullopt;
  for (const AnomalyKind kind : {AnomalyKind::RealTimeInversion, AnomalyKind::SessionInversion}) {
    const bool in_time = kind == AnomalyKind::RealTimeInversion;
    if ((in_time ? open.untimely : open.disordered) == 0) continue;
    count_provisional(kind, -1);
    if (!source) continue;
    const Arrival missed =
        in_time ? missed_in_time(*source, first) : missed_in_session(*source, first);
    report_untimely(kind, first, missed, open.changed);
  }
  if (open.wrong > 0) {
    const std::int64_t rows = report_wrong_reads(first, open.changed);
    count_provisional(AnomalyKind::ResultSetMismatch, -rows);
    count_provisional(AnomalyKind::SnapshotMismatch, rows - std::int64_t{open.wrong});
  }
  if (open.asks == 0) return;
  if (const auto asked = find(first)) predicates_.close(begin_of(*asked, first));
}

std::int64_t Checker::report_wrong_reads(Arrival arrival, StreamTime arrived) {
  const auto source = find(arrival);
  if (!source) return 0;
  std::int64_t rows = 0;
  const History& h = *source->history;
  const Moment begin = begin_of(*source, arrival);
  const OpId first = h.first_op(source->txn);
  for (OpId id = first; id < h.end_op(source->txn); ++id.value) {
    const std::uint32_t op = id.value - first.value;
    if (is_predicate_read(h.op(id).kind) && predicates_.wrong(begin, op)) {
      ++rows;
      report_predicate(arrival, op, begin, arrived);
    }
    if (!looks_at_key(h.op(id).kind)) continue;
    const Name name = name_of(h, h.key_name(h.op(id).key));
    KeyState* const key = cold_.find_or_add(name);
    static_cast<void>(archive_.prepare(*key, begin));
    const Read* const read = Timelines::find_read(*key, begin, op);
    if (read == nullptr || !read->wrong()) continue;
    report_read(*key, begin, op, arrived);
  }
  return rows;
}

void Checker::count_provisional(AnomalyKind kind, std::int64_t change) {
  summary_.provisional += static_cast<std::uint64_t>(change);
  summary_.provisional_counts[static_cast<std::size_t>(kind)] += static_cast<std::uint64_t>(change);
}

std::vector<StreamEvent> Checker::poll() { return std::exchange(events_, {}); }

std::size_t Checker::memory() const {
  return pool_.used() + keys_.bytes() + window_.bytes() + archive_.bytes() + cold_.bytes() +
         real_time_.bytes() + commit_times_.bytes() + numbered_.bytes() + predicates_.bytes() +
         initials_.bytes() + sessions_.capacity() * (sizeof(Name) + sizeof(Session) + 1) +
         hidden_.capacity() * 64 + reported_.capacity() * 32 +
         accused_.size() * (sizeof(Accused) + sizeof(Accusation));
}

StreamSummary Checker::summary() const {
  StreamSummary now = summary_;
  now.window_txns = window_.size();
  now.keys = keys_.size();
  now.memory = memory();
  const RowArchive& rows = predicates_.archive();
  now.disk = archive_.disk_bytes() + cold_.disk_bytes() + rows.disk_bytes();
  now.spilled = archive_.spilled() + rows.spilled();
  now.recalled = archive_.recalled() + rows.recalled();
  now.keys_left = cold_.left();
  now.keys_back = cold_.came_back();
  return now;
}

Status Checker::open() {
  if (options_.memory == 0) return {};
  if (Status status = archive_.open(options_.folder); !status.ok()) return status;
  if (Status status = cold_.open(options_.folder, options_.memory); !status.ok()) return status;
  return predicates_.archive().open(options_.folder);
}

void Checker::limit_memory(std::size_t txns, std::size_t ops) {
  if (!archive_.is_open()) return;
  StreamTime until = now_ - std::max<StreamTime>(options_.retention, options_.timeout);
  // What an open transaction has on disk was written after it arrived.
  if (window_.size() > 0) until = std::min(until, window_.at(window_.first()).arrived);
  const Arrival first = archive_.drop_before(until);
  kept_ = std::max(kept_, first);
  RowArchive& rows = predicates_.archive();
  if (rows.is_open()) rows.drop_before(until);
  if (first > 0 && reported_.size() > kMostReported) {
    absl::erase_if(reported_, [&](const auto& entry) { return entry.first.txn < first; });
  }
  tidy_accused();
  if (options_.memory == 0) return;
  sweep(std::max(txns * kSweptPerTxn, ops * kSweptPerOp));
  if (Status status = cold_.merge(ops * kMergedPerOp); !status.ok()) {
    archive_.set_error(status.error());
  }
  // Memory that a merge used and gave back does not count.
  sweep_at_ = std::min(sweep_at_, memory() + grows_by());
}

void Checker::sweep(std::size_t work) {
  const std::size_t limit = memory_limit();
  Status status;
  if (!archive_.sweeping()) {
    if (memory() < std::max(limit - limit / 4, sweep_at_)) return;
    absl::erase_if(hidden_, [&](const auto& entry) {
      return std::none_of(entry.second.begin(), entry.second.end(), [&](const Hidden& hidden) {
        return hidden.txn != kNobody &&
               (window_.is_open(hidden.txn) ||
                (hidden.untimed && options_.faults_apart && summary_.faults < kMostReported));
      });
    });
    real_time_.forget_before(window_.first());
    commit_times_.forget_before(window_.first());
    numbered_.forget(window_.first(), kept_);
    const Moment until = watermark();
    if (predicates_.archive().is_open()) status = predicates_.sweep(until, now_);
    // The sweep should leave at most half of the limit in use.
    const auto excess = [this, most = limit / 2] { return memory() - std::min(memory(), most); };
    if (status.ok()) status = archive_.begin_sweep(until, excess);
    hurry_at_ = std::max(limit, memory() + limit / 4);
  }
  // When memory gets short, sweep faster than it fills.
  if (memory() > limit - limit / 16 * 3) work *= 3;
  if (status.ok() && archive_.sweeping()) {
    status = memory() < hurry_at_ ? archive_.sweep(work, now_) : archive_.finish_sweep(now_);
  }
  if (!status.ok()) archive_.set_error(status.error());
  // What the window itself takes cannot be moved, so sweeping again at once would free nothing.
  if (!archive_.sweeping()) sweep_at_ = memory() + grows_by();
}

// A moment before which nearly none of the recent transactions began. A few may begin earlier,
// which does no harm: what they need is brought back. So transactions that wait for their time-out
// do not keep what is before the watermark in memory.
Moment Checker::watermark() {
  constexpr std::size_t kSamples = 512;
  constexpr std::size_t kFew = 64;  // One in so many may begin before the watermark.
  std::vector<Moment> begins;
  const Arrival first = window_.lately();
  const std::size_t step = (window_.next() - first) / kSamples + 1;
  for (Arrival a = first; a < window_.next(); a += step) {
    const auto txn = window_.find(a);
    if (!txn) continue;
    const TxnMoments moments = moments_of(*txn->history, txn->txn, a, rules_);
    if (moments.known()) begins.push_back(moments.begin);
  }
  if (begins.empty()) return {std::numeric_limits<std::int64_t>::max(), 0, 0};
  const auto at = begins.begin() + static_cast<std::ptrdiff_t>(begins.size() / kFew);
  std::nth_element(begins.begin(), at, begins.end());
  return *at;
}

}  // namespace ouro::stream
