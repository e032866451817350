// Runs one planned transaction on a connection and writes down what happened.
//
// The rules that keep histories true:
//   - Committed is only what commit() answered Ok to.
//   - After any other answer of a statement the transaction is rolled back, and is aborted: nobody
//     sent a commit.
//   - A commit that failed or was not heard is unknown, unless the database is certain.
//   - Writes are written down before they are tried: somebody may see a value whose write failed.
//   - Reads are written down only if they were answered.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "db/database.h"
#include "run/transcript.h"
#include "workload/client.h"
#include "workload/random.h"

namespace ouro::running {

// Numbers to write, that no other client uses; or, with duplicates, from a small set.
class Numbers {
 public:
  Numbers(std::uint32_t client, std::uint32_t clients, bool duplicates, std::uint64_t seed)
      : next_(client + 1),
        stride_(clients),
        duplicates_(duplicates),
        random_(seed, kStream + client) {}

  db::Number next() {
    if (duplicates_) return 1 + static_cast<db::Number>(random_.below(kDistinct));
    return std::exchange(next_, next_ + stride_);
  }

 private:
  static constexpr std::uint64_t kStream = 1'000'000;
  static constexpr std::uint64_t kDistinct = 10;
  db::Number next_;
  db::Number stride_;
  bool duplicates_;
  workload::Random random_;
};

struct Played {
  TxnStatus status = TxnStatus::Aborted;
  bool by_choice = false;         // Aborted because the plan said so.
  bool failed = false;            // Something answered Failed.
  bool connection_usable = true;  // If not, it must be closed.
  std::string reason;             // Why it did not commit.
  db::Trace trace;
};

class Player {
 public:
  // Accounts hold balances: their low digits.
  Player(db::Model model, bool accounts, Numbers numbers)
      : model_(model), accounts_(accounts), numbers_(std::move(numbers)) {}

  struct Plan {
    const workload::Program& steps;
    bool read_only = false;
    bool abort = false;  // Roll back instead of commit.
  };
  // `before_commit` is called right before a commit of something written; `saw` with the size of
  // every list and scan. `transcript` is what was done, also if it was aborted.
  Played play(db::Connection& connection, const Plan& plan, Transcript& transcript,
              const std::function<void()>& before_commit, workload::Client* client);

  static constexpr db::Number kAccountUnit = 1'000'000;
  static constexpr db::Number kOpeningBalance = 100;

 private:
  db::Answer do_step(db::Connection& connection, const workload::Step& step, Transcript& transcript,
                     workload::Client* client);
  db::Answer do_read(db::Connection& connection, const workload::Step& step, Transcript& transcript,
                     workload::Client* client);
  db::Answer do_write(db::Connection& connection, const workload::Step& step,
                      Transcript& transcript);
  db::Answer do_predicate(db::Connection& connection, const workload::Step& step,
                          Transcript& transcript);
  db::Number number_for(const workload::Step& step);

  db::Model model_;
  bool accounts_;
  Numbers numbers_;

  // Buffers, kept so that they are allocated once.
  std::vector<std::pair<db::Key, db::Number>> balances_;  // Read in this transaction.
  std::vector<db::KeyNumber> numbers_found_;
  std::vector<db::KeyRow> rows_found_;
  std::vector<db::RowChange> changes_;
  std::vector<db::Number> elements_;
};

}  // namespace ouro::running
