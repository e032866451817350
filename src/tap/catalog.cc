#include "tap/catalog.h"

#include <algorithm>
#include <charconv>

namespace ouro::tapping {
namespace {

template <class T>
T catalog_number(std::string_view text) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

const TableColumn* Table::column(int number) const {
  for (const TableColumn& column : columns) {
    if (column.number == number) return &column;
  }
  return nullptr;
}

const TableColumn* Table::column(std::string_view called) const {
  for (const TableColumn& column : columns) {
    if (column.name == called) return &column;
  }
  return nullptr;
}

std::string Table::label(const TableColumn& column) const {
  return loaded ? column_label(schema, name, column.name) : "";
}

bool Table::says_same(const Table& other) const {
  return signature == other.signature && name == other.name && schema == other.schema &&
         refused == other.refused;
}

// A table cannot be judged if its changes are not all in the log under its name with the key of
// the row, or if a client may not see rows that are there. The last column is what the texts of
// values depend on. Whoever alters a table writes its rows of the server's own tables anew, so xmin
// tells also of what was altered and altered back; statistics and indexes do not concern it.
std::string Catalog::query() {
  return "SELECT c.oid::bigint, n.nspname, c.relname, "
         "CASE WHEN c.relkind = 'p' THEN 'partitioned' WHEN c.relkind <> 'r' THEN 'no ordinary "
         "table' "
         "WHEN c.relpersistence <> 'p' THEN "
         "'not logged' WHEN c.relrowsecurity THEN 'row security' WHEN c.relhassubclass THEN "
         "'has child tables' WHEN c.relhasrules THEN 'has rules' WHEN c.relreplident NOT IN "
         "('d','f') THEN 'replica identity is not the primary key' WHEN i.indrelid IS NULL THEN "
         "'no primary key' WHEN NOT i.indimmediate THEN 'primary key is deferrable' ELSE '' END, "
         "concat_ws('.', c.relfilenode, c.xmin, (SELECT k.oid FROM pg_catalog.pg_constraint k "
         "WHERE k.conrelid = c.oid AND k.contype = 'p')), a.attnum::int, a.attname, "
         "CASE WHEN a.attgenerated = 'v' THEN 0 "
         "WHEN t.typtype = 'e' THEN 1 WHEN t.typtype = 'd' THEN t.typbasetype::bigint ELSE "
         "t.oid::bigint END, CASE WHEN array_position(i.indkey::int2[], a.attnum) < "
         "i.indnkeyatts THEN array_position(i.indkey::int2[], a.attnum) ELSE -1 END, "
         "COALESCE(l.collisdeterministic, true), a.atttypid::text || '.' || a.atttypmod::text || "
         "'.' || a.xmin::text || "
         "COALESCE((SELECT '.' || md5(string_agg(e.xmin || e.enumlabel, ',' ORDER BY e.oid)) FROM "
         "pg_catalog.pg_enum e WHERE e.enumtypid = CASE t.typtype WHEN 'd' THEN t.typbasetype "
         "ELSE t.oid END), '') "
         "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
         "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT "
         "a.attisdropped JOIN pg_catalog.pg_type t ON t.oid = a.atttypid LEFT JOIN "
         "pg_catalog.pg_collation l ON l.oid = a.attcollation LEFT JOIN pg_catalog.pg_index i ON "
         "i.indrelid = c.oid AND i.indisprimary WHERE c.relkind IN ('r','p','v','m','f') AND "
         "n.nspname NOT "
         "IN ('pg_catalog','information_schema') AND n.nspname !~ '^pg_' ORDER BY c.oid, a.attnum";
}

void Catalog::add(const std::vector<std::string>& row) {
  if (row.size() < 11) return;
  const Oid oid = catalog_number<Oid>(row[0]);
  const auto [found, fresh] = tables_.try_emplace(oid);
  Table& table = found->second;
  if (fresh) {
    table.oid = oid;
    table.schema = row[1];
    table.name = row[2];
    table.refused = row[3];
    table.signature = row[4];
    by_name_[table.name].push_back(oid);
  }
  TableColumn column;
  column.name = row[6];
  column.number = catalog_number<int>(row[5]);
  column.type = catalog_number<Oid>(row[7]);
  column.known = is_known_type(column.type);
  column.bytewise = row[9] == "t";
  table.signature += ' ' + row[5] + row[6] + row[10];
  const int place = catalog_number<int>(row[8]);
  if (place >= 0) {
    const auto at = static_cast<std::size_t>(place);
    if (table.key.size() <= at) table.key.resize(at + 1);
    table.key[at] = table.columns.size();
    if (table.refused.empty() && (!key_part(column.type, "0").has_value() &&
                                  !key_part(column.type, std::string(32, '0')).has_value())) {
      table.refused = "type of the primary key";
    }
    if (table.refused.empty() && row[9] != "t") table.refused = "collation of the primary key";
  }
  table.columns.push_back(std::move(column));
}

void Catalog::set_loaded(Oid oid) {
  const auto found = tables_.find(oid);
  if (found != tables_.end()) found->second.loaded = true;
}

const Table* Catalog::find(Oid oid) const {
  const auto found = tables_.find(oid);
  return found == tables_.end() ? nullptr : &found->second;
}

const Table* Catalog::find(std::string_view schema, std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return nullptr;
  for (const Oid oid : found->second) {
    const Table* table = find(oid);
    if (table->schema == schema) return table;
  }
  return nullptr;
}

const Table* Catalog::find_alone(std::string_view schema, std::string_view name) const {
  if (!schema.empty()) return find(schema, name);
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() || found->second.size() != 1 ? nullptr : find(found->second[0]);
}

}  // namespace ouro::tapping
