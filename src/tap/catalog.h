// The tables of a database, as far as they can be judged.
//
// Thread safety: a Catalog does not change; threads share it by pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ouro/result.h"
#include "tap/values.h"

namespace ouro::tapping {

struct TableColumn {
  std::string name;
  int number = 0;  // As the server counts: from 1, with gaps where columns were dropped.
  Oid type = 0;
  bool known = false;    // Whether its values can be compared.
  bool bytewise = true;  // Texts are equal if their bytes are.
};

struct Table {
  Oid oid = 0;
  std::string schema, name;
  std::vector<TableColumn> columns;
  std::vector<std::size_t> key;  // Places in `columns`, in the order of the primary key.
  std::string refused;           // Why it cannot be judged; empty: it can.
  std::string signature;         // Changes when the table is rewritten or defined anew.
  bool loaded = false;           // All rows are known, so that predicates can be judged.

  // Whether `other`, which was read at another time, is the same table, and was all the time.
  [[nodiscard]] bool says_same(const Table& other) const;
  [[nodiscard]] const TableColumn* column(int number) const;
  [[nodiscard]] const TableColumn* column(std::string_view called) const;
  // What predicates call the column; empty if the table is not loaded.
  [[nodiscard]] std::string label(const TableColumn& column) const;
};

class Catalog {
 public:
  // The query whose rows add() takes.
  [[nodiscard]] static std::string query();
  // A row of it: one column of a table.
  void add(const std::vector<std::string>& row);

  [[nodiscard]] const Table* find(Oid oid) const;
  [[nodiscard]] const Table* find(std::string_view schema, std::string_view name) const;
  // Without a schema: the only table of that name; null if there are several.
  [[nodiscard]] const Table* find_alone(std::string_view schema, std::string_view name) const;
  [[nodiscard]] const std::unordered_map<Oid, Table>& tables() const { return tables_; }
  void set_loaded(Oid oid);

 private:
  std::unordered_map<Oid, Table> tables_;
  std::unordered_map<std::string, std::vector<Oid>> by_name_;
};

}  // namespace ouro::tapping
