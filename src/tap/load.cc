#include "tap/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace ouro::tapping {
namespace {

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

Result<std::vector<const Table*>> find_tables(const Catalog& catalog, std::string_view wanted) {
  std::vector<const Table*> tables;
  if (wanted == "tables") {
    for (const auto& [oid, table] : catalog.tables()) {
      if (table.refused.empty()) tables.push_back(&table);
    }
    return tables;
  }
  while (!wanted.empty()) {
    const std::string_view name = wanted.substr(0, wanted.find(','));
    wanted.remove_prefix(std::min(wanted.size(), name.size() + 1));
    const std::size_t dot = name.find('.');
    const Table* table = dot == name.npos
                             ? catalog.find_alone("", name)
                             : catalog.find(name.substr(0, dot), name.substr(dot + 1));
    if (table == nullptr) {
      return Error{.what = fmt::format("there is no table '{}' to load, or several", name)};
    }
    if (!table->refused.empty()) {
      return Error{.what = fmt::format("table {} cannot be judged, so not be loaded: {}", name,
                                       table->refused)};
    }
    tables.push_back(table);
  }
  return tables;
}

Status run(db::PostgresLink& link, const std::string& sql, db::PostgresRows* rows = nullptr) {
  const db::Answer answer = link.run(sql.c_str(), rows);
  if (!answer.ok()) return Error{.what = "cannot load the tables: " + answer.reason};
  return {};
}

Result<std::uint64_t> load_table(db::PostgresLink& link, const Table& table, Assembler& assembler) {
  std::vector<LogCell> cells;
  std::string columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool in_key = std::find(table.key.begin(), table.key.end(), i) != table.key.end();
    if (!in_key && !table.columns[i].known) continue;
    cells.push_back({.column = table.columns[i].name, .text = ""});
    columns += (columns.empty() ? "" : ", ") + quoted(table.columns[i].name);
  }
  Status asked = run(link, fmt::format("DECLARE ouro_tap NO SCROLL CURSOR FOR SELECT {} FROM ONLY "
                                       "{}.{}",
                                       columns, quoted(table.schema), quoted(table.name)));
  if (!asked.ok()) return asked.error();
  std::uint64_t count = 0;
  for (;;) {
    db::PostgresRows rows;
    asked = run(link, "FETCH 5000 FROM ouro_tap", &rows);
    if (!asked.ok()) return asked.error();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i].null = rows.null(row, i);
        cells[i].text = rows.text(row, i);
      }
      assembler.load(table, cells);
    }
    if (rows.size() == 0) break;
    count += rows.size();
  }
  assembler.end_load(table);
  asked = run(link, "CLOSE ouro_tap");
  if (!asked.ok()) return asked.error();
  return count;
}

}  // namespace

Result<std::uint64_t> load_tables(db::PostgresLink& link, const std::string& snapshot,
                                  const Catalog& catalog, const std::string& wanted,
                                  Assembler& assembler) {
  const auto tables = find_tables(catalog, wanted);
  if (!tables.ok()) return tables.error();
  Status asked = run(link, fmt::format("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                                       "SET TRANSACTION SNAPSHOT '{}'",
                                       snapshot));
  if (!asked.ok()) return asked.error();
  std::uint64_t count = 0;
  for (const Table* table : *tables) {
    const auto rows = load_table(link, *table, assembler);
    if (!rows.ok()) return rows.error();
    count += *rows;
  }
  asked = run(link, "COMMIT");
  if (!asked.ok()) return asked.error();
  return count;
}

}  // namespace ouro::tapping
