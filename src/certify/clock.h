// The database's timestamps, read a second time: who takes part, and who commits before whom
// begins. The definitions are in docs/levels.md, "By timestamps".
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "certify/rules.h"
#include "ouro/history.h"

namespace ouro::recheck {

class Clock {
 public:
  Clock(const History& history, const Rules& rules);

  [[nodiscard]] bool takes_part(TxnId txn) const;
  // Whether its timestamps say when it begins and commits.
  [[nodiscard]] bool is_placed(TxnId txn) const { return places_[txn.index()].placed; }
  [[nodiscard]] bool is_inverted(TxnId txn) const;
  [[nodiscard]] bool writes(TxnId txn) const { return places_[txn.index()].writes; }
  [[nodiscard]] Timestamp commit_ts(TxnId txn) const { return places_[txn.index()].commit; }
  [[nodiscard]] std::size_t placed() const { return placed_; }

  // A begin or a commit. Moments are totally ordered.
  struct Moment {
    Timestamp at;
    int phase = 0;
    std::uint32_t txn = 0;
    bool commit = false;
    auto operator<=>(const Moment&) const = default;
  };
  // REQUIRES: is_placed(txn).
  [[nodiscard]] Moment begin(TxnId txn) const;
  [[nodiscard]] Moment commit(TxnId txn) const;
  [[nodiscard]] bool sees(TxnId reader, TxnId writer) const {
    return reader != writer && commit(writer) < begin(reader);
  }

 private:
  struct Place {
    Timestamp start;
    Timestamp commit;
    bool writes = false;
    bool placed = false;
  };
  const History& h_;
  std::vector<Place> places_;
  std::size_t placed_ = 0;
};

}  // namespace ouro::recheck
