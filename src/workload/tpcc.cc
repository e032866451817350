// TPC-C on keys and values: every row is a key, every update reads it first.
//
// One warehouse, 10 districts, 30,000 customers, 100,000 items, as in Viper and PolySI. The mix is
// the standard's: 45 % new orders, 43 % payments, 4 % each of order status, delivery and stock
// level. The secondary index on last names is left out. Inserts read the key as well, so that all
// transactions are read-only or read-modify-write, as PolySI notes of Cobra's version.
//
// Each order has a block of new keys: the order, its entry among the new orders, and up to 15 order
// lines. A block may instead hold the history rows of 17 payments. Plans cannot depend on what was
// read, so a client remembers its own orders, and guesses that others made as many.
#include <algorithm>
#include <array>

#include "workload/planner.h"

namespace ouro::workload {
namespace {

constexpr std::uint32_t kDistricts = 10;
constexpr std::uint32_t kCustomersPerDistrict = 3000;
constexpr std::uint32_t kItems = 100'000;

// The first key of each table.
constexpr std::uint32_t kWarehouse = 0;
constexpr std::uint32_t kDistrict = 1;
constexpr std::uint32_t kCustomer = kDistrict + kDistricts;
constexpr std::uint32_t kItem = kCustomer + kDistricts * kCustomersPerDistrict;
constexpr std::uint32_t kStock = kItem + kItems;
constexpr std::uint32_t kTpccKeys = kStock + kItems;

// Within the block of an order: the entry among the new orders, and the first line.
constexpr std::uint32_t kNewOrder = 1;
constexpr std::uint32_t kLine = 2;
constexpr std::uint32_t kMaxLines = 15;
constexpr std::uint32_t kBlock = kLine + kMaxLines;

class TpcC final : public Planner {
 public:
  TpcC(const WorkloadOptions& options, Seat seat) : Planner(options, seat, kTpccKeys) {}

  void plan(Program& program) override {
    program.clear();
    const std::uint32_t draw = below(100);
    if (draw < 45) {
      new_order(program);
    } else if (draw < 88) {
      payment(program);
    } else if (draw < 92) {
      order_status(program);
    } else if (draw < 96) {
      delivery(program);
    } else {
      stock_level(program);
    }
  }

 private:
  struct Order {
    std::uint32_t block = 0;  // The first key of its block.
    std::uint32_t customer = 0;
    std::uint32_t lines = 0;  // How many order lines it has.
  };

  std::uint32_t pick_customer() { return kCustomer + below(kDistricts * kCustomersPerDistrict); }
  static std::uint32_t district_of(std::uint32_t customer) {
    return kDistrict + (customer - kCustomer) / kCustomersPerDistrict;
  }

  void new_order(Program& program) {
    const std::uint32_t customer = pick_customer();
    const Order order{new_keys(kBlock), customer, 5 + below(kMaxLines - 4)};
    program.push_back(read_step(kWarehouse));
    read_write(program, district_of(customer));
    program.push_back(read_step(customer));
    read_write(program, order.block);
    read_write(program, order.block + kNewOrder);
    for (std::uint32_t line = 0; line < order.lines; ++line) {
      const std::uint32_t item = below(kItems);
      program.push_back(read_step(kItem + item));
      read_write(program, kStock + item);
      read_write(program, order.block + kLine + line);
    }
    recent_[made_++ % kRemembered] = order;
  }

  void payment(Program& program) {
    const std::uint32_t customer = pick_customer();
    read_write(program, kWarehouse);
    read_write(program, district_of(customer));
    read_write(program, customer);
    if (payments_++ % kBlock == 0) history_ = new_keys(kBlock);
    read_write(program, history_ + (payments_ - 1) % kBlock);
  }

  // An order of this client, or what may be an order of any client.
  Order pick_order() {
    if (made_ > 0 && (seat_.clients == 1 || percent(50))) {
      return recent_[below(std::min(made_, kRemembered))];
    }
    const std::uint32_t block = below(block_count() + 1);
    key_end_ = std::max(key_end_, key_of_block(0, block + 1, kBlock));
    return {key_of_block(below(seat_.clients), block, kBlock), pick_customer(), 5};
  }

  void order_status(Program& program) {
    const Order order = pick_order();
    program.push_back(read_step(order.customer));
    program.push_back(read_step(order.block));
    for (std::uint32_t line = 0; line < order.lines; ++line) {
      program.push_back(read_step(order.block + kLine + line));
    }
  }

  // Delivers one order for each district.
  void delivery(Program& program) {
    for (std::uint32_t district = 0; district < kDistricts; ++district) {
      const Order order = pick_order();
      program.push_back(read_step(order.block + kNewOrder));
      program.push_back({.kind = StepKind::Delete, .key = order.block + kNewOrder});
      read_write(program, order.block);
      for (std::uint32_t line = 0; line < order.lines; ++line) {
        read_write(program, order.block + kLine + line);
      }
      read_write(program, order.customer);
    }
  }

  // The lines of the last 20 orders of a district, and the stock of some items in them.
  void stock_level(Program& program) {
    program.push_back(read_step(kDistrict + below(kDistricts)));
    for (std::uint32_t i = 0; i < 20; ++i) {
      program.push_back(read_step(pick_order().block + kLine));
      program.push_back(read_step(kStock + below(kItems)));
    }
  }

  static constexpr std::uint32_t kRemembered = 256;
  std::array<Order, kRemembered> recent_{};  // The last orders of this client; a ring.
  std::uint32_t made_ = 0;                   // How many orders it made.
  std::uint32_t history_ = 0;                // The block for payments in use.
  std::uint32_t payments_ = 0;               // How many payments it made.
};

}  // namespace

std::unique_ptr<Client> make_tpcc(const WorkloadOptions& options, Seat seat) {
  return std::make_unique<TpcC>(options, seat);
}

}  // namespace ouro::workload
