// Runs one planned transaction on a connection and records what happened.
//
// The rules that keep histories true:
//   - A transaction is committed only if commit() answered Ok.
//   - If a statement does not answer Ok, the transaction is rolled back and is aborted: no commit
//     was sent.
//   - If commit() answered Failed or Lost, the transaction is unknown.
//   - Writes are recorded before they are tried: somebody may read a value whose write failed.
//   - Reads are recorded only if they were answered.
// Where the database takes whole transactions, and no step depends on what others returned, one
// call does all of this (Connection::whole()).
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

// Numbers to write. Each is given out once, and no other client gets it; with `duplicates` they are
// drawn from 1 to 10 instead.
class Numbers {
 public:
  // For client number `client` of `clients`, from 0.
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
  static constexpr std::uint64_t kStream = 1'000'000;  // The random stream of client 0.
  static constexpr std::uint64_t kDistinct = 10;
  db::Number next_;
  db::Number stride_;
  bool duplicates_;
  workload::Random random_;
};

// How a transaction ended.
struct Played {
  TxnStatus status = TxnStatus::Aborted;
  bool by_choice = false;         // Aborted because the plan said so.
  bool failed = false;            // A statement or the commit answered Failed.
  bool lost = false;              // One of them was not answered.
  bool connection_usable = true;  // If not, the connection must be closed.
  std::string reason;             // Why it did not commit; empty if it did, or by_choice.
  db::Trace trace;
  // By Plan::now, if there is one: when the transaction had certainly begun, and when its commit
  // was asked for. Many databases take the snapshot of a transaction only when it first reads, so
  // it had begun when the first read was answered. kNoClock: it read nothing, or asked for no
  // commit.
  std::int64_t began = kNoClock;
  std::int64_t committing = kNoClock;
};

class Player {
 public:
  // `accounts`: the numbers of registers have the balance of a bank account in their low digits,
  // see kAccountUnit.
  Player(db::Model model, bool accounts, Numbers numbers)
      : model_(model), accounts_(accounts), numbers_(std::move(numbers)) {}

  struct Plan {
    const workload::Program& steps;
    bool read_only = false;
    bool abort = false;                      // Roll back instead of commit.
    std::function<std::int64_t()> now = {};  // The client's clock; may be empty.
  };
  // Runs the transaction. `transcript` is replaced by what was done, also if it was aborted.
  // `before_commit` is called right before the commit if something was written. `client`, if not
  // null, learns the size of every list and scan (Client::saw()).
  Played play(db::Connection& connection, const Plan& plan, Transcript& transcript,
              const std::function<void()>& before_commit, workload::Client* client);

  // The number of an account is a unique number times kAccountUnit, plus the balance.
  static constexpr db::Number kAccountUnit = 1'000'000;
  static constexpr db::Number kOpeningBalance = 100;

 private:
  // Whether `plan` can be handed over as a whole.
  [[nodiscard]] bool can_be_whole(const Plan& plan) const;
  Played play_whole(db::Connection& connection, const Plan& plan, Transcript& transcript,
                    const std::function<void()>& before_commit, workload::Client* client);
  [[nodiscard]] db::Operation operation_of(const workload::Step& step);
  db::Answer do_step(db::Connection& connection, const workload::Step& step, Transcript& transcript,
                     workload::Client* client);
  db::Answer do_read(db::Connection& connection, const workload::Step& step, Transcript& transcript,
                     workload::Client* client);
  db::Answer do_write(db::Connection& connection, const workload::Step& step,
                      Transcript& transcript);
  db::Answer do_predicate(db::Connection& connection, const workload::Step& step,
                          Transcript& transcript);
  // The number to write to a register.
  db::Number number_for(const workload::Step& step);

  db::Model model_;
  bool accounts_;
  Numbers numbers_;

  // Buffers, kept so that they are allocated once.
  std::vector<std::pair<db::Key, db::Number>> balances_;  // What this transaction read.
  std::vector<db::KeyNumber> numbers_found_;
  std::vector<db::KeyRow> rows_found_;
  std::vector<db::RowChange> changes_;
  std::vector<db::Number> elements_;
  std::vector<db::Operation> operations_;
  std::vector<db::Found> results_;
};

}  // namespace ouro::running
