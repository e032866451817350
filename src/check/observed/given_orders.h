// The version orders that a history states, as steps from one write to the next.
//
// A complete order has every version of its key, each following the one before immediately; a
// fragment says only which of its versions came earlier. A version that its transaction overwrote
// itself may be listed, too. Another transaction that stands between two writes of one transaction
// closes a cycle with it, as it should.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/observed/observed.h"
#include "ouro/result.h"

namespace ouro {

class GivenOrders {
 public:
  GivenOrders() = default;
  // Reads the version orders of the history or, if it has none, makes them by commit timestamps.
  // The error is an order that lists what nobody wrote or the same version twice, or a timestamp
  // that is missing or not unique. The result does not depend on `threads`, and is meaningless once
  // the budget is exhausted.
  // REQUIRES: the reads of `observed` are joined.
  static Result<GivenOrders> read(const Observed& observed, unsigned threads, const Budget& budget);

  // All writes that some order lists.
  [[nodiscard]] std::span<const ItemId> installed() const { return writes_; }

  // Adds the steps of all orders to `steps`, which stay sorted by key; and to `wrong` the writes
  // that contradict an order: listed, but of a transaction that does not take part; or missing in a
  // complete order.
  // REQUIRES: observed.counted() is known.
  void add_to(const Observed& observed, std::vector<WrongRead>& wrong,
              std::vector<VersionStep>& steps, const Budget& budget) const;

 private:
  struct Part {  // One order, as a range of writes_.
    KeyId key;
    bool complete = false;
    std::size_t first = 0;
    std::size_t count = 0;
  };
  class Reader;

  void add_steps(const Observed& observed, const Part& part, std::vector<VersionStep>& steps) const;
  void find_missing(const Observed& observed, const Part& part,
                    std::vector<WrongRead>& wrong) const;

  void list(ItemId write, std::size_t position) {
    writes_.push_back(write);
    positions_.push_back(static_cast<std::uint32_t>(position));
  }

  std::vector<Part> parts_;  // Sorted by key.
  // The listed writes of all orders, one order after the other.
  std::vector<ItemId> writes_;
  // One per write, at the same index: its position among the items of its key, by which links_of()
  // is indexed. Neighbours of a key lie close together in memory; looking a write up by its item
  // would be a cache miss each time.
  std::vector<std::uint32_t> positions_;
};

}  // namespace ouro
