// From the rows that a statement returned to reads of keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tap/catalog.h"
#include "tap/ledger.h"
#include "tap/statement.h"

namespace ouro::tapping {

// A column of a result, as the server describes it.
struct ResultColumn {
  Oid table = 0;   // Zero: it is no column of a table.
  int number = 0;  // Of the column in the table.
};
// The columns that a RowDescription describes; nothing if it cannot be read.
[[nodiscard]] std::optional<std::vector<ResultColumn>> parse_columns(std::string_view body);

struct Parameter {
  Oid type = 0;  // As the client said; zero: it did not.
  bool null = false;
  bool binary = false;
  std::string bytes;
};

// How a statement runs.
struct Binding {
  std::vector<Parameter> parameters;
  std::vector<bool> binary;  // Formats of result columns: none, one for all, or one for each.
};

class ResultRows {
 public:
  // `utf8`: the client's texts are UTF-8.
  ResultRows(const Statement& statement, const std::vector<ResultColumn>& columns,
             const Binding& binding, const Catalog& catalog, bool utf8);

  // Why the rows are not judged; empty: they are.
  [[nodiscard]] const std::string& not_judged() const { return not_judged_; }
  // Whether a table is not in the catalog.
  [[nodiscard]] bool unknown_table() const { return unknown_table_; }
  // Adds the reads of a row, the body of a DataRow.
  void add(std::string_view body, std::vector<Read>& reads);
  // What the rows that were added mean together; nothing if the statement asked for no condition
  // that predicates can say, of a table of which all rows are known. REQUIRES: these were all.
  [[nodiscard]] std::optional<Selection> selection() const;
  // Adds what it means that there was no row.
  void add_absence(std::vector<Read>& reads) const;

 private:
  // Where a part of a primary key comes from.
  struct Part {
    std::size_t place = 0;  // The column of the result that it is in.
    bool fixed = false;     // A condition of the statement says it instead: `text`.
    std::string text;
  };
  struct Source {
    const Table* table = nullptr;
    std::vector<Part> key;
    // Columns of the result, each with the column of the table that it shows.
    std::vector<std::pair<std::size_t, const TableColumn*>> cells;
    bool by_conditions = false;  // The key comes from the conditions, and these say nothing else.
  };

  void add_source(const Statement& statement, const Table& table,
                  const std::vector<ResultColumn>& columns, const Binding& binding);
  [[nodiscard]] std::optional<std::string> text_at(std::size_t place, Oid type) const;
  void add_row(const Source& source, std::vector<Read>& reads);
  // The value that the row at hand shows; nothing if it cannot be told.
  [[nodiscard]] std::optional<std::string> value_at(std::size_t place,
                                                    const TableColumn& column) const;

  void prepare_selection(const Statement& statement, const Binding& binding);
  void add_selected(const std::string& row, const std::vector<std::string>& key);

  std::optional<Selection> selection_;
  // The column that it is about, where the result shows it, or else what it is in all rows.
  const TableColumn* asked_ = nullptr;
  std::optional<std::size_t> asked_place_;
  std::optional<std::string> asked_value_;
  std::string not_judged_;
  bool unknown_table_ = false;
  bool tells_absence_ = false;
  bool utf8_;
  std::vector<bool> binary_;
  std::vector<Source> sources_;
  std::vector<std::optional<std::string_view>> fields_;  // Of the row at hand.
};

// The name of the row that the conditions of a statement select by the primary key of `table`;
// nothing if they do not. `alone`: set to whether there are no other conditions.
[[nodiscard]] std::optional<std::string> row_of_conditions(const Statement& statement,
                                                           const Table& table,
                                                           const Binding& binding, bool& alone);

}  // namespace ouro::tapping
