// A small Twitter on keys and values: 1,000 users as in Viper, whose popularity follows Zipf's law
// as in PolySI.
//
// A user has three keys: the newest tweet, whom they follow, and who follows them. The papers give
// no shares. Ours: 20 % of transactions tweet, 15 % follow or unfollow, 50 % read a timeline (the
// newest tweets of ten others), 15 % look at followers.
#include <algorithm>
#include <vector>

#include "workload/key_choice.h"
#include "workload/planner.h"

namespace ouro::workload {
namespace {

constexpr std::uint32_t kUsers = 1000;
constexpr std::uint32_t kFollowing = kUsers;      // First key of "whom they follow",
constexpr std::uint32_t kFollowers = 2 * kUsers;  // and of "who follows them".
constexpr std::uint32_t kTwitterKeys = 3 * kUsers;
constexpr std::uint32_t kShown = 10;  // How many tweets, or followers, are looked at.

WorkloadOptions popular_users(WorkloadOptions options) {
  options.keys = kUsers;
  options.key_choice = KeyChoice::Zipf;
  return options;
}

class Twitter final : public Planner {
 public:
  Twitter(const WorkloadOptions& options, Seat seat)
      : Planner(options, seat, kTwitterKeys), popular_(popular_users(options)) {}

  void plan(Program& program) override {
    program.clear();
    const std::uint32_t draw = below(100);
    if (draw < 20) {  // Tweets.
      read_write(program, popular_.next(random_));
      program.push_back(write_step(new_keys(1)));
    } else if (draw < 35) {  // Follows or unfollows.
      read_write(program, kFollowing + below(kUsers));
      read_write(program, kFollowers + popular_.next(random_));
    } else if (draw < 85) {
      timeline(program);
    } else {  // Looks at followers.
      program.push_back(read_step(kFollowers + popular_.next(random_)));
      for (std::uint32_t i = 0; i < kShown; ++i) program.push_back(read_step(below(kUsers)));
    }
  }

 private:
  void timeline(Program& program) {
    program.push_back(read_step(kFollowing + below(kUsers)));
    for (std::uint32_t i = 0; i < kShown; ++i) {
      program.push_back(read_step(popular_.next(random_)));
      if (block_count() == 0) continue;
      const std::uint32_t block = block_count() - 1 - below(std::min(block_count(), 1000U));
      const std::uint32_t tweet = key_of_block(below(seat_.clients), block, 1);
      key_end_ = std::max(key_end_, tweet + 1);
      program.push_back(read_step(tweet));
    }
  }

  KeyChooser popular_;
};

}  // namespace

std::unique_ptr<Client> make_twitter(const WorkloadOptions& options, Seat seat) {
  return std::make_unique<Twitter>(options, seat);
}

}  // namespace ouro::workload
