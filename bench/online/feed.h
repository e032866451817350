// Batches as a collector would deliver them: transactions of many clients against a store that
// does what its level says, in order of their commits but for some that are late.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/stream.h"

namespace ouro::bench {

struct FeedOptions {
  Level level = Level::SessionSi;
  std::uint64_t txns = 1'000'000;
  std::uint64_t keys = 1'000'000;
  std::uint32_t ops = 8;         // Of a transaction, half of them reads.
  bool tpcc = false;             // As TPC-C does: many reads of few rows, new rows, hot counters.
  double predicate_share = 0;    // Of operations; then values are rows, and all keys are loaded.
  std::uint64_t rate = 300'000;  // Transactions a second.
  std::size_t batch = 500;
  double late_share = 0.01;
  std::uint64_t late_ms = 100;  // At most.
  double delay_mean_ms = 0;     // Of all transactions, normally distributed.
  double delay_deviation_ms = 0;
  double wrong_share = 0;  // Reads that return something else.
  std::uint64_t seed = 1;
};

struct Delivery {
  StreamTime at{0};
  std::shared_ptr<const History> batch;
};

// One batch after the other; only what is on the way is in memory.
class Feed {
 public:
  explicit Feed(const FeedOptions& options);
  ~Feed();
  // First, for as long as there are some: transactions that write all keys once. Null at the end.
  Delivery next_load();
  // Null at the end.
  Delivery next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ouro::bench
