#include "tests/statements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

namespace ouro::oracle {
namespace {

using Kind = Datum::Kind;

Datum exact(double number) { return {Kind::Exact, number, {}, 0}; }
Datum floating(double number) { return {Kind::Float, number, {}, 0}; }
Datum boolean(bool truth) { return {Kind::Boolean, truth ? 1.0 : 0.0, {}, 0}; }
Datum word(std::string text) { return {Kind::Text, 0, std::move(text), 0}; }

std::string printed(double number, int places) {
  char digits[64];
  std::snprintf(digits, sizeof(digits), "%.*f", places, number);
  return digits;
}

// Below zero, zero or above; nothing if they do not compare.
std::optional<int> order(const Datum& a, const Datum& b) {
  if (a.is_number() && b.is_number()) return a.number < b.number ? -1 : a.number > b.number;
  if (a.kind != b.kind || a.kind == Kind::Null) return std::nullopt;
  if (a.kind == Kind::Text) return a.text.compare(b.text);
  return static_cast<int>(a.number) - static_cast<int>(b.number);
}

Datum calculated(char step, const Datum& a, const Datum& b) {
  if (!a.is_number() || !b.is_number()) return {};
  const double result = step == '+'   ? a.number + b.number
                        : step == '-' ? a.number - b.number
                                      : a.number * b.number;
  const bool floats = a.kind == Kind::Float || b.kind == Kind::Float;
  return floats ? floating(result) : exact(result);
}

using Truth3 = std::optional<bool>;
Truth3 when(std::optional<int> compared, const std::function<bool(int)>& says) {
  return compared ? Truth3(says(*compared)) : std::nullopt;
}
Truth3 either(Truth3 a, Truth3 b) {
  if (a == true || b == true) return true;
  return a && b ? Truth3(false) : std::nullopt;
}
Truth3 both(Truth3 a, Truth3 b) {
  if (a == false || b == false) return false;
  return a && b ? Truth3(true) : std::nullopt;
}

struct NamedPredicate {
  const char* json;
  std::function<Truth3(const std::string& key, const DatumRow& row)> truth;
};

const std::vector<NamedPredicate>& predicates() {
  static const auto equal = [](int sign) { return sign == 0; };
  static const auto less = [](int sign) { return sign < 0; };
  static const auto least = [](int sign) { return sign >= 0; };
  static const auto most = [](int sign) { return sign <= 0; };
  static const std::vector<NamedPredicate> kAll = {
      {"true", [](auto&, auto&) { return true; }},
      {R"({"ge":["c",1]})",
       [](auto&, auto& row) { return when(order(row.at("c"), exact(1)), least); }},
      {R"({"lt":["c",{"col":"d"}]})",
       [](auto&, auto& row) { return when(order(row.at("c"), row.at("d")), less); }},
      {R"({"eq":[{"+":["c",0.50]},{"col":"d"}]})",
       [](auto&, auto& row) {
         return when(order(calculated('+', row.at("c"), exact(0.5)), row.at("d")), equal);
       }},
      {R"({"like":["d","a%"]})",
       [](auto&, auto& row) -> Truth3 {
         if (row.at("d").kind != Kind::Text) return std::nullopt;
         return row.at("d").text[0] == 'a';
       }},
      {R"({"not":{"like":["c","_b\\%"]}})",
       [](auto&, auto& row) -> Truth3 {
         const std::string& text = row.at("c").text;
         if (row.at("c").kind != Kind::Text) return std::nullopt;
         return !(text.size() == 3 && text[1] == 'b' && text[2] == '%');
       }},
      {R"({"in":["c",[{"@float":0.5},true,1.5]]})",
       [](auto&, auto& row) {
         return either(when(order(row.at("c"), floating(0.5)), equal),
                       either(when(order(row.at("c"), boolean(true)), equal),
                              when(order(row.at("c"), exact(1.5)), equal)));
       }},
      {R"({"gt":[{"*":["c",2]},{"-":["d",{"@float":1}]}]})",
       [](auto&, auto& row) {
         return when(order(calculated('-', row.at("d"), floating(1)),
                           calculated('*', row.at("c"), exact(2))),
                     less);
       }},
      {R"({"or":[{"is_null":"c"},{"eq":["d",false]}]})",
       [](auto&, auto& row) {
         return either(row.at("c").kind == Kind::Null,
                       when(order(row.at("d"), boolean(false)), equal));
       }},
      {R"({"eq":["@key","a"]})", [](auto& key, auto&) { return key == "a"; }},
      {R"({"between":["c",{"@float":0.5},1]})",
       [](auto&, auto& row) {
         return both(when(order(row.at("c"), floating(0.5)), least),
                     when(order(row.at("c"), exact(1)), most));
       }},
      {R"({"ne":["c",1]})",
       [](auto&, auto& row) {
         return when(order(row.at("c"), exact(1)), [](int sign) { return sign != 0; });
       }},
  };
  return kAll;
}

struct NamedAssignment {
  const char* json;  // Without braces.
  std::function<void(const DatumRow& was, DatumRow& now)> assign;
};

const std::vector<NamedAssignment>& assignments() {
  static const std::vector<NamedAssignment> kAll = {
      {R"("c":1)", [](auto&, auto& now) { now["c"] = exact(1); }},
      {R"("c":{"+":["c",1.0]})",
       [](auto& was, auto& now) { now["c"] = calculated('+', was.at("c"), exact(1)); }},
      {R"("d":{"col":"c"},"c":"ab%")",
       [](auto& was, auto& now) {
         now["d"] = was.at("c");
         now["c"] = word("ab%");
       }},
      {R"("c":{"*":["c",{"@float":0.5}]},"d":null)",
       [](auto& was, auto& now) {
         now["c"] = calculated('*', was.at("c"), floating(0.5));
         now["d"] = {};
       }},
      {R"("d":{"const":"a"},"c":{"col":"d"})",
       [](auto& was, auto& now) {
         now["d"] = word("a");
         now["c"] = was.at("d");
       }},
      {R"("c":{"-":["d","c"]})",
       [](auto& was, auto& now) { now["c"] = calculated('-', was.at("d"), was.at("c")); }},
      {R"("d":true)", [](auto&, auto& now) { now["d"] = boolean(true); }},
  };
  return kAll;
}

constexpr const char* kFunctions[] = {"count", "sum", "min", "max", "avg"};

Datum least_or_greatest(const std::vector<Datum>& values, bool least) {
  const auto before = [](const Datum& a, const Datum& b) {
    const auto family = [](const Datum& datum) {
      return datum.kind == Kind::Boolean ? 0 : datum.is_number() ? 1 : 2;
    };
    const int sign = order(a, b).value_or(family(a) - family(b));
    return sign != 0 ? sign < 0 : a.kind == Kind::Exact && b.kind == Kind::Float;
  };
  return least ? *std::min_element(values.begin(), values.end(), before)
               : *std::max_element(values.begin(), values.end(), before);
}

Datum aggregated(const Statement& statement, const TableState& rows) {
  std::vector<Datum> values;
  for (const auto& [key, row] : rows) {
    const Datum value = statement.column.empty() ? word(key) : row.at(statement.column);
    if (value.kind != Kind::Null) values.push_back(value);
  }
  const std::string function = kFunctions[statement.function];
  if (function == "count") return exact(static_cast<double>(values.size()));
  if (values.empty()) return {};
  if (function == "min" || function == "max") return least_or_greatest(values, function == "min");
  Datum sum = exact(0);
  for (const Datum& value : values) sum = calculated('+', sum, value);
  if (function == "sum" || sum.kind == Kind::Null) return sum;
  sum.number /= static_cast<double>(values.size());
  if (sum.kind == Kind::Exact) sum.places = 3;
  return sum;
}

// Whether `given` may have been recorded for `right`. An average was rounded to its last digit, and
// so was an exact result for floating-point numbers.
bool fits_result(std::size_t function, const Datum& given, const Datum& right) {
  const bool average = function == 4;
  const bool adds = average || function == 1;
  if (!adds || !right.is_number()) {
    return given.kind == right.kind && given.text == right.text && given.number == right.number;
  }
  if (!given.is_number()) return false;
  const bool floats = given.kind == Kind::Float || right.kind == Kind::Float;
  double allowed = floats ? 1e-9 : 0;
  if (given.kind == Kind::Exact && (average || floats)) {
    const std::string digits = given.json();
    const std::size_t point = digits.find('.');
    const bool whole = point == std::string::npos;
    const double behind = whole ? 0 : static_cast<double>(digits.size() - point - 1);
    if (average || !whole) allowed += 0.5 * std::pow(10, -behind) + 1e-12;
  }
  return std::fabs(given.number - right.number) <= allowed;
}

TableState selected(const Statement& statement, const TableState& state) {
  TableState rows;
  for (const auto& [key, row] : state) {
    if (predicates()[statement.predicate].truth(key, row) == true) rows[key] = row;
  }
  return rows;
}

DatumRow assigned(const Statement& statement, const DatumRow& was) {
  DatumRow now = was;
  assignments()[statement.assignment].assign(was, now);
  if (statement.unique != 0) now["u"] = exact(statement.unique);
  return now;
}

// Whether all columns are equal: by size, if they are numbers.
bool equal_rows(const DatumRow& a, const DatumRow& b) {
  return std::all_of(a.begin(), a.end(), [&](const auto& cell) {
    const Datum& other = b.at(cell.first);
    return cell.second == other || order(cell.second, other) == 0;
  });
}

// Whether an update or delete found what it says; does to `state` what it says that it did.
bool change_fits(const Statement& statement, TableState& state) {
  const TableState found = selected(statement, state);
  const bool deletes = statement.kind == Statement::Kind::Delete;
  const auto same_keys = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::equal(found.begin(), found.end(), statement.rows.begin(), statement.rows.end(),
                  same_keys)) {
    return false;
  }
  for (const auto& [key, row] : statement.rows) {
    const bool after = statement.form == Statement::Form::After;
    if (!after && found.at(key) != row) return false;
    if (after && !deletes && !equal_rows(row, assigned(statement, found.at(key)))) return false;
    if (deletes) {
      state.erase(key);
    } else {
      state[key] = after ? row : assigned(statement, row);
    }
  }
  return true;
}

// Whether the statement returns what was recorded, and does to `state` what it did.
bool replayed(const Statement& statement, TableState& state) {
  switch (statement.kind) {
    case Statement::Kind::Read: {
      const auto found = state.find(statement.key);
      return statement.row ? found != state.end() && found->second == *statement.row
                           : found == state.end();
    }
    case Statement::Kind::Write:
      state[statement.key] = *statement.row;
      return true;
    case Statement::Kind::Remove:
      state.erase(statement.key);
      return true;
    case Statement::Kind::Select:
      return selected(statement, state) == statement.rows;
    case Statement::Kind::Aggregate:
      return fits_result(statement.function, statement.result,
                         aggregated(statement, selected(statement, state)));
    case Statement::Kind::RolledBack: {
      TableState inner = state;
      return std::all_of(statement.parts.begin(), statement.parts.end(),
                         [&](const Statement& part) { return replayed(part, inner); });
    }
    default:
      return change_fits(statement, state);
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

std::string json_of(const DatumRow& row) {
  std::vector<std::string> cells;
  for (const auto& [name, value] : row) cells.push_back('"' + name + "\":" + value.json());
  return '{' + joined(cells) + '}';
}

std::string json_of(const TableState& rows, bool keys_only = false) {
  std::vector<std::string> parts;
  for (const auto& [key, row] : rows) {
    const std::string name = '"' + key + '"';
    parts.push_back(keys_only ? name : '[' + name + ',' + json_of(row) + ']');
  }
  return '[' + joined(parts) + ']';
}

std::string json_of(const std::vector<Statement>& statements) {
  std::vector<std::string> parts;
  for (const Statement& statement : statements) parts.push_back(statement.json());
  return '[' + joined(parts) + ']';
}

std::string change_json(const Statement& s) {
  const bool deletes = s.kind == Statement::Kind::Delete;
  std::string rows = json_of(s.rows);
  if (s.form == Statement::Form::After) {
    rows = deletes ? "{\"keys\":" + json_of(s.rows, true) + '}' : "{\"new\":" + rows + '}';
  } else if (s.form == Statement::Form::Count && s.rows.empty()) {
    rows = "0";
  }
  const std::string condition = predicates()[s.predicate].json;
  if (deletes) return "[\"delete\"," + condition + ',' + rows + ']';
  const std::string unique = s.unique == 0 ? "" : ",\"u\":" + std::to_string(s.unique);
  return "[\"update\"," + condition + ",{" + assignments()[s.assignment].json + unique + "}," +
         rows + ']';
}

}  // namespace

std::string Datum::json() const {
  switch (kind) {
    case Kind::Null:
      return "null";
    case Kind::Boolean:
      return number != 0 ? "true" : "false";
    case Kind::Text:
      return '"' + text + '"';
    case Kind::Float:
      return "{\"@float\":" + printed(number, 20) + '}';
    default:
      return printed(number, places > 0                     ? static_cast<int>(places)
                             : number == std::floor(number) ? 0
                                                            : 8);
  }
}

std::string Statement::json() const {
  const std::string name = '"' + key + '"';
  const std::string condition = predicates()[predicate].json;
  switch (kind) {
    case Kind::Read:
      return "[\"r\"," + name + ',' + (row ? json_of(*row) : "null") + ']';
    case Kind::Write:
      return "[\"w\"," + name + ',' + json_of(*row) + ']';
    case Kind::Remove:
      return "[\"d\"," + name + ']';
    case Kind::Select:
      return "[\"select\"," + condition + ',' + json_of(rows) + ']';
    case Kind::Aggregate:
      return std::string("[\"aggregate\",\"") + kFunctions[function] + "\"," +
             (column.empty() ? "null" : '"' + column + '"') + ',' + condition + ',' +
             result.json() + ']';
    case Kind::RolledBack:
      return "[\"rolled-back\"," + json_of(parts) + ']';
    default:
      return change_json(*this);
  }
}

// ---- making ----

RandomStatements::RandomStatements(std::uint64_t seed, const StatementShape& shape)
    : random_(seed), shape_(shape) {
  const std::size_t count = shape_.txns + pick(2);
  for (std::size_t number = 1; number <= count; ++number) txn(number);
}

Datum RandomStatements::datum() {
  const std::array kAll = {exact(0),    exact(1),      exact(1),       exact(1.5), floating(0.5),
                           floating(1), boolean(true), boolean(false), word("a"),  word("ab%"),
                           word("xb%"), Datum{},       exact(0.5),     exact(2)};
  return kAll[pick(kAll.size())];
}

DatumRow RandomStatements::row() {
  DatumRow out = {{"c", datum()}, {"d", datum()}};
  if (shape_.unique) out["u"] = exact(++next_);
  return out;
}

void RandomStatements::txn(std::size_t number) {
  StatementTxn txn;
  const std::size_t snapshot = chance(shape_.stale) ? pick(states_.size()) : states_.size() - 1;
  txn.session = std::to_string(pick(3));
  txn.start = static_cast<std::int64_t>(10 * snapshot + 5);
  txn.commit = static_cast<std::int64_t>(10 * number);
  const std::size_t status = pick(14);
  txn.status = status == 0 ? "aborted" : status == 1 && !shape_.unique ? "unknown" : "committed";
  TableState state = states_[snapshot];
  const TableState before = state;
  bool dirty = false;
  for (std::size_t i = 1 + pick(3); i > 0; --i) {
    txn.statements.push_back(statement(state, 0, dirty));
  }
  txns_.push_back(txn);
  TableState next = states_.back();
  if (txn.status == "aborted") {
    states_.push_back(next);
    return;
  }
  for (const std::string key : {"a", "b"}) {
    if (!state.contains(key)) {
      if (before.contains(key)) next.erase(key);
      continue;
    }
    if (before.contains(key) && before.at(key) == state.at(key)) continue;
    next[key] = state.at(key);
    versions_[key].push_back(json_of(state.at(key)));
  }
  states_.push_back(next);
}

// `dirty`: the rolled-back parts around it have a write before it.
Statement RandomStatements::statement(TableState& state, std::size_t depth, bool& dirty) {
  if (depth < 2 && chance(shape_.rolled_back)) return part(state, depth + 1, dirty);
  Statement out;
  out.key = pick(2) == 0 ? "a" : "b";
  out.predicate = pick(predicates().size());
  const std::size_t kind = dirty ? pick(4) : pick(10);
  if (kind == 0 && !shape_.unique) {
    out.kind = Statement::Kind::Remove;
  } else if (kind <= 2) {
    out.kind = Statement::Kind::Write;
    out.row = row();
  } else if (kind == 3) {
    if (state.contains(out.key)) out.row = state.at(out.key);
  } else if (kind <= 5) {
    out.kind = Statement::Kind::Select;
    out.rows = selected(out, state);
  } else if (kind <= 7) {
    out.kind = Statement::Kind::Aggregate;
    out.function = pick(std::size(kFunctions));
    out.column = pick(4) == 0 ? "d" : "c";
    if (out.function == 0 && pick(2) == 0) out.column.clear();
    out.result = aggregated(out, selected(out, state));
  } else {
    out = change(state, kind == 9 && !shape_.unique);
    dirty |= depth > 0 && !out.rows.empty();
    return out;
  }
  dirty |= depth > 0 && (out.kind == Statement::Kind::Remove || out.kind == Statement::Kind::Write);
  replayed(out, state);
  if (chance(shape_.noise)) falsify(out);
  return out;
}

Statement RandomStatements::change(TableState& state, bool deletes) {
  Statement out;
  out.kind = deletes ? Statement::Kind::Delete : Statement::Kind::Update;
  out.predicate = pick(predicates().size());
  out.assignment = pick(assignments().size());
  if (shape_.unique) out.unique = ++next_;
  out.form = static_cast<Statement::Form>(pick(3));
  const TableState found = selected(out, state);
  out.rows = found;
  if (!deletes && out.form == Statement::Form::After) {
    for (auto& [key, row] : out.rows) row = assigned(out, row);
  }
  replayed(out, state);
  if (!shape_.unique && chance(shape_.noise)) falsify(out);
  return out;
}

Statement RandomStatements::part(TableState state, std::size_t depth, bool dirty) {
  Statement out;
  out.kind = Statement::Kind::RolledBack;
  for (std::size_t i = 1 + pick(3); i > 0; --i) {
    out.parts.push_back(statement(state, depth, dirty));
  }
  return out;
}

// Makes what was returned wrong, perhaps.
void RandomStatements::falsify(Statement& statement) {
  const bool whole = statement.form != Statement::Form::After;
  if (statement.kind == Statement::Kind::Read && statement.row) {
    (*statement.row)["c"] = datum();
  } else if (statement.kind == Statement::Kind::Aggregate) {
    statement.result = datum();
    statement.result.places = 0;
  } else if (statement.rows.empty() || statement.row) {
    return;
  } else if (pick(2) == 0) {
    statement.rows.erase(statement.rows.begin());
  } else if (whole || statement.kind == Statement::Kind::Update) {
    statement.rows.begin()->second[pick(2) == 0 ? "c" : "d"] = datum();
  }
}

// ---- telling ----

std::string RandomStatements::text() const {
  std::string out;
  for (const StatementTxn& txn : txns_) {
    out += "{\"session\":\"" + txn.session + "\",\"status\":\"" + txn.status +
           "\",\"start_ts\":" + std::to_string(txn.start) +
           ",\"commit_ts\":" + std::to_string(txn.commit) + ",\"ops\":" + json_of(txn.statements) +
           "}\n";
  }
  if (!shape_.unique) return out;
  for (const auto& [key, versions] : versions_) {
    out += "{\"key\":\"" + key + "\",\"versions\":[" + joined(versions) + "],\"complete\":true}\n";
  }
  return out;
}

bool RandomStatements::serializable() const {
  std::vector<std::size_t> committed, unknown;
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    if (txns_[t].status == "committed") committed.push_back(t);
    if (txns_[t].status == "unknown") unknown.push_back(t);
  }
  const auto fits = [&](const std::vector<std::size_t>& order) {
    TableState state;
    return std::all_of(order.begin(), order.end(), [&](std::size_t t) {
      return std::all_of(txns_[t].statements.begin(), txns_[t].statements.end(),
                         [&](const Statement& statement) { return replayed(statement, state); });
    });
  };
  for (std::size_t mask = 0; mask < (std::size_t{1} << unknown.size()); ++mask) {
    std::vector<std::size_t> order = committed;
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      if ((mask >> i & 1) != 0) order.push_back(unknown[i]);
    }
    std::sort(order.begin(), order.end());
    do {
      if (fits(order)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return false;
}

std::size_t RandomStatements::count(Statement::Kind kind) const {
  const std::function<std::size_t(const std::vector<Statement>&)> among =
      [&](const std::vector<Statement>& statements) {
        std::size_t count = 0;
        for (const Statement& statement : statements) {
          count += (statement.kind == kind ? 1 : 0) + among(statement.parts);
        }
        return count;
      };
  return std::accumulate(
      txns_.begin(), txns_.end(), std::size_t{0},
      [&](std::size_t sum, const StatementTxn& txn) { return sum + among(txn.statements); });
}

}  // namespace ouro::oracle
