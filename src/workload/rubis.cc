// RUBiS on keys and values: an auction site like eBay, with 20,000 users and 80,000 items as in
// Viper.
//
// The papers give no shares. Ours: 5 % of transactions register a user, 10 % list an item, 30 %
// bid, 5 % buy, 10 % comment, 25 % view an item with its seller and bids, 15 % view a user. Items
// are drawn by Zipf's law, since auctions that end soon get most of the attention.
#include <algorithm>

#include "workload/key_choice.h"
#include "workload/planner.h"

namespace ouro::workload {
namespace {

constexpr std::uint32_t kUsers = 20'000;
constexpr std::uint32_t kItems = 80'000;
constexpr std::uint32_t kItem = kUsers;  // The first key of an item; users have the keys before.
constexpr std::uint32_t kEnd = kItem + kItems;
constexpr std::uint32_t kBidsShown = 5;

WorkloadOptions popular_items(WorkloadOptions options) {
  options.keys = kItems;
  options.key_choice = KeyChoice::Zipf;
  return options;
}

class Rubis final : public Planner {
 public:
  Rubis(const WorkloadOptions& options, Seat seat)
      : Planner(options, seat, kEnd), items_(popular_items(options)) {}

  void plan(Program& program) override {
    program.clear();
    const std::uint32_t draw = below(100);
    if (draw < 5) {  // Registers.
      read_write(program, new_keys(1));
    } else if (draw < 15) {  // Lists an item.
      program.push_back(read_step(user()));
      program.push_back(write_step(new_keys(1)));
    } else if (draw < 45) {
      bid(program);
    } else if (draw < 50) {  // Buys now.
      read_write(program, item());
      program.push_back(read_step(user()));
      program.push_back(write_step(new_keys(1)));
    } else if (draw < 60) {  // Comments, which changes the rating.
      program.push_back(read_step(item()));
      read_write(program, user());
      program.push_back(write_step(new_keys(1)));
    } else if (draw < 85) {
      view_item(program);
    } else {  // Views a user with comments.
      program.push_back(read_step(user()));
      for (std::uint32_t i = 0; i < 3; ++i) program.push_back(read_step(recent()));
    }
  }

 private:
  std::uint32_t user() { return below(kUsers); }
  std::uint32_t item() { return kItem + items_.next(random_); }

  void bid(Program& program) {
    program.push_back(read_step(user()));
    read_write(program, item());  // The item has its highest bid and the number of bids.
    program.push_back(write_step(new_keys(1)));
  }

  void view_item(Program& program) {
    program.push_back(read_step(item()));
    program.push_back(read_step(user()));
    for (std::uint32_t i = 0; i < kBidsShown; ++i) program.push_back(read_step(recent()));
  }

  // One of the last 1000 keys that this client made, or one that another client may have made at
  // about the same time.
  std::uint32_t recent() {
    const std::uint32_t count = block_count();
    if (count == 0) return item();
    const std::uint32_t block = count - 1 - below(std::min(count, 1000U));
    const std::uint32_t key = key_of_block(below(seat_.clients), block, 1);
    key_end_ = std::max(key_end_, key + 1);
    return key;
  }

  KeyChooser items_;
};

}  // namespace

std::unique_ptr<Client> make_rubis(const WorkloadOptions& options, Seat seat) {
  return std::make_unique<Rubis>(options, seat);
}

}  // namespace ouro::workload
