#include "tap/result_rows.h"

#include <algorithm>

#include "tap/wire.h"

namespace ouro::tapping {
namespace {

// The text of `operand`, as something that a column of this type is compared with.
std::optional<std::string> operand_text(const Operand& operand, Oid type, const Binding& binding) {
  if (operand.parameter == 0) return operand.text;
  const auto at = static_cast<std::size_t>(operand.parameter) - 1;
  if (at >= binding.parameters.size() || binding.parameters[at].null) return std::nullopt;
  const Parameter& parameter = binding.parameters[at];
  if (!parameter.binary) return parameter.bytes;
  if (!reads_alike(parameter.type, type)) return std::nullopt;
  return text_of_binary(type, parameter.bytes);
}

// What `operand` is, as a part of a key of this type.
std::optional<std::string> part_of(const Operand& operand, Oid type, const Binding& binding) {
  const auto text = operand_text(operand, type, binding);
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
  prepare_selection(statement, binding);
}

void ResultRows::prepare_selection(const Statement& statement, const Binding& binding) {
  const bool one = sources_.size() == 1 && statement.where && sources_[0].table->loaded &&
                   !sources_[0].by_conditions;
  if (!one || sources_[0].table->name != statement.table) return;
  const Source& source = sources_[0];
  const Table& table = *source.table;
  const TableColumn& key = table.columns[table.key[0]];
  const Where& where = *statement.where;
  const TableColumn* column = where.column.empty() ? &key : table.column(where.column);
  // Of the key's other columns there are no cells.
  const bool usable = column != nullptr && column->known && column->bytewise &&
                      std::none_of(table.key.begin() + 1, table.key.end(), [&](std::size_t place) {
                        return &table.columns[place] == column;
                      });
  if (!usable) return;
  asked_ = column;
  for (const auto& [place, shown] : source.cells) {
    if (shown == column) asked_place_ = place;
  }
  const auto value_of = [&](const Operand& operand) -> std::optional<std::string> {
    const auto text = operand_text(operand, column->type, binding);
    if (text && !utf8_ && !is_ascii(*text)) return std::nullopt;
    return text ? operand_of_text(column->type, *text) : std::nullopt;
  };
  const Condition& condition = where.condition;
  if (condition.kind == Condition::Kind::Compare && condition.sign == "eq") {
    const auto text = operand_text(condition.operands[0], column->type, binding);
    asked_value_ = text ? value_of_text(column->type, *text) : std::nullopt;
  }
  const auto predicate = predicate_text(condition, {.name = table.label(*column),
                                                    .value_of = value_of,
                                                    .ordered = is_ordered(column->type),
                                                    .textual = has_patterns(column->type)});
  if (!predicate) return;
  selection_ = Selection{table.oid, table.label(*column), *predicate, {}};
}

// Adds the row at hand to the selection; if it does not show what it holds, there is none.
void ResultRows::add_selected(const std::string& row, const std::vector<std::string>& key) {
  if (!selection_) return;
  const Table& table = *sources_[0].table;
  const bool is_key = asked_ == &table.columns[table.key[0]];
  const auto value = is_key         ? value_of_text(asked_->type, key[0])
                     : asked_place_ ? value_at(*asked_place_, *asked_)
                                    : asked_value_;
  if (value) {
    selection_->rows.push_back(
        {table.oid, cell_name(row, asked_->name), *value, selection_->column});
  } else {
    selection_.reset();
  }
}

std::optional<Selection> ResultRows::selection() const {
  return not_judged_.empty() ? selection_ : std::nullopt;
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

std::optional<std::string> ResultRows::value_at(std::size_t place,
                                                const TableColumn& column) const {
  if (!fields_[place]) return null_value();
  const auto text = text_at(place, column.type);
  return text ? value_of_text(column.type, *text) : std::nullopt;
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
  if (!body.ok() || fields_.size() != binary_.size()) return selection_.reset();
  for (const Source& source : sources_) add_row(source, reads);
}

void ResultRows::add_row(const Source& source, std::vector<Read>& reads) {
  const Table& table = *source.table;
  std::vector<std::string> key;
  for (std::size_t i = 0; i < source.key.size(); ++i) {
    const Part& part = source.key[i];
    const Oid type = table.columns[table.key[i]].type;
    const auto text = part.fixed ? part.text : text_at(part.place, type);
    const auto normal = text ? key_part(type, *text) : std::nullopt;
    // A row that an outer join did not find, or bytes that are not known.
    if (!normal) return selection_.reset();
    key.push_back(*normal);
  }
  const std::string row = row_name(table.schema, table.name, key);
  add_selected(row, key);
  const auto in_key = [&](const TableColumn& column) {
    return std::any_of(table.key.begin(), table.key.end(), [&](std::size_t place) {
      return table.columns[place].number == column.number;
    });
  };
  bool told = false;
  for (const auto& [place, column] : source.cells) {
    if (!column->known || in_key(*column)) continue;
    const auto value = value_at(place, *column);
    if (!value) continue;
    reads.push_back({table.oid, cell_name(row, column->name), *value, table.label(*column)});
    told = true;
  }
  if (told) return;
  const TableColumn& first = table.columns[table.key[0]];
  if (const auto value = value_of_text(first.type, key[0])) {
    reads.push_back({table.oid, cell_name(row, first.name), *value, table.label(first)});
  }
}

void ResultRows::add_absence(std::vector<Read>& reads) const {
  if (!tells_absence_ || sources_.size() != 1 || !sources_[0].by_conditions) return;
  const Table& table = *sources_[0].table;
  std::vector<std::string> key;
  for (const Part& part : sources_[0].key) key.push_back(part.text);
  const std::string row = row_name(table.schema, table.name, key);
  const TableColumn& first = table.columns[table.key[0]];
  reads.push_back({table.oid, cell_name(row, first.name), "null", table.label(first)});
}

}  // namespace ouro::tapping
