// The simulated store as a database: "sim:si", "sim:si?fault=lost-update&rate=0.01".
//
// The level that the store keeps follows "sim:". A fault is a short script of transactions
// (workload/fault_script.h) that actors, sessions of the database itself, play between the
// transactions of clients. The witness learns of these transactions, so that they can be recorded.
#pragma once

#include <functional>
#include <memory>

#include "db/database.h"
#include "db/url.h"
#include "ouro/generate.h"
#include "workload/open_txn.h"

namespace ouro::running {

class SimDatabase : public db::Database {
 public:
  // A transaction that an actor played.
  struct Performed {
    std::uint32_t actor = 0;
    bool committed = false;
    Timestamp start = kNoTimestamp;
    Timestamp commit = kNoTimestamp;
    struct Operation {
      OpKind kind = OpKind::Read;
      db::Key key = 0;
      std::optional<db::Number> number;
      std::vector<db::Number> elements;  // If a list was read.
    };
    std::vector<Operation> operations;
  };
  // `begun` is called when an actor begins a transaction, `ended` when it ends.
  struct Witness {
    std::function<void(std::uint32_t actor)> begun;
    std::function<void(const Performed&)> ended;
  };
  // Call it before prepare(). The functions are called from the clients' threads, one at a time.
  virtual void set_witness(Witness witness) = 0;
};

// `seed` decides when faults are played and on which keys.
[[nodiscard]] Result<std::unique_ptr<SimDatabase>> open_sim(db::Url url, std::uint64_t seed);

}  // namespace ouro::running
