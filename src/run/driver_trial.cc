// Tries a driver that is a program of its own: every kind of message, alone and in transactions of
// two connections, compared with what must come out if nobody else uses the database.
//
// The trial goes through the same code as a run, so it accepts exactly the answers that runs
// accept.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "db/registry.h"
#include "ouro/run.h"

namespace ouro {
namespace {

using db::Answer;
using db::Connection;
using db::Database;
using db::KeyNumber;
using db::KeyRow;
using db::Model;
using db::Number;
using db::Operation;
using db::OperationKind;
using db::Row;

// Numbers, or "null", for messages.
std::string told(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "null";
}
std::string told(const std::vector<Number>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}
std::string told(const std::optional<Row>& row) {
  return row ? fmt::format("[{}]", fmt::join(*row, ",")) : "null";
}
// Results whose order is free are compared sorted by key.
std::string told(std::vector<KeyNumber> rows) {
  std::sort(rows.begin(), rows.end(), [](auto a, auto b) { return a.key < b.key; });
  std::string out;
  for (const KeyNumber& row : rows) out += fmt::format("[{},{}]", row.key, row.number);
  return "[" + out + "]";
}
std::string told(std::vector<KeyRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  std::string out;
  for (const KeyRow& row : rows) out += fmt::format("[{},{}]", row.key, told(row.row));
  return "[" + out + "]";
}

// One database that is tried with one model.
class Trial {
 public:
  Trial(Database& database, DriverTrial& report, std::string about)
      : database_(database), report_(report), about_(std::move(about)) {}

  void run(Model model, bool evidence) {
    if (!require("setup", database_.prepare(
                              {.model = model, .keys = 10, .clients = 2, .evidence = evidence}))) {
      return;
    }
    timed_ = evidence;
    if (connect()) {
      if (model == Model::Registers) try_registers();
      if (model == Model::Lists) try_lists();
      if (model == Model::Rows) try_rows();
    }
    one_.reset();
    other_.reset();
    require("end", database_.finish());
  }

 private:
  void note(bool good, const std::string& what) {
    report_.findings.push_back({.what = about_ + ": " + what, .good = good});
  }
  bool require(const char* what, const Status& status) {
    note(status.ok(), status ? what : fmt::format("{}: {}", what, status.error().what));
    return status.ok();
  }
  bool connect() {
    for (auto* connection : {&one_, &other_}) {
      auto opened = database_.connect(0);
      if (!opened.ok()) return require("open", opened.error());
      *connection = *std::move(opened);
    }
    note(true, "open, twice");
    return true;
  }

  // Notes whether an operation answered, and answered what it should.
  bool expect(const std::string& what, const Answer& answer, const std::string& got,
              const std::string& wanted) {
    const bool good = answer.ok() && got == wanted;
    note(good, good          ? what
               : answer.ok() ? fmt::format("{}: it is {}, but should be {}", what, got, wanted)
                             : fmt::format("{}: {}", what, answer.reason));
    return good;
  }
  bool expect(const std::string& what, const Answer& answer) {
    return expect(what, answer, "", "");
  }

  // Runs a transaction on `connection`; `work` does its operations.
  void transaction(Connection& connection, const std::string& name,
                   const std::function<void(Connection&)>& work, bool commits = true) {
    if (!expect(name + ": begin", connection.begin(false))) return;
    work(connection);
    if (!commits) {
      expect(name + ": rollback", connection.rollback());
      return;
    }
    if (expect(name + ": commit", connection.commit())) note_times(name, connection.trace());
  }
  // Transactions of the trial never overlap, so their timestamps only grow.
  void note_times(const std::string& name, const db::Trace& trace) {
    if (!timed_) return;
    const bool grows =
        trace.start > last_ && (trace.commit == kNoTimestamp || trace.commit >= trace.start);
    note(grows, grows ? name + ": timestamps grow"
                      : name +
                            ": timestamps must grow: start_ts must be after the commit_ts of "
                            "transactions that ended before, and not after its own commit_ts");
    if (trace.commit != kNoTimestamp) last_ = trace.commit;
  }

  void expect_number(Connection& connection, const std::string& what, db::Key key,
                     std::optional<Number> wanted) {
    std::optional<Number> number;
    const Answer answer = connection.read(key, number);
    expect(what, answer, told(number), told(wanted));
  }

  void try_registers() {
    transaction(*one_, "write", [&](Connection& connection) {
      expect_number(connection, "r of a key that nobody wrote", 1, std::nullopt);
      expect("w", connection.write(1, 11));
      expect_number(connection, "r after w in the same transaction", 1, 11);
      expect("w of another key", connection.write(3, -33));
    });
    transaction(*other_, "read", [&](Connection& connection) {
      expect_number(connection, "r of what another connection committed", 1, 11);
      expect_number(connection, "r of a negative number", 3, -33);
    });
    transaction(
        *one_, "undo", [&](Connection& connection) { expect("w", connection.write(1, 12)); },
        false);
    transaction(*other_, "after a rollback", [&](Connection& connection) {
      expect_number(connection, "r of what was rolled back", 1, 11);
    });
    if (database_.features().scans) try_scans();
    if (database_.features().removes) {
      transaction(*one_, "delete", [&](Connection& connection) {
        expect("d", connection.remove(3));
        expect("d of an absent key", connection.remove(9));
        expect_number(connection, "r after d", 3, std::nullopt);
      });
    }
    if (one_->takes_whole()) try_whole();
  }

  void try_scans() {
    transaction(*other_, "scan", [&](Connection& connection) {
      std::vector<KeyNumber> found;
      Answer answer = connection.scan(1, 3, found);
      expect("scan, both bounds included", answer, told(found), "[[1,11][3,-33]]");
      answer = connection.scan(2, 2, found);
      expect("scan of an empty range", answer, told(found), "[]");
    });
  }

  void try_whole() {
    const std::vector<Operation> operations{{.kind = OperationKind::Read, .key = 1},
                                            {.kind = OperationKind::Write, .key = 1, .number = 21},
                                            {.kind = OperationKind::Read, .key = 1},
                                            {.kind = OperationKind::Read, .key = 8}};
    std::vector<db::Found> found;
    const Answer answer = one_->whole(operations, false, found);
    if (!expect("txn", answer)) return;
    expect("txn: r before w", answer, told(found[0].number), "11");
    expect("txn: r after w", answer, told(found[2].number), "21");
    expect("txn: r of an absent key", answer, told(found[3].number), "null");
    note_times("txn", one_->trace());
    transaction(*other_, "after txn", [&](Connection& connection) {
      expect_number(connection, "r of what a txn wrote", 1, 21);
    });
  }

  void expect_list(Connection& connection, const std::string& what, db::Key key,
                   const char* wanted) {
    std::vector<Number> elements;
    const Answer answer = connection.read_list(key, elements);
    expect(what, answer, told(elements), wanted);
  }
  void try_lists() {
    transaction(*one_, "append", [&](Connection& connection) {
      expect_list(connection, "r of a list that nobody wrote", 1, "[]");
      expect("append to an absent key", connection.append(1, 12));
      expect("append", connection.append(1, 7));
      expect_list(connection, "r in the order of appends", 1, "[12,7]");
    });
    transaction(*other_, "read", [&](Connection& connection) {
      expect_list(connection, "r of what another connection committed", 1, "[12,7]");
    });
  }

  void try_rows() {
    transaction(*one_, "write", [&](Connection& connection) {
      std::optional<Row> row;
      Answer answer = connection.read_row(1, row);
      expect("r of a row that nobody wrote", answer, told(row), "null");
      expect("w of a row", connection.write_row(1, {1, 5, 50}));
      expect("w of a row", connection.write_row(2, {2, 6, 60}));
      expect("w of a row", connection.write_row(3, {3, 7, 70}));
      answer = connection.read_row(2, row);
      expect("r of a row", answer, told(row), "[2,6,60]");
    });
    transaction(*other_, "predicates", [&](Connection& connection) {
      const db::Where narrow{{.column = 1, .lower = 5, .upper = 6}};
      const db::Where both{{.column = 1, .lower = 5, .upper = 6},
                           {.column = 2, .lower = 60, .upper = 90}};
      const db::Where none{{.column = 1, .lower = 100, .upper = 200}};
      std::vector<KeyRow> found;
      Answer answer = connection.select(narrow, found);
      expect("select, both bounds included", answer, told(found), "[[1,[1,5,50]][2,[2,6,60]]]");
      answer = connection.select(both, found);
      expect("select by two conditions", answer, told(found), "[[2,[2,6,60]]]");
      answer = connection.select({}, found);
      expect("select without conditions", answer, std::to_string(found.size()), "3");
      try_aggregates(connection, narrow, none);
    });
    if (database_.features().row_changes) try_row_changes();
  }

  void try_aggregates(Connection& connection, const db::Where& narrow, const db::Where& none) {
    constexpr std::pair<AggregateKind, const char*> kinds[] = {{AggregateKind::Min, "50"},
                                                               {AggregateKind::Max, "60"},
                                                               {AggregateKind::Sum, "110"},
                                                               {AggregateKind::Count, "2"}};
    std::optional<Number> result;
    for (const auto& [kind, wanted] : kinds) {
      Answer answer = connection.aggregate(kind, 2, narrow, result);
      expect(fmt::format("aggregate {}", name(kind)), answer, told(result), wanted);
      answer = connection.aggregate(kind, 2, none, result);
      expect(fmt::format("aggregate {} of no row", name(kind)), answer, told(result),
             kind == AggregateKind::Count ? "0" : "null");
    }
  }

  void try_row_changes() {
    transaction(*one_, "change", [&](Connection& connection) {
      const db::Assignment set[] = {{.column = 0, .number = 9}, {.column = 2, .number = 99}};
      std::vector<db::RowChange> changed;
      Answer answer =
          connection.update_where({{.column = 1, .lower = 6, .upper = 6}}, set, changed);
      std::string got;
      for (const db::RowChange& change : changed) {
        got += fmt::format("[{},{},{}]", change.key, told(change.before), told(change.after));
      }
      expect("update tells rows before and after", answer, got, "[2,[2,6,60],[9,6,99]]");
      std::vector<KeyRow> found;
      answer = connection.remove_where({{.column = 1, .lower = 7, .upper = 9}}, found);
      expect("delete tells what it deleted", answer, told(found), "[[3,[3,7,70]]]");
      answer = connection.select({}, found);
      expect("select after update and delete", answer, told(found), "[[1,[1,5,50]][2,[9,6,99]]]");
    });
  }

  Database& database_;
  DriverTrial& report_;
  std::string about_;
  bool timed_ = false;
  Timestamp last_ = kNoTimestamp;  // The commit of the last transaction that wrote.
  std::unique_ptr<Connection> one_;
  std::unique_ptr<Connection> other_;
};

Result<std::unique_ptr<Database>> open_driver(const std::string& command,
                                              std::chrono::milliseconds patience,
                                              const std::string& isolation) {
  db::Url url{.text = "exec:" + command, .scheme = "exec", .path = command};
  url.options.emplace_back("patience_ms", std::to_string(patience.count()));
  if (!isolation.empty()) url.options.emplace_back("isolation", isolation);
  return db::open_database(url);
}

}  // namespace

Result<DriverTrial> try_driver(const std::string& command, std::chrono::milliseconds patience) {
  const auto first = open_driver(command, patience, "");
  if (!first.ok()) return first.error();
  DriverTrial report;
  report.database = (*first)->description();
  constexpr std::string_view kOption = "isolation=";
  for (const std::string& choice : (*first)->isolations()) {
    const std::string isolation = choice.substr(kOption.size());
    const db::Features features = (*first)->features();
    constexpr std::pair<Model, const char*> kModels[] = {
        {Model::Registers, "registers"}, {Model::Lists, "lists"}, {Model::Rows, "rows"}};
    for (const auto& [model, model_name] : kModels) {
      const bool able = model == Model::Registers ? features.registers
                        : model == Model::Lists   ? features.lists
                                                  : features.rows;
      if (!able) continue;
      // A new process for each, as in a run. It must replace the table that is left over.
      const auto opened = open_driver(command, patience, isolation);
      if (!opened.ok()) return opened.error();
      Trial(**opened, report, fmt::format("{}, {}", isolation, model_name))
          .run(model, (*opened)->features().timestamps);
    }
  }
  return report;
}

}  // namespace ouro
