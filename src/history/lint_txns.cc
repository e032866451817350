// Lint rules about transactions (without operations, alone in a session), clocks and timestamps.

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <string>

#include "history/findings.h"
#include "history/moment.h"

namespace ouro {
namespace {

std::string text(Timestamp ts) {
  if (ts.logical == 0) return fmt::format("{}", ts.physical);
  return fmt::format("[{},{}]", ts.physical, ts.logical);
}

void lint_clocks(const History& history, Findings& findings) {
  bool any = false;
  for (std::size_t i = 0; i < history.txn_count() && !any; ++i) {
    any = history.invoked(TxnId{i}) || history.completed(TxnId{i});
  }
  if (!any) {
    if (history.txn_count() > 0) {
      findings.add(Rule::NoClocks, TxnId{}, [] { return "no invoked, no completed"; });
    }
    return;
  }
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId txn{i};
    const auto invoked = history.invoked(txn);
    const auto completed = history.completed(txn);
    // Nobody knows when a transaction of unknown outcome completed, if it did.
    const bool wants_completed = history.status(txn) != TxnStatus::Unknown;
    if (completed && !wants_completed) {
      findings.add(Rule::UnknownCompleted, txn,
                   [&] { return fmt::format("completed {}", *completed); });
    }
    if (!invoked || (!completed && wants_completed)) {
      findings.add(Rule::PartialClocks, txn,
                   [&] { return invoked ? "no completion" : "no invocation"; });
    }
  }
}

void lint_sessions(const History& history, Findings& findings) {
  for (std::size_t i = 0; i < history.txn_count() && history.txn_count() > 1; ++i) {
    if (history.has_session(TxnId{i})) continue;
    findings.add(Rule::NoSessions, TxnId{i}, [] { return "no session"; });
  }
  for (std::size_t i = 0; i < history.session_count(); ++i) {
    const auto txns = history.session_txns(SessionId{i});
    if (txns.size() != 1 || !history.has_session(txns[0])) continue;
    findings.add(Rule::SingleTransactionSession, txns[0],
                 [&] { return "session " + history.label(history.session_name(SessionId{i})); });
  }
}

void lint_session_clocks(const History& history, Findings& findings) {
  for (std::size_t i = 0; i < history.session_count(); ++i) {
    TxnId before;
    for (const TxnId txn : history.session_txns(SessionId{i})) {
      if (before.valid() && history.completed(before) && history.invoked(txn) &&
          *history.invoked(txn) < *history.completed(before)) {
        findings.add(Rule::SessionClockInversion, txn, [&] {
          return fmt::format("invoked {}, but {} of session {} completed {}", *history.invoked(txn),
                             findings.where(before),
                             history.label(history.session_name(SessionId{i})),
                             *history.completed(before));
        });
      }
      before = txn;
    }
  }
}

void lint_levels(const History& history, Findings& findings) {
  if (!history.states_levels()) return;
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId txn{i};
    if (history.status(txn) != TxnStatus::Committed || history.level(txn)) continue;
    findings.add(Rule::PartialLevels, txn, [] { return "no level"; });
  }
}

void lint_timestamps(const History& history, Findings& findings) {
  bool any = false;
  for (std::size_t i = 0; i < history.txn_count() && !any; ++i) {
    any = history.start_ts(TxnId{i}) || history.commit_ts(TxnId{i});
  }
  if (!any) return;
  absl::flat_hash_map<std::pair<std::int64_t, std::int64_t>, TxnId> committed_at;
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId txn{i};
    const auto start = history.start_ts(txn);
    const auto commit = history.commit_ts(txn);
    if (start && commit && *commit < *start) {
      findings.add(Rule::TimestampInversion, txn, [&] {
        return fmt::format("start_ts {}, commit_ts {}", text(*start), text(*commit));
      });
    }
    if (history.status(txn) != TxnStatus::Committed) continue;
    if (!start || !commit) {
      findings.add(Rule::PartialTimestamps, txn,
                   [&] { return start ? "no commit_ts" : "no start_ts"; });
    }
    if (!commit || !writes(history, txn)) continue;
    const auto [at, fresh] =
        committed_at.try_emplace(std::pair(commit->physical, commit->logical), txn);
    if (fresh) continue;
    findings.add(Rule::DuplicateCommitTs, txn, [&, at = at] {
      return fmt::format("commit_ts {} repeats {}", text(*commit), findings.where(at->second));
    });
  }
}

}  // namespace

void lint_txns(const History& history, Findings& findings) {
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId txn{i};
    if (history.first_op(txn) == history.end_op(txn)) {
      findings.add(Rule::EmptyTransaction, txn, [] { return "no operations"; });
    }
  }
  lint_clocks(history, findings);
  lint_session_clocks(history, findings);
  lint_timestamps(history, findings);
  lint_levels(history, findings);
  lint_sessions(history, findings);
}

}  // namespace ouro
