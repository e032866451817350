// The predicate interpreter against SQLite: random predicates and aggregates over random version
// sets, each loaded into a table and asked in SQL (Emme's database oracle).

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "check/predicates/aggregate.h"
#include "history/value_order.h"
#include "ouro/history_builder.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

class Database {
 public:
  Database() {
    sqlite3* opened = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &opened), SQLITE_OK);
    db_.reset(opened);
  }
  // Every row of the answer, its first column as text; "NULL" for null.
  std::vector<std::string> ask(const std::string& sql) {
    std::vector<std::string> out;
    const auto keep = [](void* rows, int, char** cells, char**) {
      static_cast<std::vector<std::string>*>(rows)->emplace_back(cells[0] == nullptr ? "NULL"
                                                                                     : cells[0]);
      return 0;
    };
    char* wrong = nullptr;
    sqlite3_exec(db_.get(), sql.c_str(), keep, &out, &wrong);
    EXPECT_EQ(wrong, nullptr) << wrong << " in " << sql;
    sqlite3_free(wrong);
    return out;
  }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
};

// Column a holds integers, b texts; operands are of their column's type, since SQL dialects differ
// in what they make of others.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  struct Condition {
    PredicateId id;
    std::string sql;
  };
  struct Asked {
    Condition condition;
    OpId op;
    std::string aggregate;  // In SQL; empty: a select.
  };

  History make(std::vector<Asked>& asked, std::string& inserts) {
    b_.begin_txn(b_.session("s"));
    const std::size_t rows = 1 + pick(6);
    std::vector<KeyVersion> set;
    for (std::size_t k = 0; k < rows; ++k) {
      const Value a = chance(0.25) ? Value::null() : number();
      const Value b = chance(0.25) ? Value::null() : word();
      const HistoryBuilder::NamedCell cells[] = {{"a", a}, {"b", b}};
      set.push_back({b_.key(static_cast<std::int64_t>(k)), b_.row(cells)});
      inserts += "INSERT INTO t VALUES(" + std::to_string(k) + "," + sql(a) + "," + sql(b) + ");";
    }
    for (int i = 0; i < 8; ++i) {
      const Condition condition = tree(3);
      const HistoryBuilder::Rows seen{{}, true, set};
      asked.push_back({condition, b_.select(condition.id, seen), ""});
      const auto kind = static_cast<AggregateKind>(pick(4));
      const bool whole = kind == AggregateKind::Count && chance(0.5);
      constexpr const char* kNames[] = {"count", "sum", "min", "max"};
      const OpId op = b_.aggregate(kind, whole ? ColumnId{} : b_.column("a"), condition.id,
                                   Value::unobserved(), seen);
      asked.push_back(
          {condition, op,
           std::string(kNames[static_cast<std::size_t>(kind)]) + (whole ? "(*)" : "(a)")});
    }
    return *std::move(b_).freeze();
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
  Value number() { return b_.integer(static_cast<std::int64_t>(pick(7)) - 3); }
  Value word() {
    constexpr const char* kWords[] = {"", "a", "ab", "b", "B", "é", "1"};
    last_ = kWords[pick(std::size(kWords))];
    return words_[last_] = b_.text(last_);
  }
  std::string sql(Value value) const {
    if (value.is_null()) return "NULL";
    if (value.kind() == ValueKind::Integer) return std::to_string(value.number());
    for (const auto& [text, word] : words_) {
      if (word == value) return "'" + text + "'";
    }
    return "?";
  }

  Condition tree(int depth) {
    const std::size_t which = depth == 0 ? 9 : pick(10);
    if (which < 4) {
      const bool conjunction = which < 2;
      std::vector<PredicateId> children;
      std::string text;
      for (std::size_t i = 0, count = pick(4); i < count; ++i) {
        const Condition child = tree(depth - 1);
        children.push_back(child.id);
        text += (text.empty() ? "" : conjunction ? " AND " : " OR ") + child.sql;
      }
      if (text.empty()) text = conjunction ? "1" : "0";
      return {b_.combine(conjunction ? PredicateKind::And : PredicateKind::Or, children),
              "(" + text + ")"};
    }
    if (which < 6) {
      const Condition child = tree(depth - 1);
      return {b_.combine(PredicateKind::Not, std::vector{child.id}), "(NOT " + child.sql + ")"};
    }
    return comparison();
  }

  Condition comparison() {
    const std::size_t column = pick(3);
    constexpr const char* kColumns[] = {"a", "b", "k"};
    const ColumnId id = column == 2 ? ColumnId{} : b_.column(kColumns[column]);
    const auto operand = [&] {
      if (chance(0.1)) return Value::null();
      return column == 1 ? word() : number();
    };
    const std::string name = kColumns[column];
    const auto kind =
        static_cast<PredicateKind>(static_cast<std::size_t>(PredicateKind::Eq) + pick(9));
    std::vector<Value> operands;
    switch (kind) {
      case PredicateKind::IsNull:
        return {b_.compare(kind, id, operands), "(" + name + " IS NULL)"};
      case PredicateKind::Between:
        operands = {operand(), operand()};
        return {b_.compare(kind, id, operands),
                "(" + name + " BETWEEN " + sql(operands[0]) + " AND " + sql(operands[1]) + ")"};
      case PredicateKind::In: {
        std::string list;
        for (std::size_t i = 0, count = pick(3); i < count; ++i) {
          operands.push_back(operand());
          list += (list.empty() ? "" : ",") + sql(operands.back());
        }
        return {b_.compare(kind, id, operands), "(" + name + " IN (" + list + "))"};
      }
      default:
        break;
    }
    constexpr const char* kSigns[] = {"=", "<>", "<", "<=", ">", ">="};
    operands = {operand()};
    const auto sign = static_cast<std::size_t>(kind) - static_cast<std::size_t>(PredicateKind::Eq);
    return {b_.compare(kind, id, operands),
            "(" + name + " " + kSigns[sign] + " " + sql(operands[0]) + ")"};
  }

  std::mt19937_64 random_;
  HistoryBuilder b_;
  std::string last_;
  std::map<std::string, Value> words_;
};

TEST(SqlitePredicateTest, AgreesOnRandomPredicatesAndAggregates) {
  std::size_t some = 0;  // Selects that left some rows and took some.
  for (std::uint64_t seed = 1; seed <= 1'500 / kSlowdown; ++seed) {
    std::vector<Maker::Asked> asked;
    std::string inserts;
    const History history = Maker(seed).make(asked, inserts);
    Database database;
    database.ask("CREATE TABLE t(k INTEGER, a INTEGER, b TEXT);" + inserts);
    for (const Maker::Asked& question : asked) {
      const PredicateRead& read = history.predicate_read(question.op);
      std::vector<KeyVersion> selected;
      std::vector<std::string> keys;
      for (const KeyVersion& row : history.version_set(read)) {
        if (evaluate(history, read.predicate, row.key, row.value) != Truth::True) continue;
        selected.push_back(row);
        keys.push_back(history.text(history.key_name(row.key)));
      }
      const std::string where = " FROM t WHERE " + question.condition.sql;
      if (question.aggregate.empty()) {
        ASSERT_EQ(keys, database.ask("SELECT k" + where + " ORDER BY k"))
            << "seed " << seed << ": " << inserts << question.condition.sql;
        if (!keys.empty() && keys.size() < history.version_set(read).size()) ++some;
        continue;
      }
      std::string answer = database.ask("SELECT " + question.aggregate + where).at(0);
      if (answer == "NULL") answer = "null";
      ASSERT_EQ(aggregate(history, read, selected), answer)
          << "seed " << seed << ": " << inserts << question.aggregate << question.condition.sql;
    }
  }
  EXPECT_GT(some, 1000 / kSlowdown);
}

}  // namespace
}  // namespace ouro::oracle
