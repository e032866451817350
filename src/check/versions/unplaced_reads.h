// Predicate reads of which the history does not say what they saw: they have no version set, and
// their transaction has no start timestamp; or several versions of a row have the value that their
// version set lists (listed_versions.h).
//
// Such a read saw some version of every row, and together these gave what it returned: of a row
// that a select did not return a version that does not match, of an aggregate any versions that
// give its value. At the levels with moments all of them were there when its transaction began; at
// the others each was there by then, or had been.
//
// So we look at the order that was found without such a read. If it gives what the read returned,
// all is well. If not, and one row has only later versions that fit, the read follows their
// writers; if only earlier ones fit, it precedes the writer of the next. These edges hold in every
// order. If both are possible it is a choice (Sight), and one side after the other is tried
// (check/sight_search.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/budget.h"
#include "check/versions/predicate_reads.h"
#include "check/versions/read_parts.h"
#include "check/versions/row_versions.h"

namespace ouro {

// One side of a choice: the version of `key` that the read saw is the one at `position` among the
// versions of the key, or a later one; or, if not `seen`, an earlier one.
struct Sight {
  OpId read;
  KeyId key;
  std::uint32_t position = 0;
  bool seen = false;
};

class UnplacedReads {
 public:
  // All must outlive it.
  UnplacedReads(const Observed& observed, const RowVersions& rows,
                std::span<const PredicateReads::Seen> reads)
      : o_(observed), h_(observed.history()), rows_(rows), reads_(reads) {}

  // Which versions a level allows: those that are there when the transaction begins, or any that
  // were committed by then.
  enum class Allowed : bool { AtBegin, UntilBegin };

  struct Finding {
    std::vector<PredicateEdge> edges;  // That follow from `sights`, and that the order breaks.
    OpId impossible;                   // A read that no versions give, if `sights` are true.
    OpId misfit;                       // A read to which the order does not give its result.
    // If there are no edges: choices about such reads, the likelier side of each.
    std::vector<Sight> open;
  };
  // Compares the reads with an order that keeps the version orders and edges_of(sights).
  // Stops early if the budget is exhausted.
  [[nodiscard]] Finding compare(const Positions& positions, Allowed allowed,
                                std::span<const Sight> sights, const Budget& budget) const;

  // The edges that follow from `sights` alone.
  [[nodiscard]] std::vector<PredicateEdge> edges_of(std::span<const Sight> sights) const;

  // For levels that have no moments at all: what holds in every order.
  struct Certain {
    std::vector<PredicateEdge> edges;
    OpId impossible;
    OpId open;  // A read of which they do not say everything; invalid: there is none.
  };
  [[nodiscard]] Certain certain(const Budget& budget) const;

 private:
  using Part = RowVersions::Part;

  // From `first` to `last`, both included.
  struct Interval {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  // What a read may have seen of a row that it neither wrote before nor returned.
  struct Row {
    KeyId key;
    Interval known;                 // By the sights.
    std::uint32_t held = 0;         // The version that the order has when the transaction begins.
    std::vector<bool> listed = {};  // listed_versions(); empty: there is no version set.
  };
  struct Asked {
    PredicateReads::Seen seen;
    const PredicateRead* read = nullptr;
    std::vector<Row> rows;
    // What its own writes before the read give, but for rows that it returned.
    std::vector<KeyPart> own;
  };
  [[nodiscard]] Asked ask(const PredicateReads::Seen& seen, std::span<const Sight> sights) const;
  void find_held(const Positions& positions, Asked& asked) const;
  [[nodiscard]] bool is_open(const Asked& asked) const;
  // Whether some versions within intervals, one for each row, give what the read returned. Row
  // `changed` has `instead`.
  template <class IntervalOf>
  [[nodiscard]] bool possible(const Asked& asked, const IntervalOf& interval_of) const;
  [[nodiscard]] bool possible_with(const Asked& asked, std::size_t changed, Interval instead) const;
  // What the versions of a row within an interval are to the read, each once.
  [[nodiscard]] std::vector<Part> parts(const Asked& asked, const Row& row, Interval within) const;
  // Whether the transaction itself wrote that version, so that the read cannot have seen it.
  [[nodiscard]] bool is_own(const Asked& asked, KeyId key, std::uint32_t position) const;
  // Whether the read cannot have seen that version, for that reason or by its version set.
  [[nodiscard]] bool is_hidden(const Asked& asked, const Row& row, std::uint32_t position) const;
  void at_begin(const Asked& asked, const Positions& positions, Finding& out) const;
  void until_begin(const Asked& asked, Finding& out) const;
  void follow(const Asked& asked, const Row& row, std::uint32_t position,
              std::vector<PredicateEdge>& out) const;
  void precede(const Asked& asked, const Row& row, std::uint32_t position,
               std::vector<PredicateEdge>& out) const;
  [[nodiscard]] Interval narrowed(const Asked& asked, const Row& row) const;

  const Observed& o_;
  const History& h_;
  const RowVersions& rows_;
  const std::span<const PredicateReads::Seen> reads_;
};

}  // namespace ouro
