// Which transactions of a small history must precede which at a level above causal, and why.
//
// Edges follow from session order and real time (where the level respects them) and from who read
// from whom. The order of two writers of a key is known if a list shows it, the history states it
// in a version order, or one of them read what it overwrote. The order of other writers of a key is
// open; assuming it adds edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/observed/observed.h"
#include "ouro/explain.h"

namespace ouro {

// The assumptions that something rests on: bit i stands for assumption number i.
using Premises = std::uint64_t;
inline constexpr std::size_t kMaxAssumptions = 63;

// An edge, and the assumptions it rests on; 0: none.
struct Fact {
  Edge edge;
  Premises premises = 0;
};

// The order of the writers of every key, as far as it is known or assumed. Keys and their writers
// are numbered as in Facts::keys().
class WriteOrders {
 public:
  // `writers`: how many writers each key has.
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
  // Puts `first` and all before it before `second` and all after it, except for pairs that are
  // ordered already.
  void put(std::size_t key, std::size_t first, std::size_t second, Premises premises);

 private:
  static constexpr Premises kOpen = ~Premises{0};
  struct Order {
    std::size_t size = 0;
    std::vector<Premises> before;  // A matrix: why writer a (row) is before writer b, or kOpen.
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
    OpId write;               // Its last write of the key.
    std::vector<Read> reads;  // The reads that returned it.
  };
  struct Key {
    KeyId key;
    std::vector<Writer> writers;
    std::vector<Read> initial_reads;
  };

  // REQUIRES: nothing in `observed`, which must outlive the facts, is wrong in plain sight.
  Facts(const Observed& observed, Level level, std::int64_t clock_drift);

  [[nodiscard]] std::size_t txn_count() const { return txn_count_; }
  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
  [[nodiscard]] const WriteOrders& known_orders() const { return known_; }
  // All edges that follow if writers have these orders.
  [[nodiscard]] std::vector<Fact> edges(const WriteOrders& orders) const;

 private:
  void add_sessions();
  void add_real_time(Level level, std::int64_t clock_drift);
  void add_keys();
  void add_key(KeyId key);
  void order_by_steps(std::size_t key);
  void order_writes(std::size_t key);
  // The index of a writer of the key; if the transaction is none, the number of writers.
  [[nodiscard]] std::size_t number(std::size_t key, TxnId writer) const;

  const Observed& o_;
  std::size_t txn_count_;
  std::vector<Edge> base_;  // Edges that do not depend on the orders of writers.
  std::vector<Key> keys_;
  WriteOrders known_;
};

}  // namespace ouro
