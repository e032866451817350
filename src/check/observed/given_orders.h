// The version orders that a history states, as steps from one write to the next.
//
// A complete order has every version of its key, each following the one before immediately; a
// fragment says only which of its versions came earlier. What a transaction wrote and then
// overwrote itself may be listed too: whoever stands between two writes of one transaction makes a
// circle with it, as it should.
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
  // The error is an order that lists what nobody wrote, or the same version twice.
  // REQUIRES: the reads of `observed` are joined. The result does not depend on `threads`, and is
  // of no use once the budget is exhausted.
  static Result<GivenOrders> read(const Observed& observed, unsigned threads, const Budget& budget);

  // All writes that are in some order.
  [[nodiscard]] std::span<const ItemId> installed() const { return writes_; }

  // Adds what follows to `steps`, which stay sorted by key, and what is wrong to `wrong`.
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

  std::vector<Part> parts_;  // By key.
  std::vector<ItemId> writes_;
  // One per write, at the same index: where it stands among the items of its key. What is known of
  // these stands side by side, too; what is known of all items would be a cache miss for each.
  std::vector<std::uint32_t> positions_;
};

}  // namespace ouro
