// The simulated store as a database: "sim:si", "sim:si?fault=lost-update&rate=0.01".
//
// What follows "sim:" is the level it keeps. Faults are little plays (workload/fault_script.h) that
// sessions of the database's own perform between the clients' transactions; the witness writes them
// down.
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
  // A transaction of a play that ended: its operations, and whether it committed.
  struct Performed {
    std::uint32_t actor = 0;
    bool committed = false;
    Timestamp start = kNoTimestamp;
    Timestamp commit = kNoTimestamp;
    struct Operation {
      OpKind kind = OpKind::Read;
      db::Key key = 0;
      std::optional<db::Number> number;
      std::vector<db::Number> elements;  // Of a list that was read.
    };
    std::vector<Operation> operations;
  };
  // `begun` is called when an actor begins a transaction, `ended` when it ends.
  struct Witness {
    std::function<void(std::uint32_t actor)> begun;
    std::function<void(const Performed&)> ended;
  };
  // Before prepare(). Called from the clients' threads, one at a time.
  virtual void set_witness(Witness witness) = 0;
};

[[nodiscard]] Result<std::unique_ptr<SimDatabase>> open_sim(db::Url url, std::uint64_t seed);

}  // namespace ouro::running
