// The part of Checker that makes events of its findings, and withdraws them.

#include <algorithm>

#include "history/access.h"
#include "stream/checker.h"

namespace ouro::stream {
namespace {

// The most elements of a list that an expected result shows, and the most versions of a key that
// are searched for the writer of a value; both from the end.
constexpr std::size_t kShownElements = 256;
constexpr std::size_t kSearchedVersions = 65'536;

// The first to arrive among the writers of `value`, other than `reader`.
template <class V>
Arrival first_writer(Sequence<V>& versions, Arrival reader, std::uint64_t value) {
  Arrival found = kNobody;
  std::size_t left = kSearchedVersions;
  for (auto c = versions.end(); c != versions.begin() && left > 0; --left) {
    c = versions.before(c);
    const V& version = versions.at(c);
    if (version.value == value && version.arrival() != reader) {
      found = std::min(found, version.arrival());
    }
  }
  return found;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? "," : "") + text;
  return out + ']';
}

}  // namespace

void Checker::report(const StreamViolation& violation, StreamTime arrived) {
  StreamEvent& event = events_.emplace_back();
  event.number = ++event_count_;
  event.arrived = arrived;
  event.reported = now_;
  tell(violation, options_.level, initials_, find_, event);
}

void Checker::withdraw(const Reported& earlier, StreamEvent::What what) {
  const auto found = reported_.find(earlier);
  if (found == reported_.end()) return;
  StreamEvent& event = events_.emplace_back();
  event.number = ++event_count_;
  event.what = what;
  event.withdraws = found->second;
  event.arrived = now_;
  event.reported = now_;
  reported_.erase(found);
  tell({.kind = earlier.kind,
        .txn = earlier.txn,
        .op = earlier.op,
        .other_op = {},
        .source = {},
        .expected = {}},
       options_.level, initials_, find_, event);
  const bool undecided = what == StreamEvent::What::Undecided;
  if (undecided) ++summary_.undecided;
  event.verdict = {.level = options_.level, .evidence = Evidence::Timestamps};
  event.verdict.outcome = undecided ? Outcome::Undecided : Outcome::Holds;
}

void Checker::report_lost(Arrival txn) {
  ++summary_.lost_stragglers;
  report_about(txn, StreamEvent::What::Undecided, AnomalyKind::SnapshotMismatch);
}

void Checker::report_fault(Arrival txn) {
  ++summary_.faults;
  report_about(txn, StreamEvent::What::Fault, AnomalyKind::MissingTimestamp);
}

void Checker::report_about(Arrival txn, StreamEvent::What what, AnomalyKind kind) {
  StreamEvent& event = events_.emplace_back();
  event.number = ++event_count_;
  event.what = what;
  event.arrived = now_;
  event.reported = now_;
  tell({.kind = kind, .txn = txn, .op = OpOf::kNone, .other_op = {}, .source = {}, .expected = {}},
       options_.level, initials_, find_, event);
  event.verdict = {.level = options_.level, .evidence = Evidence::Timestamps};
  event.verdict.outcome = Outcome::Undecided;
}

void Checker::accuse(const Accused& who, const Accusation& accusation) {
  if (archive_.is_open() || options_.faults_apart) accused_.insert_or_assign(who, accusation);
}

void Checker::tidy_accused() {
  if (accused_.size() < 2 * reported_.size() + 1'000) return;
  absl::erase_if(accused_, [&](const auto& entry) {
    const auto& [who, accusation] = entry;
    const bool predicate = who.key == Name();
    const auto kind = predicate ? AnomalyKind::ResultSetMismatch : AnomalyKind::SnapshotMismatch;
    const auto found = reported_.find({who.begin.number(), who.op, kind});
    return found == reported_.end() || found->second != accusation.number;
  });
}

void Checker::reconsider(KeyState& key, const Moment& moment, std::uint64_t value) {
  constexpr AnomalyKind kKind = AnomalyKind::SnapshotMismatch;
  for (auto at = accused_.lower_bound({key.name, moment, 0});
       at != accused_.end() && at->first.key == key.name;) {
    const Reported reported{at->first.begin.number(), at->first.op, kKind};
    Accusation& accusation = at->second;
    const auto found = reported_.find(reported);
    if (found == reported_.end() || found->second != accusation.number) {
      at = accused_.erase(at);
      continue;
    }
    if (Timelines::find_read(key, at->first.begin, at->first.op) != nullptr) {
      ++at;  // It was judged again.
      continue;
    }
    const bool unclear = key.kind == KeyKind::List || accusation.known == 0;
    // Whether the new version is what the read should have returned.
    const bool concerned = unclear || accusation.expected <= moment;
    const bool right = (accusation.value != value) == (accusation.open != 0);
    if (concerned && (unclear || right)) {
      using What = StreamEvent::What;
      --summary_.counts[static_cast<std::size_t>(kKind)];
      withdraw(reported, unclear ? What::Undecided : What::Withdrawal);
      at = accused_.erase(at);
      continue;
    }
    if (concerned) accusation.expected = moment;
    ++at;
  }
}

void Checker::report_untimely(AnomalyKind kind, Arrival txn, Arrival other, StreamTime arrived) {
  reported_[{txn, 0, kind}] = event_count_ + 1;
  report({.kind = kind, .txn = txn, .other = other, .other_op = {}, .source = {}, .expected = {}},
         arrived);
}

void Checker::report_inner(const Arriving& txn, const InnerFinding& inner) {
  ++summary_.counts[static_cast<std::size_t>(inner.kind)];
  const auto source = find(txn.arrival);
  const History& h = *source->history;
  const std::size_t first = h.first_op(source->txn).index();
  const Op read = h.op(OpId{first + inner.op});
  const Op before = h.op(OpId{first + inner.other_op});
  KeyState& key = *reader_.key(read.key);
  const auto writer_of = [&](const Op& op) {
    if (!is_read(op.kind)) return kNobody;
    return source_of(key, txn.arrival, reader_.fingerprint(op.value)).txn;
  };
  report({.kind = inner.kind,
          .txn = txn.arrival,
          .op = inner.op,
          .other_op = {txn.arrival, inner.other_op},
          .source = {},
          .witnesses = {writer_of(read), writer_of(before)},
          .expected = is_undone(before.kind) ? h.text(before.value)
                                             : expected_text(key, *source, inner.op, txn.begin)},
         now_);
}

void Checker::report_read(KeyState& key, const Moment& begin, std::uint32_t op,
                          StreamTime arrived) {
  const Arrival txn = begin.number();
  archive_.detail(key, begin);
  Read* const read = Timelines::find_read(key, begin, op);
  if (read == nullptr || excuse(key, *read)) return;
  reported_[{txn, op, AnomalyKind::SnapshotMismatch}] = event_count_ + 1;
  StreamViolation violation{.kind = AnomalyKind::SnapshotMismatch,
                            .txn = txn,
                            .op = op,
                            .other_op = {},
                            .source = {},
                            .expected = {}};
  const Version* const version = Timelines::expected(key, begin);
  const bool known = version != nullptr && !version->is_stub();
  accuse({key.name, begin, op},
         {.value = read->value,
          .expected = known ? version->at() : Moment(),
          .open = static_cast<std::uint8_t>(read->open() ? 1 : 0),
          .known = static_cast<std::uint8_t>(known || (version == nullptr && !key.has_stub)),
          .number = event_count_ + 1});
  // Of a transaction that was dropped the event names nobody.
  if (const auto source = find(txn)) {
    violation.expected = expected_text(key, *source, op, begin);
    if (known) {
      const Arrival writer = version->arrival();
      const auto written = find(writer);
      violation.other_op = {writer, written ? last_write(*written, key.name) : OpOf::kNone};
    }
    if (!read->open()) violation.source = source_of(key, txn, read->value);
  }
  report(violation, arrived);
}

// The write of `value` that the reader returned. If there are several, names the one that check()
// names: the first to arrive that has moments, else the first of the others.
OpOf Checker::source_of(KeyState& key, Arrival reader, std::uint64_t value) {
  if (key.kind == KeyKind::List) return {};
  Arrival writer = first_writer(key.registers, reader, value);
  if (const auto found = hidden_.find({key.name, value}); found != hidden_.end()) {
    const auto& [first, second] = found->second;
    const Hidden& hidden = first.txn != reader ? first : second;
    if (hidden.txn != kNobody &&
        (writer == kNobody || (hidden.has_moments && hidden.txn < writer))) {
      writer = hidden.txn;
    }
  }
  if (writer == kNobody) return {};
  const auto source = find(writer);
  return {writer, source ? write_of(*source, key.name, value) : OpOf::kNone};
}

// Who wrote the newest version at that moment, if that is known. Nobody for lists.
Arrival Checker::last_writer(KeyState& key, const Moment& at) {
  const Version* const version = key.kind == KeyKind::List ? nullptr : Timelines::expected(key, at);
  return version == nullptr || version->is_stub() ? kNobody : version->arrival();
}

void Checker::report_clash(AnomalyKind kind, KeyState& key, const Clash& clash) {
  const auto first = find(clash.first);
  const auto second = find(clash.second);
  StreamViolation violation{.kind = kind, .other_op = {}, .source = {}, .expected = {}};
  if (kind == AnomalyKind::WriteConflict) {
    violation.txn = clash.first;
    violation.op = first ? first_write(*first, key.name) : OpOf::kNone;
    violation.other_op = {clash.second, second ? first_write(*second, key.name) : OpOf::kNone};
    // If both read the version that both overwrote, that is a lost update of what this one wrote.
    if (first) violation.witnesses = {last_writer(key, begin_of(*first, clash.first))};
  } else {
    violation.txn = clash.second;
    violation.op = second ? first_write(*second, key.name) : OpOf::kNone;
    violation.other_op = {clash.first, first ? last_write(*first, key.name) : OpOf::kNone};
    reported_[{violation.txn, violation.op, kind}] = event_count_ + 1;
  }
  report(violation, now_);
}

// What the operation should have returned, as JSON; the same text as check/timeline gives.
std::string Checker::expected_text(KeyState& key, const Source& txn, std::uint32_t op,
                                   const Moment& begin) {
  const History& h = *txn.history;
  const OpId first = h.first_op(txn.txn);
  const KeyId id = h.op(OpId{first.index() + op}).key;
  const bool list = key.kind == KeyKind::List;
  OpId last;  // The last operation on the key before `op`; of a list only reads count.
  for (OpId i = first; i.value < first.value + op; ++i.value) {
    const Op before = h.op(i);
    if (before.key != id || before.value.is_unobserved()) continue;
    if (!is_read(before.kind) && !is_write(before.kind)) continue;
    if (!list || is_read(before.kind)) last = i;
  }
  if (!list) return last.valid() ? h.text(h.op(last).value) : version_text(key, begin);
  std::vector<std::string> texts;
  if (last.valid()) {
    for (const Value element : elements(h, h.op(last).value)) texts.push_back(h.text(element));
  } else {
    texts = list_texts(key, begin);
  }
  for (OpId i = last.valid() ? last : first; i.value < first.value + op; ++i.value) {
    const Op own = h.op(i);
    if (own.key == id && is_write(own.kind) && is_append(own.kind))
      texts.push_back(h.text(own.value));
  }
  return joined(texts);
}

std::string Checker::version_text(KeyState& key, const Moment& begin) {
  const Version* const version = Timelines::expected(key, begin);
  if (version == nullptr && !key.has_stub) return initials_.text(key.name);
  const Value value = Value::from_bits(version == nullptr ? key.stub : version->value);
  const bool whole = value.kind() == ValueKind::Integer || value.kind() == ValueKind::Boolean;
  if (value.is_null() || whole) return History().text(value);
  const auto writer = version == nullptr ? std::nullopt : find(version->arrival());
  if (!writer) return "…";
  const std::uint32_t op = last_write(*writer, key.name);
  const History& h = *writer->history;
  return h.text(h.op(OpId{h.first_op(writer->txn).index() + op}).value);
}

// The elements that others had appended before `begin`. Of a long list only the end, after "…".
std::vector<std::string> Checker::list_texts(KeyState& key, const Moment& begin) {
  std::vector<std::string> backwards;
  auto& versions = key.lists;
  auto c = versions.lower_bound(begin);
  while (c != versions.begin() && backwards.size() < kShownElements) {
    c = versions.before(c);
    const auto writer = versions.at(c).is_stub() ? std::nullopt : find(versions.at(c).arrival());
    if (!writer) {
      backwards.emplace_back("…");
      break;
    }
    const History& h = *writer->history;
    for (OpId i = h.end_op(writer->txn); i > h.first_op(writer->txn);) {
      const Op op = h.op(OpId{--i.value});
      if (is_write(op.kind) && is_append(op.kind) && name_of(h, h.key_name(op.key)) == key.name) {
        backwards.push_back(h.text(op.value));
      }
    }
  }
  if (c != versions.begin() && backwards.back() != "…") backwards.emplace_back("…");
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

std::optional<Source> Checker::find(Arrival arrival) {
  auto found = window_.find(arrival);
  return found || !archive_.is_open() ? found : archive_.find(arrival);
}

Moment Checker::begin_of(const Source& txn, Arrival arrival) const {
  return moments_of(*txn.history, txn.txn, arrival, rules_).begin;
}

}  // namespace ouro::stream
