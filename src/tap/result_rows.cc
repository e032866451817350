#include "tap/result_rows.h"

#include <algorithm>

#include "tap/wire.h"

namespace ouro::tapping {
namespace {

// What `operand` is, as a part of a key of this type.
std::optional<std::string> part_of(const Operand& operand, Oid type, const Binding& binding) {
  if (operand.parameter == 0) return key_part(type, operand.text);
  const auto at = static_cast<std::size_t>(operand.parameter) - 1;
  if (at >= binding.parameters.size() || binding.parameters[at].null) return std::nullopt;
  const Parameter& parameter = binding.parameters[at];
  if (!parameter.binary) return key_part(type, parameter.bytes);
  const auto text = text_of_binary(type, parameter.bytes);
  return text ? key_part(type, *text) : std::nullopt;
}

const Operand* condition_on(const Statement& statement, const std::string& column) {
  const Operand* found = nullptr;
  for (const auto& [name, operand] : statement.equal) {
    if (name == column) found = &operand;
  }
  return found;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::optional<std::vector<ResultColumn>> parse_columns(std::string_view bytes) {
  Body body(bytes);
  std::vector<ResultColumn> columns;
  const int count = body.int16();
  for (int i = 0; i < count && body.ok(); ++i) {
    (void)body.text();
    ResultColumn column;
    column.table = static_cast<Oid>(body.int32());
    column.number = body.int16();
    (void)body.bytes(4 + 2 + 4 + 2);  // Type, size, modifier, format.
    columns.push_back(column);
  }
  if (!body.ok()) return std::nullopt;
  return columns;
}

std::optional<std::string> row_of_conditions(const Statement& statement, const Table& table,
                                             const Binding& binding, bool& alone) {
  std::vector<std::string> parts;
  for (const std::size_t place : table.key) {
    const TableColumn& column = table.columns[place];
    const Operand* operand = condition_on(statement, column.name);
    if (operand == nullptr) return std::nullopt;
    auto part = part_of(*operand, column.type, binding);
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return std::nullopt;
  alone = statement.equal.size() == parts.size();
  return row_name(table.schema, table.name, parts);
}

ResultRows::ResultRows(const Statement& statement, const std::vector<ResultColumn>& columns,
                       const Binding& binding, const Catalog& catalog, bool utf8)
    : not_judged_(statement.not_judged), utf8_(utf8) {
  if (!not_judged_.empty()) return;
  tells_absence_ = statement.tells_absence;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool one = binding.binary.size() == 1;
    binary_.push_back(one                         ? bool{binding.binary[0]}
                      : i < binding.binary.size() ? bool{binding.binary[i]}
                                                  : false);
  }
  std::vector<Oid> tables;
  for (const ResultColumn& column : columns) {
    const bool fresh = std::find(tables.begin(), tables.end(), column.table) == tables.end();
    if (column.table != 0 && column.number > 0 && fresh) tables.push_back(column.table);
  }
  if (tables.empty()) not_judged_ = "returns no columns of a table";
  for (const Oid oid : tables) {
    constexpr Oid kFirstOwn = 16384;  // Smaller ones are of the system.
    const Table* table = catalog.find(oid);
    unknown_table_ |= table == nullptr && oid >= kFirstOwn;
    const std::string why =
        table == nullptr ? oid < kFirstOwn ? "a system table" : "table not known" : table->refused;
    if (why.empty()) {
      add_source(statement, *table, columns, binding);
    } else if (not_judged_.empty()) {
      not_judged_ = table == nullptr ? why : "table " + table->name + ": " + why;
    }
  }
  if (!sources_.empty()) not_judged_.clear();
}

void ResultRows::add_source(const Statement& statement, const Table& table,
                            const std::vector<ResultColumn>& columns, const Binding& binding) {
  Source source;
  source.table = &table;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].table != table.oid) continue;
    const TableColumn* column = table.column(columns[i].number);
    if (column != nullptr) source.cells.emplace_back(i, column);
  }
  const bool single = table.name == statement.table;
  std::size_t fixed = 0;
  for (const std::size_t place : table.key) {
    const TableColumn& column = table.columns[place];
    const auto shown =
        std::find_if(source.cells.begin(), source.cells.end(),
                     [&](const auto& cell) { return cell.second->number == column.number; });
    const Operand* operand = single ? condition_on(statement, column.name) : nullptr;
    auto part = operand == nullptr ? std::nullopt : part_of(*operand, column.type, binding);
    if (part && !utf8_ && !is_ascii(*part)) part.reset();
    const bool is_shown = shown != source.cells.end();
    if (!part && !is_shown) {
      if (not_judged_.empty()) not_judged_ = "the result does not tell which rows it is of";
      return;
    }
    fixed += part ? 1 : 0;
    // What the row shows is what it is; a condition may be of another type.
    source.key.push_back({is_shown ? shown->first : 0, !is_shown, part ? *part : ""});
  }
  source.by_conditions = fixed == table.key.size() && statement.equal.size() == fixed;
  sources_.push_back(std::move(source));
}

std::optional<std::string> ResultRows::text_at(std::size_t place, Oid type) const {
  if (place >= fields_.size() || !fields_[place]) return std::nullopt;
  const std::string_view bytes = *fields_[place];
  if (!utf8_ && !is_ascii(bytes)) return std::nullopt;
  if (binary_[place]) return text_of_binary(type, bytes);
  return std::string(bytes);
}

void ResultRows::add(std::string_view bytes, std::vector<Read>& reads) {
  Body body(bytes);
  const int count = body.int16();
  fields_.clear();
  for (int i = 0; i < count && body.ok(); ++i) {
    const std::int32_t length = body.int32();
    fields_.emplace_back();
    if (length >= 0) fields_.back() = body.bytes(static_cast<std::size_t>(length));
  }
  if (!body.ok() || fields_.size() != binary_.size()) return;
  for (const Source& source : sources_) add_row(source, reads);
}

void ResultRows::add_row(const Source& source, std::vector<Read>& reads) const {
  const Table& table = *source.table;
  std::vector<std::string> key;
  for (std::size_t i = 0; i < source.key.size(); ++i) {
    const Part& part = source.key[i];
    const Oid type = table.columns[table.key[i]].type;
    const auto text = part.fixed ? part.text : text_at(part.place, type);
    const auto normal = text ? key_part(type, *text) : std::nullopt;
    if (!normal) return;  // A row that an outer join did not find, or bytes that are not known.
    key.push_back(*normal);
  }
  const std::string row = row_name(table.schema, table.name, key);
  const auto in_key = [&](const TableColumn& column) {
    return std::any_of(table.key.begin(), table.key.end(), [&](std::size_t place) {
      return table.columns[place].number == column.number;
    });
  };
  bool told = false;
  for (const auto& [place, column] : source.cells) {
    if (!column->known || in_key(*column)) continue;
    std::optional<std::string> value;
    if (fields_[place]) {
      const auto text = text_at(place, column->type);
      if (text) value = value_of_text(column->type, *text);
    } else {
      value = null_value();
    }
    if (!value) continue;
    reads.push_back({table.oid, cell_name(row, column->name), *value});
    told = true;
  }
  if (told) return;
  const TableColumn& first = table.columns[table.key[0]];
  if (const auto value = value_of_text(first.type, key[0])) {
    reads.push_back({table.oid, cell_name(row, first.name), *value});
  }
}

void ResultRows::add_absence(std::vector<Read>& reads) const {
  if (!tells_absence_ || sources_.size() != 1 || !sources_[0].by_conditions) return;
  const Table& table = *sources_[0].table;
  std::vector<std::string> key;
  for (const Part& part : sources_[0].key) key.push_back(part.text);
  const std::string row = row_name(table.schema, table.name, key);
  reads.push_back({table.oid, cell_name(row, table.columns[table.key[0]].name), "null"});
}

}  // namespace ouro::tapping
