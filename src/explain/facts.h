// What a small history says at a level above causal: which transaction precedes which, and why.
//
// Known are session order and real time (where the level looks at them), reads-from, and what the
// order of two writes of a key follows from: a list that shows it, a version order that the history
// states, or a writer that read what it overwrote. The order of other writers of a key is open; to
// assume it adds edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/observed/observed.h"
#include "ouro/explain.h"

namespace ouro {

// Which assumptions something rests on, by number.
using Premises = std::uint64_t;
inline constexpr std::size_t kMaxAssumptions = 63;

struct Fact {
  Edge edge;
  Premises premises = 0;
};

// The order of the writes of every key, as far as it is known or assumed.
class WriteOrders {
 public:
  // `writers`: how many each key has.
  explicit WriteOrders(std::span<const std::size_t> writers);

  [[nodiscard]] bool ordered(std::size_t key, std::size_t first, std::size_t second) const {
    return at(key, first, second) != kOpen;
  }
  [[nodiscard]] bool open(std::size_t key, std::size_t a, std::size_t b) const {
    return !ordered(key, a, b) && !ordered(key, b, a);
  }
  // REQUIRES: ordered().
  [[nodiscard]] Premises premises(std::size_t key, std::size_t first, std::size_t second) const {
    return at(key, first, second);
  }
  // Puts `first` and all before it before `second` and all after it, unless they are ordered.
  void put(std::size_t key, std::size_t first, std::size_t second, Premises premises);

 private:
  static constexpr Premises kOpen = ~Premises{0};
  struct Order {
    std::size_t size = 0;
    std::vector<Premises> before;  // A matrix.
  };
  [[nodiscard]] Premises at(std::size_t key, std::size_t a, std::size_t b) const {
    return orders_[key].before[a * orders_[key].size + b];
  }
  std::vector<Order> orders_;
};

class Facts {
 public:
  struct Read {
    TxnId reader;
    OpId op;
  };
  struct Writer {
    TxnId txn;
    OpId write;
    std::vector<Read> reads;  // Of its version.
  };
  struct Key {
    KeyId key;
    std::vector<Writer> writers;
    std::vector<Read> initial_reads;
  };

  // REQUIRES: nothing in `observed` is wrong in plain sight.
  Facts(const Observed& observed, Level level, std::int64_t clock_drift);

  [[nodiscard]] std::size_t txn_count() const { return txn_count_; }
  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
  [[nodiscard]] const WriteOrders& known_orders() const { return known_; }
  // All edges, given the orders of writes.
  [[nodiscard]] std::vector<Fact> edges(const WriteOrders& orders) const;

 private:
  void add_sessions();
  void add_real_time(std::int64_t clock_drift);
  void add_keys();
  void add_key(KeyId key);
  void order_by_steps(std::size_t key);
  void order_writes(std::size_t key);
  [[nodiscard]] std::size_t number(std::size_t key, TxnId writer) const;

  const Observed& o_;
  std::size_t txn_count_;
  std::vector<Edge> base_;
  std::vector<Key> keys_;
  WriteOrders known_;
};

}  // namespace ouro
