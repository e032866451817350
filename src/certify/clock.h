// Clocks, read a second time, independently of the engines. By the database's timestamps: which
// transactions take part, and which commits precede which begins. By the clients' clocks: who
// completed before whom was invoked. The definitions are in docs/levels.md, "By timestamps" and
// "Real time". All of certify/ uses these.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "certify/rules.h"
#include "ouro/history.h"

namespace ouro::recheck {

// Whether a transaction that completed at `completed` precedes one that was invoked at `invoked`,
// if clocks may differ by `drift`. REQUIRES: drift >= 0.
[[nodiscard]] bool precedes_in_time(std::int64_t completed, std::int64_t invoked,
                                    std::int64_t drift);

// A transaction begins not later than this, by its client's clock: when its begin was answered or,
// if that is not known, when it completed. And it commits not earlier than this: when its commit
// was asked for or, if that is not known, when it was invoked.
[[nodiscard]] std::optional<std::int64_t> latest_begin(const History& history, TxnId txn);
[[nodiscard]] std::optional<std::int64_t> earliest_commit(const History& history, TxnId txn);

class Clock {
 public:
  // A begin or a commit. Moments are totally ordered.
  struct Moment {
    Timestamp at;
    int phase = 0;  // At equal timestamps; see begin_of() and commit_of().
    std::uint32_t txn = 0;
    bool commit = false;
    auto operator<=>(const Moment&) const = default;
  };
  // The timestamps of a transaction. If it does not start before it commits, it begins and commits
  // at its commit timestamp.
  struct Stamps {
    Timestamp start;
    Timestamp commit;
    bool writes = false;
  };
  [[nodiscard]] static Moment begin_of(const Stamps& stamps, TxnId txn);
  [[nodiscard]] static Moment commit_of(const Stamps& stamps, TxnId txn);

  // At levels with snapshots a transaction begins when it starts, at the others when it commits.
  Clock(const History& history, const Rules& rules);

  // Whether it committed, or its outcome is unknown and it has a commit timestamp.
  [[nodiscard]] bool takes_part(TxnId txn) const;
  // Whether its timestamps say when it begins and commits.
  [[nodiscard]] bool is_known(TxnId txn) const { return known_[txn.index()]; }
  // Whether it starts after it commits.
  [[nodiscard]] bool is_inverted(TxnId txn) const;
  [[nodiscard]] bool writes(TxnId txn) const { return stamps_[txn.index()].writes; }
  [[nodiscard]] Timestamp commit_ts(TxnId txn) const { return stamps_[txn.index()].commit; }
  // How many transactions are known.
  [[nodiscard]] std::size_t known() const { return known_count_; }

  // REQUIRES: is_known(txn).
  [[nodiscard]] Moment begin(TxnId txn) const { return begin_of(stamps_[txn.index()], txn); }
  [[nodiscard]] Moment commit(TxnId txn) const { return commit_of(stamps_[txn.index()], txn); }
  // Whether `writer` commits before `reader` begins. REQUIRES: both are known.
  [[nodiscard]] bool sees(TxnId reader, TxnId writer) const {
    return reader != writer && commit(writer) < begin(reader);
  }

 private:
  const History& h_;
  std::vector<Stamps> stamps_;
  std::vector<bool> known_;
  std::size_t known_count_ = 0;
};

}  // namespace ouro::recheck
