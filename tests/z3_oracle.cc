#include "tests/z3_oracle.h"

#include <z3++.h>

#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/engine_levels.h"
#include "tests/observed.h"
#include "tests/oracle.h"

namespace ouro::oracle {
namespace {

// What both encodings ask of a history.
class Question {
 public:
  Question(const History& history, Level level, const Sources& sources)
      : history_(history), level_(level), observed_(observe(history, Evidence::Observed, sources)) {
    for (std::size_t t = 1; t < observed_.txns.size(); ++t) {
      for (const auto& [key, values] : observed_.txns[t].writes) writers_[key].push_back(t);
    }
  }

  [[nodiscard]] std::size_t txn_count() const { return observed_.txns.size(); }
  [[nodiscard]] bool wrong_in_plain_sight() const { return !observed_.anomalies.empty(); }
  [[nodiscard]] const std::map<KeyId, std::vector<std::size_t>>& writers() const {
    return writers_;
  }

  // Calls f(reader, writer, key) for every external read; writer 0 is the initial transaction.
  template <class F>
  void for_each_read(const F& f) const {
    for (std::size_t t = 1; t < txn_count(); ++t) {
      for (const ExternalRead& read : observed_.txns[t].reads) f(t, read.from, read.key);
    }
  }

  // Calls f(earlier, later) for neighbours in a session.
  template <class F>
  void for_each_session_step(const F& f) const {
    if (!has_sessions(level_)) return;
    std::map<SessionId, std::size_t> last;
    for (std::size_t t = 1; t < txn_count(); ++t) {
      const auto [at, first] = last.try_emplace(history_.session(observed_.txns[t].id), t);
      if (!first) f(std::exchange(at->second, t), t);
    }
  }

  // Calls f(a, b, commits, begins) for all pairs: whether a completed, and whether its begin was
  // answered, before b asked for its commit.
  template <class F>
  void for_each_commit_asked(const F& f) const {
    for (std::size_t a = 1; a < txn_count(); ++a) {
      for (std::size_t b = 1; b < txn_count(); ++b) {
        const TxnId first = observed_.txns[a].id;
        const TxnId second = observed_.txns[b].id;
        if (a == b) continue;
        f(a, b, commits_first_in_time(history_, first, second, 0),
          begins_first_in_time(history_, first, second, 0));
      }
    }
  }

  // Calls f(earlier, later) for all that real time orders.
  template <class F>
  void for_each_in_real_time(const F& f) const {
    for (std::size_t a = 1; a < txn_count(); ++a) {
      const auto completed = history_.completed(observed_.txns[a].id);
      for (std::size_t b = 1; b < txn_count() && completed; ++b) {
        const auto invoked = history_.invoked(observed_.txns[b].id);
        if (invoked && *completed < *invoked) f(a, b);
      }
    }
  }

 private:
  const History& history_;
  Level level_;
  Observed observed_;
  std::map<KeyId, std::vector<std::size_t>> writers_;
};

bool satisfiable(z3::solver& solver) {
  switch (solver.check()) {
    case z3::sat:
      return true;
    case z3::unsat:
      return false;
    default:
      throw std::runtime_error("z3: " + solver.reason_unknown());
  }
}

bool allows_by_snapshots(const Question& question, Level level) {
  z3::context z3;
  z3::solver solver(z3, "QF_IDL");
  std::vector<z3::expr> begin;
  std::vector<z3::expr> commit;
  for (std::size_t t = 0; t < question.txn_count(); ++t) {
    begin.push_back(z3.int_const(("b" + std::to_string(t)).c_str()));
    commit.push_back(is_snapshot_level(level) ? z3.int_const(("c" + std::to_string(t)).c_str())
                                              : begin.back());
    if (is_snapshot_level(level)) solver.add(begin[t] < commit[t]);
  }
  for (const auto& [key, writers] : question.writers()) {
    for (std::size_t i = 0; i < writers.size(); ++i) {
      for (std::size_t j = i + 1; j < writers.size(); ++j) {
        const std::size_t a = writers[i];
        const std::size_t b = writers[j];
        solver.add(commit[a] < begin[b] || commit[b] < begin[a]);
      }
    }
  }
  question.for_each_read([&](std::size_t reader, std::size_t from, KeyId key) {
    if (from != 0) solver.add(commit[from] < begin[reader]);
    const auto writers = question.writers().find(key);
    if (writers == question.writers().end()) return;
    for (const std::size_t other : writers->second) {
      if (other == reader || other == from) continue;
      const z3::expr unseen = begin[reader] < commit[other];
      solver.add(from == 0 ? unseen : unseen || commit[other] < commit[from]);
    }
  });
  question.for_each_session_step(
      [&](std::size_t a, std::size_t b) { solver.add(commit[a] < begin[b]); });
  if (has_real_time(level)) {
    question.for_each_in_real_time([&](std::size_t a, std::size_t b) {
      solver.add(commit[a] < (orders_commits_by_time(level) ? commit[b] : begin[b]));
    });
    question.for_each_commit_asked([&](std::size_t a, std::size_t b, bool commits, bool begins) {
      if (commits && is_snapshot_level(level)) solver.add(commit[a] < commit[b]);
      if (begins && is_snapshot_level(level)) solver.add(begin[a] < commit[b]);
    });
  }
  return satisfiable(solver);
}

class GraphQuestion {
 public:
  GraphQuestion(const Question& question, Level level)
      : q_(question), level_(level), solver_(z3_, "QF_IDL") {
    for (std::size_t t = 0; t < q_.txn_count(); ++t) {
      rank_.push_back(z3_.int_const(("t" + std::to_string(t)).c_str()));
    }
  }

  bool allowed() {
    add_versions();
    add_dependencies();
    for (const Edge& edge : dependencies_) {
      solver_.add(z3::implies(edge.when, rank_[edge.from] < rank_[edge.to]));
      if (!is_snapshot_level(level_)) continue;
      for (const Edge& over : overwrites_) {
        if (over.from != edge.to) continue;
        solver_.add(z3::implies(edge.when && over.when, rank_[edge.from] < rank_[over.to]));
      }
    }
    if (!is_snapshot_level(level_)) {
      for (const Edge& over : overwrites_) {
        solver_.add(z3::implies(over.when, rank_[over.from] < rank_[over.to]));
      }
    }
    return satisfiable(solver_);
  }

 private:
  struct Edge {
    std::size_t from;
    std::size_t to;
    z3::expr when;
  };

  [[nodiscard]] const z3::expr& version(KeyId key, std::size_t txn) {
    return version_.at({key, txn});
  }

  // A number for every version; those of a key differ.
  void add_versions() {
    for (const auto& [key, writers] : q_.writers()) {
      for (const std::size_t w : writers) {
        const std::string name = "v" + std::to_string(key.index()) + "_" + std::to_string(w);
        version_.emplace(std::pair(key, w), z3_.int_const(name.c_str()));
      }
      for (const std::size_t a : writers) {
        for (const std::size_t b : writers) {
          if (a == b) continue;
          dependencies_.push_back({a, b, version(key, a) < version(key, b)});
          if (a < b)
            solver_.add(version(key, a) < version(key, b) || version(key, b) < version(key, a));
        }
      }
    }
  }

  void add_dependencies() {
    const z3::expr always = z3_.bool_val(true);
    q_.for_each_session_step([&](std::size_t a, std::size_t b) {
      dependencies_.push_back({a, b, always});
    });
    if (level_ == Level::StrictSerializable) {
      q_.for_each_in_real_time([&](std::size_t a, std::size_t b) {
        dependencies_.push_back({a, b, always});
      });
    }
    q_.for_each_read([&](std::size_t reader, std::size_t from, KeyId key) {
      if (from != 0) dependencies_.push_back({from, reader, always});
      const auto writers = q_.writers().find(key);
      if (writers == q_.writers().end()) return;
      for (const std::size_t other : writers->second) {
        if (other == reader || other == from) continue;
        overwrites_.push_back(
            {reader, other, from == 0 ? always : version(key, from) < version(key, other)});
      }
    });
  }

  const Question& q_;
  Level level_;
  z3::context z3_;
  z3::solver solver_;
  std::vector<z3::expr> rank_;
  std::map<std::pair<KeyId, std::size_t>, z3::expr> version_;
  std::vector<Edge> dependencies_;  // so, rt, wr, ww.
  std::vector<Edge> overwrites_;    // rw.
};

}  // namespace

bool can_encode(Z3Encoding encoding, Level level) {
  switch (level) {
    case Level::Si:
    case Level::SessionSi:
    case Level::Serializable:
    case Level::SessionSerializable:
    case Level::StrictSerializable:
      return true;
    default:
      return encoding == Z3Encoding::Snapshots && is_snapshot_level(level);
  }
}

bool z3_allows(const History& history, Level level, Z3Encoding encoding) {
  return any_sources(history, Evidence::Observed, [&](const Sources& sources) {
    const Question question(history, level, sources);
    if (question.wrong_in_plain_sight()) return false;
    if (encoding == Z3Encoding::Snapshots) return allows_by_snapshots(question, level);
    return GraphQuestion(question, level).allowed();
  });
}

}  // namespace ouro::oracle
