#include "tests/verdict_checks.h"

#include <algorithm>
#include <optional>

#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/observed.h"
#include "tests/relation.h"

namespace ouro::oracle {
namespace {

bool is_plain(AnomalyKind kind) { return info(kind).sign == AnomalySign::Operations; }

class EdgeJudge {
 public:
  EdgeJudge(const History& history, Level level, const Sources& sources)
      : history_(history), level_(level), seen_(observe(history, Evidence::Observed, sources)) {}

  [[nodiscard]] bool is_true(const Edge& edge) const;
  // Whether the edge may be true, depending on what an open read returned.
  [[nodiscard]] bool is_possible(const Edge& edge) const;

 private:
  // Where a transaction stands in seen_.txns; nothing if it does not count.
  [[nodiscard]] std::optional<std::size_t> find(TxnId txn) const;
  [[nodiscard]] const ExternalRead* find_read(TxnId reader, OpId op) const;
  [[nodiscard]] bool is_write_of(OpId op, TxnId txn, KeyId key) const;
  [[nodiscard]] bool precedes_in_session(TxnId from, TxnId to) const;
  [[nodiscard]] bool lists_show(std::size_t from, std::size_t to, KeyId key) const;
  [[nodiscard]] bool is_true_wr(const Edge& edge) const;
  [[nodiscard]] bool is_true_ww(const Edge& edge) const;
  [[nodiscard]] bool is_true_rw(const Edge& edge) const;
  [[nodiscard]] bool is_true_rt(const Edge& edge) const;
  [[nodiscard]] bool is_forced(const Edge& edge) const;
  [[nodiscard]] bool premise_holds(const Edge& edge, TxnId reader) const;
  [[nodiscard]] Relation so_and_wr() const;

  const History& history_;
  Level level_;
  Observed seen_;
};

std::optional<std::size_t> EdgeJudge::find(TxnId txn) const {
  for (std::size_t i = 0; i < seen_.txns.size(); ++i) {
    if (seen_.txns[i].id == txn) return i;
  }
  return std::nullopt;
}

const ExternalRead* EdgeJudge::find_read(TxnId reader, OpId op) const {
  const auto index = find(reader);
  if (!index) return nullptr;
  for (const ExternalRead& read : seen_.txns[*index].reads) {
    if (read.op == op) return &read;
  }
  return nullptr;
}

// The initial transaction has no operations, so its write is an invalid one.
bool EdgeJudge::is_write_of(OpId op, TxnId txn, KeyId key) const {
  if (txn == kInitialTxn) return !op.valid();
  return op.valid() && op.index() < history_.op_count() && history_.txn_of(op) == txn &&
         is_write(history_.op(op).kind) && history_.op(op).key == key;
}

bool EdgeJudge::precedes_in_session(TxnId from, TxnId to) const {
  if (from == kInitialTxn) return true;
  const auto session = history_.session_txns(history_.session(from));
  const auto place = std::find(session.begin(), session.end(), from);
  return from != to && std::find(place, session.end(), to) != session.end();
}

// Whether a read has an element of `from` before one of `to`, or without one of `to`.
bool EdgeJudge::lists_show(std::size_t from, std::size_t to, KeyId key) const {
  for (const ListRead& read : seen_.list_reads) {
    if (read.key != key) continue;
    for (const Value early : seen_.txns[from].writes.at(key)) {
      const auto place = std::find(read.elements.begin(), read.elements.end(), early);
      if (place == read.elements.end()) continue;
      for (const Value late : seen_.txns[to].writes.at(key)) {
        if (std::find(read.elements.begin(), place, late) == place) return true;
      }
    }
  }
  return false;
}

bool EdgeJudge::is_possible(const Edge& edge) const {
  const bool read_first = edge.kind == EdgeKind::ReadWrite;
  if (!read_first && edge.kind != EdgeKind::WriteRead) return false;
  const OpId read = read_first ? edge.from_op : edge.to_op;
  const OpId write = read_first ? edge.to_op : edge.from_op;
  const TxnId reader = read_first ? edge.from : edge.to;
  const TxnId writer = read_first ? edge.to : edge.from;
  return find(reader) && find(writer) && writer != kInitialTxn && reader != writer &&
         read.valid() && read.index() < history_.op_count() && history_.txn_of(read) == reader &&
         history_.op(read).key == edge.key && !is_write(history_.op(read).kind) &&
         is_write_of(write, writer, edge.key);
}

bool EdgeJudge::is_true_wr(const Edge& edge) const {
  const ExternalRead* const read = find_read(edge.to, edge.to_op);
  return read != nullptr && read->key == edge.key && read->from == find(edge.from) &&
         is_write_of(edge.from_op, edge.from, edge.key);
}

bool EdgeJudge::is_true_ww(const Edge& edge) const {
  if (!is_write_of(edge.from_op, edge.from, edge.key)) return false;
  if (!is_write_of(edge.to_op, edge.to, edge.key) || edge.to == kInitialTxn) return false;
  return edge.from == kInitialTxn || !is_weak_level(level_) ||
         lists_show(*find(edge.from), *find(edge.to), edge.key);
}

bool EdgeJudge::is_true_rw(const Edge& edge) const {
  const ExternalRead* const read = find_read(edge.from, edge.from_op);
  if (read == nullptr || read->key != edge.key || edge.to == edge.from) return false;
  if (!is_write_of(edge.to_op, edge.to, edge.key) || edge.to == kInitialTxn) return false;
  return read->from == 0 || !is_weak_level(level_) ||
         lists_show(read->from, *find(edge.to), edge.key);
}

bool EdgeJudge::is_true_rt(const Edge& edge) const {
  const auto completed = history_.completed(edge.from);
  const auto invoked = history_.invoked(edge.to);
  return !is_weak_level(level_) && completed && invoked && *completed < *invoked;
}

Relation EdgeJudge::so_and_wr() const {
  Relation out(seen_.txns.size());
  for (std::size_t to = 1; to < seen_.txns.size(); ++to) {
    for (const ExternalRead& read : seen_.txns[to].reads) out.add(read.from, to);
    for (std::size_t from = 0; from < seen_.txns.size(); ++from) {
      if (precedes_in_session(seen_.txns[from].id, seen_.txns[to].id)) out.add(from, to);
    }
  }
  return out;
}

// T2 = edge.from, T3 = reader. What `saw` names, if anything, must be a read from T2 too.
bool EdgeJudge::premise_holds(const Edge& edge, TxnId reader) const {
  const ExternalRead* const saw = edge.saw.valid() ? find_read(reader, edge.saw) : nullptr;
  const bool saw_from = saw != nullptr && saw->from == find(edge.from);
  if (edge.saw.valid() && !saw_from) return false;
  if (level_ == Level::ReadCommitted) return saw_from && edge.saw < edge.read;
  const Relation direct = so_and_wr();
  const Relation premise = level_ == Level::ReadAtomic ? direct : direct.closure();
  return !is_weak_level(level_) || premise.has(*find(edge.from), *find(reader));
}

bool EdgeJudge::is_forced(const Edge& edge) const {
  if (!edge.read.valid() || edge.read.index() >= history_.op_count()) return false;
  const TxnId reader = history_.txn_of(edge.read);
  const ExternalRead* const read = find_read(reader, edge.read);
  return read != nullptr && read->key == edge.key && read->from == find(edge.to) &&
         edge.from != edge.to && is_write_of(edge.from_op, edge.from, edge.key) &&
         is_write_of(edge.to_op, edge.to, edge.key) && premise_holds(edge, reader);
}

bool EdgeJudge::is_true(const Edge& edge) const {
  if (!find(edge.from) || !find(edge.to)) return false;
  switch (edge.kind) {
    case EdgeKind::Session:
      return edge.to != kInitialTxn && precedes_in_session(edge.from, edge.to);
    case EdgeKind::WriteRead:
      return is_true_wr(edge);
    case EdgeKind::WriteWrite:
      return is_true_ww(edge);
    case EdgeKind::ReadWrite:
      return is_true_rw(edge);
    case EdgeKind::RealTime:
      return is_true_rt(edge);
    case EdgeKind::CommitTime:
      return !is_weak_level(level_) && commits_first_in_time(history_, edge.from, edge.to, 0);
    case EdgeKind::BeginTime:
      return !is_weak_level(level_) && begins_first_in_time(history_, edge.from, edge.to, 0);
    case EdgeKind::Forced:
      return is_forced(edge);
  }
  return false;
}

std::string complaint_about_cycle(const EdgeJudge& judge, const Anomaly& anomaly,
                                  const Refutation& refutation) {
  if (anomaly.edges.empty()) return "a cycle without edges";
  for (std::size_t i = 0; i < anomaly.edges.size(); ++i) {
    const Edge& edge = anomaly.edges[i];
    const std::string place = "edge " + std::to_string(i) + " of a cycle ";
    if (edge.to != anomaly.edges[(i + 1) % anomaly.edges.size()].from) {
      return place + "does not lead to the next";
    }
    const bool by_choice = edge.choice < refutation.choices.size() &&
                           refutation.choices[edge.choice].kind != ChoiceKind::Order;
    if (by_choice ? !judge.is_possible(edge) : !judge.is_true(edge)) return place + "is not true";
  }
  return "";
}

// Every Forced edge whose reader saw its `from` through other transactions must come with a path,
// in the order of the edges, and nothing else may be there.
std::string complaint_about_support(const History& history, const EdgeJudge& judge,
                                    const Anomaly& anomaly) {
  std::size_t next = 0;
  for (const Edge& edge : anomaly.edges) {
    if (edge.kind != EdgeKind::Forced || edge.saw.valid()) continue;
    const TxnId reader = history.txn_of(edge.read);
    if (history.session(edge.from) == history.session(reader)) continue;
    for (TxnId at = edge.from; at != reader; ++next) {
      if (next == anomaly.support.size()) return "a path is missing or ends early";
      const Edge& step = anomaly.support[next];
      if (step.from != at) return "a path is broken";
      if (step.kind != EdgeKind::Session && step.kind != EdgeKind::WriteRead) {
        return "a path that is not made of so and wr";
      }
      if (!judge.is_true(step)) return "a step of a path is not true";
      at = step.to;
    }
  }
  return next == anomaly.support.size() ? "" : "support without an edge that needs it";
}

// Checks each case by itself. Whether there is a case for every possibility, the certifier checks.
std::string complaint_about_cases(const History& history, const Verdict& verdict) {
  for (const SourceCase& each : verdict.cases) {
    Sources sources;
    for (const ReadSource& said : each.sources) sources[{said.read, said.key}] = said.writer;
    const EdgeJudge judge(history, verdict.level, sources);
    if (each.anomalies.empty()) return "a case without an anomaly";
    const Observed seen = observe(history, Evidence::Observed, sources);
    for (const Anomaly& anomaly : each.anomalies) {
      if (is_plain(anomaly.kind)) {
        if (!seen.anomalies.contains(anomaly.kind))
          return "a case with a plain anomaly that is none";
      } else if (auto wrong = complaint_about_cycle(judge, anomaly, each.refutation);
                 !wrong.empty()) {
        return "a case: " + wrong;
      } else if (wrong = complaint_about_support(history, judge, anomaly); !wrong.empty()) {
        return "a case: " + wrong;
      }
    }
  }
  return "";
}

std::string complaint_about_violation(const History& history, const LevelSet& allowed,
                                      const Verdict& verdict) {
  if (verdict.anomalies.empty()) return "violated, but no anomaly";
  if (!verdict.cases.empty()) return complaint_about_cases(history, verdict);
  const EdgeJudge judge(history, verdict.level, {});
  bool shows_plain = false;
  for (const Anomaly& anomaly : verdict.anomalies) {
    if (verdict.counts[static_cast<std::size_t>(anomaly.kind)] == 0) {
      return std::string(word(anomaly.kind)) + " shown but not counted";
    }
    if (is_plain(anomaly.kind)) {
      shows_plain |= anomaly.kind != AnomalyKind::NonRepeatableRead;
      if (anomaly.ops.empty()) return std::string(word(anomaly.kind)) + " without operations";
    } else if (auto wrong = complaint_about_cycle(judge, anomaly, verdict.refutation);
               !wrong.empty()) {
      return std::string(word(anomaly.kind)) + ": " + wrong;
    } else if (wrong = complaint_about_support(history, judge, anomaly); !wrong.empty()) {
      return std::string(word(anomaly.kind)) + ": " + wrong;
    }
  }
  const Observed seen = observe(history);
  if (seen.always_wrong() && !shows_plain) return "a plain anomaly was missed";
  if (shows_plain && allowed.has(Level::ReadCommitted)) {
    return "a plain anomaly that rc does not mind";
  }
  const bool repeats = !seen.anomalies.contains(AnomalyKind::NonRepeatableRead);
  const auto counted = static_cast<std::size_t>(AnomalyKind::NonRepeatableRead);
  if (!seen.always_wrong() && verdict.level != Level::ReadCommitted &&
      repeats != (verdict.counts[counted] == 0)) {
    return repeats ? "a non-repeatable read that is none" : "a non-repeatable read was missed";
  }
  return "";
}

}  // namespace

std::string complaint(const History& history, const LevelSet& allowed, const Verdict& verdict) {
  if (verdict.outcome == Outcome::Undecided) return "undecided: " + verdict.reason;
  const bool holds = verdict.outcome == Outcome::Holds;
  if (holds != allowed.has(verdict.level)) {
    return holds ? "holds, but the oracle says violated" : "violated, but the oracle says holds";
  }
  if (!holds) return complaint_about_violation(history, allowed, verdict);
  if (!order_proves(history, verdict.level, verdict.order)) return "the order proves nothing";
  return "";
}

}  // namespace ouro::oracle
