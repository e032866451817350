#include "stream/segment.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>

#include "ouro/certificate.h"
#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "stream/copier.h"

namespace ouro::segments {

using stream::Copier;
namespace {

KeyId same_key(const History& history, KeyId key, HistoryBuilder& builder) {
  return builder.key(KeptValue(history, history.key_name(key)).in(builder));
}

// Transactions that stand for others, before a segment and behind it. Those behind it read what
// later ones say; there are several if later ones disagree.
class Readers {
 public:
  Readers(const History& history, std::int64_t invoked, HistoryBuilder& builder)
      : h_(history), invoked_(invoked), b_(builder) {}

  void add(std::span<const Segment::KeyValue> final) {
    spread(
        final, [this] { begin("(behind the segment)", invoked_, kNoClock); },
        [this](KeyId key, Value value) { b_.read(key, value); });
  }
  // Writers of values, before the segment or behind it.
  void add_writers_before(std::span<const Segment::KeyValue> values, std::int64_t completed) {
    spread(
        values, [&] { begin("(before the segment)", kNoClock, completed); },
        [this](KeyId key, Value value) { b_.write(key, value); });
  }
  void add_writers_behind(std::span<const Segment::KeyValue> values) {
    spread(
        values, [this] { begin("(behind the segment)", invoked_, kNoClock); },
        [this](KeyId key, Value value) { b_.write(key, value); });
  }

 private:
  void begin(std::string_view session, std::int64_t invoked, std::int64_t completed) {
    b_.begin_txn(b_.session(session));
    b_.clocks(invoked, completed);
  }

  // In as many transactions as it takes to have each key once in each.
  template <class Begin, class Op>
  void spread(std::span<const Segment::KeyValue> values, const Begin& begin, const Op& add_op) {
    std::vector<Segment::KeyValue> rest(values.begin(), values.end());
    while (!rest.empty()) {
      begin();
      std::vector<Segment::KeyValue> again;
      absl::flat_hash_set<KeyId> done;
      for (Segment::KeyValue& wanted : rest) {
        const KeyId key = same_key(h_, wanted.first, b_);
        if (!done.insert(key).second) {
          again.push_back(std::move(wanted));
        } else {
          add_op(key, wanted.second.in(b_));
        }
      }
      rest = std::move(again);
    }
  }

  const History& h_;
  std::int64_t invoked_;
  HistoryBuilder& b_;
};

// What transactions read that none of them wrote, other than what keys held before.
std::vector<Segment::KeyValue> read_from_elsewhere(const History& h,
                                                   std::span<const Segment::KeyValue> initial) {
  absl::flat_hash_set<std::pair<KeyId, Value>> known;
  absl::flat_hash_map<KeyId, const KeptValue*> held;
  for (const auto& [key, value] : initial) held[key] = &value;
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const Op op = h.op(OpId{i});
    if (is_write(op.kind) || is_undone(op.kind)) known.emplace(op.key, op.value);
  }
  std::vector<Segment::KeyValue> out;
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const Op op = h.op(OpId{i});
    if (!is_read(op.kind) || op.value.is_unobserved()) continue;
    if (!known.emplace(op.key, op.value).second) continue;
    KeptValue value(h, op.value);
    const auto found = held.find(op.key);
    if (found != held.end() && *found->second == value) continue;
    out.emplace_back(op.key, std::move(value));
  }
  return out;
}

// When somebody behind the segment was invoked. The cut there was found by clocks that are later
// still, so nothing overflows.
std::int64_t invoked_behind(std::int64_t completed, std::int64_t clock_drift) {
  return completed == kNoClock ? kNoClock : completed + clock_drift + 1;
}

}  // namespace

Status Segment::put_away(const std::filesystem::path& folder) {
  const auto path = folder / fmt::format("{}.ouro", number);
  const auto written = write_history(history, path.string(), Format::NativeBinary);
  if (!written.ok()) return written.error();
  file = path;
  history = History();
  return {};
}

Result<History> Segment::load() const {
  if (file.empty()) return history;
  return read_history(file.string(), {.format = Format::NativeBinary});
}

// A session with the name of the readers' is not theirs: nobody names one like that by chance, and
// if somebody does, the order of that session is kept as well.
Result<History> Segment::whole(const History& txns, std::int64_t clock_drift) const {
  Copier copier;
  const auto source = std::make_shared<const History>(txns);
  for (std::size_t t = 0; t < txns.txn_count(); ++t) copier.add({source, TxnId{t}});
  HistoryBuilder& builder = copier.builder();
  for (const auto& [key, value] : initial) {
    builder.initial(same_key(txns, key, builder), value.in(builder));
  }
  Readers(txns, invoked_behind(completed, clock_drift), builder).add(final);
  return copier.freeze();
}

Result<History> Segment::told(const History& txns, std::int64_t clock_drift) const {
  Copier copier;
  HistoryBuilder& builder = copier.builder();
  Readers others(txns, invoked_behind(completed, clock_drift), builder);
  const std::vector<KeyValue> elsewhere = read_from_elsewhere(txns, initial);
  if (first > 0) {
    others.add_writers_before(elsewhere, before);
    others.add_writers_before(initial, before);
  } else {
    for (const auto& [key, value] : initial) {
      builder.initial(same_key(txns, key, builder), value.in(builder));
    }
  }
  const auto source = std::make_shared<const History>(txns);
  for (std::size_t t = 0; t < txns.txn_count(); ++t) copier.add({source, TxnId{t}});
  others.add(final);
  // In a history of one segment, nobody wrote these values.
  if (first == 0 && completed != kNoClock) others.add_writers_behind(elsewhere);
  return copier.freeze();
}

SegmentNeeds Segment::needs(const History& txns) const {
  SegmentNeeds out{.end = end, .places = places, .read = {}, .asked = {}, .keys = {}};
  for (std::size_t i = 0; i < txns.op_count(); ++i) {
    const Op op = txns.op(OpId{i});
    if (!is_read(op.kind) || op.value.is_unobserved()) continue;
    out.read.emplace_back(KeptValue(txns, txns.key_name(op.key)), KeptValue(txns, op.value));
  }
  for (const auto& [key, value] : initial) {
    out.read.emplace_back(KeptValue(txns, txns.key_name(key)), value);
  }
  for (const auto& [key, value] : final) {
    out.asked.emplace_back(KeptValue(txns, txns.key_name(key)), value);
  }
  return out;
}

// The readers come last, so without them the numbers of all else stay the same.
std::string Segment::section(const History& txns, const Verdict& verdict,
                             std::int64_t clock_drift) const {
  SegmentSection out{.first = first, .end = end, .late = {}, .without = {}, .certificate = {}};
  std::uint64_t next = first;
  for (const std::uint64_t place : places) {
    if (place < first) {
      out.late.push_back(place);
    } else {
      for (; next < place; ++next) out.without.push_back(next);
      ++next;
    }
  }
  for (; next < end; ++next) out.without.push_back(next);
  Verdict without_readers = verdict;
  std::erase_if(without_readers.order, [&](TxnId txn) { return txn.index() >= txns.txn_count(); });
  std::erase_if(without_readers.schedule,
                [&](const Event& event) { return event.txn.index() >= txns.txn_count(); });
  std::erase_if(without_readers.sources,
                [&](const ReadSource& source) { return source.read.index() >= txns.op_count(); });
  out.certificate = make_certificate(txns, std::move(without_readers), clock_drift);
  return print_section(out);
}

Result<SegmentOutcome> Segment::decide(Level level, const CheckOptions& options,
                                       bool certified) const {
  const auto txns = load();
  if (!txns.ok()) return txns.error();
  auto checked = whole(*txns, options.clock_drift);
  if (!checked.ok()) return checked.error();
  SegmentOutcome out;
  out.verdict = {.level = level, .outcome = Outcome::Holds};
  if (checked->txn_count() > 0) {
    auto verdict = check(*checked, level, options);
    if (!verdict.ok()) return verdict.error();
    out.verdict = *std::move(verdict);
  }
  out.outcome = out.verdict.outcome;
  out.reason = out.verdict.reason;
  if (!(out.outcome == Outcome::Violated ? sound : usable) && out.outcome != Outcome::Undecided) {
    out.outcome = Outcome::Undecided;
    out.reason = doubt;
  }
  if (certified && out.outcome == Outcome::Holds) {
    out.section = section(*txns, out.verdict, options.clock_drift);
  }
  if (out.outcome != Outcome::Violated) return out;
  if (certified) out.needs = needs(*txns);
  auto telling = told(*txns, options.clock_drift);
  if (!telling.ok()) return telling.error();
  auto verdict = check(*telling, level, options);
  if (!verdict.ok()) return verdict.error();
  if (verdict->outcome == Outcome::Violated) {
    if (certified) out.needs.keys = keys_of(*telling, *verdict);
    out.history = *std::move(telling);
    out.verdict = *std::move(verdict);
  } else {  // There is no story.
    out.verdict = {.level = level, .outcome = Outcome::Violated};
  }
  return out;
}

}  // namespace ouro::segments
