// Random small histories of statements, as people write them in SQL: updates and deletes by
// predicate, parts that were rolled back, and values of all kinds. With a replay of statements that
// shares no code with the program: not even what an update is made of, or how numbers compare.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ouro::oracle {

// A value. Numbers are small and have few binary digits, so `double` is exact for all of them.
struct Datum {
  enum class Kind { Null, Boolean, Exact, Float, Text };
  Kind kind = Kind::Null;
  double number = 0;  // Of a boolean: 0 or 1.
  std::string text;
  std::size_t places = 0;  // Of the result of an average: the digits behind the point.
  bool operator==(const Datum&) const = default;
  [[nodiscard]] bool is_number() const { return kind == Kind::Exact || kind == Kind::Float; }
  [[nodiscard]] std::string json() const;
};

using DatumRow = std::map<std::string, Datum>;       // By column.
using TableState = std::map<std::string, DatumRow>;  // By key.

struct Statement {
  enum class Kind { Read, Write, Remove, Select, Aggregate, Update, Delete, RolledBack };
  enum class Form { Before, After, Count };  // What an update or delete tells of its rows.
  Kind kind = Kind::Read;
  std::string key;
  std::optional<DatumRow> row;  // What was read or written; nothing: no row.
  std::size_t predicate = 0;    // Which of those that there are.
  std::size_t function = 0;     // count, sum, min, max or avg;
  std::string column;           // of this column; empty: of whole rows.
  Datum result;
  std::size_t assignment = 0;
  int unique = 0;  // What the column u is set to by an update; zero: nothing.
  Form form = Form::Before;
  TableState rows;
  std::vector<Statement> parts;
  [[nodiscard]] std::string json() const;
};

struct StatementTxn {
  std::string session, status;
  std::int64_t start = 0, commit = 0;
  std::vector<Statement> statements;
};

struct StatementShape {
  std::size_t txns = 3;  // At least, and at most one more.
  double stale = 0.3;    // How many transactions see an older state.
  double noise = 0.04;   // How many results are wrong.
  double rolled_back = 0.2;
  bool unique = false;  // Each version of a row is different, and no row is deleted; with
                        // version orders.
};

class RandomStatements {
 public:
  RandomStatements(std::uint64_t seed, const StatementShape& shape);
  [[nodiscard]] std::string text() const;
  // Whether some order of all committed and some unknown transactions gives every statement,
  // executed one after the other, what it returned.
  [[nodiscard]] bool serializable() const;
  // How many statements of this kind there are, those in rolled-back parts included.
  [[nodiscard]] std::size_t count(Statement::Kind kind) const;

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
  Datum datum();
  DatumRow row();
  void txn(std::size_t number);
  Statement statement(TableState& state, std::size_t depth, bool& dirty);
  Statement change(TableState& state, bool deletes);
  Statement part(TableState state, std::size_t depth, bool dirty);
  void falsify(Statement& statement);

  std::mt19937_64 random_;
  StatementShape shape_;
  int next_ = 0;
  std::vector<TableState> states_{1};  // After each commit.
  std::vector<StatementTxn> txns_;
  std::map<std::string, std::vector<std::string>> versions_;  // By key, as JSON.
};

}  // namespace ouro::oracle
