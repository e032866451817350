#include "db/exec_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"

namespace ouro::db {
namespace {

using Node = JsonTree::Node;

// An ability that a driver may list in its hello, and what it means for us.
struct Ability {
  std::string_view name;
  void (*set)(ExecHello& hello);
};
constexpr std::array kAbilities{
    Ability{"registers", [](ExecHello& hello) { hello.features.registers = true; }},
    Ability{"lists", [](ExecHello& hello) { hello.features.lists = true; }},
    Ability{"scans", [](ExecHello& hello) { hello.features.scans = true; }},
    Ability{"rows", [](ExecHello& hello) { hello.features.rows = true; }},
    Ability{"row-changes", [](ExecHello& hello) { hello.features.row_changes = true; }},
    Ability{"deletes", [](ExecHello& hello) { hello.features.removes = true; }},
    Ability{"whole", [](ExecHello& hello) { hello.whole = true; }},
    Ability{"threads", [](ExecHello& hello) { hello.shared = true; }},
    // No workload uses savepoints, so nothing depends on it.
    Ability{"savepoints", [](ExecHello&) {}},
};

Error wrong(std::string what) { return Error{.what = std::move(what)}; }

Result<Level> level_member(Node entry, std::string_view member) {
  const auto name = entry.member(member).text();
  if (!name) return wrong(fmt::format("an isolation has no \"{}\", the name of a level", member));
  const auto level = find_level(*name);
  if (!level) {
    return wrong(fmt::format("\"{}\" is '{}', which is no level; see 'ouro levels'", member,
                             printable(*name)));
  }
  return *level;
}

Result<ExecIsolation> read_isolation(Node entry) {
  const auto name = entry.member("name").text();
  if (!name || name->empty()) return wrong("an isolation has no \"name\"");
  if (printable(*name) != *name) {
    return wrong(
        fmt::format("an isolation is called '{}', which has control characters", printable(*name)));
  }
  const auto promises = level_member(entry, "promises");
  if (!promises.ok()) return promises.error();
  ExecIsolation isolation{.name = std::string(*name),
                          .promises = *promises,
                          .by_timestamps = *promises,
                          .timestamps = entry.member("timestamps").is_true()};
  if (!entry.member("by_timestamps").exists()) return isolation;
  const auto by_timestamps = level_member(entry, "by_timestamps");
  if (!by_timestamps.ok()) return by_timestamps.error();
  isolation.by_timestamps = *by_timestamps;
  return isolation;
}

Status read_abilities(Node can, ExecHello& hello) {
  if (!can.is_list()) return wrong("\"can\" is no list of abilities");
  hello.features.registers = false;
  Status status;
  can.for_each([&](Node entry) {
    const auto name = entry.text();
    const auto ability = std::find_if(kAbilities.begin(), kAbilities.end(),
                                      [&](const Ability& known) { return name == known.name; });
    if (ability != kAbilities.end()) {
      ability->set(hello);
    } else if (status.ok()) {
      status = wrong(fmt::format("\"can\" has {}; there are: {}",
                                 name ? json_text(*name) : "what is no text", exec_abilities()));
    }
  });
  return status;
}

// Calls take(Node) with each element of a list until it returns false. False: it is no list, or an
// element was not taken.
template <class Take>
bool each(Node list, const Take& take) {
  if (!list.is_list()) return false;
  bool good = true;
  list.for_each([&](Node element) { good = good && take(element); });
  return good;
}

// The elements of a short list. False: it is no list of exactly so many.
template <std::size_t N>
bool parts_of(Node list, std::array<Node, N>& parts) {
  std::size_t count = 0;
  const bool good = each(list, [&](Node element) {
    if (count < N) parts[count] = element;
    return ++count <= N;
  });
  return good && count == N;
}

bool take_row(Node node, Row& row) {
  std::array<Node, kColumns> columns;
  if (!parts_of(node, columns)) return false;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto number = columns[i].integer();
    if (!number) return false;
    row[i] = *number;
  }
  return true;
}

}  // namespace

std::string exec_abilities() {
  std::string names;
  for (const Ability& ability : kAbilities) {
    names += names.empty() ? "" : ", ";
    names += ability.name;
  }
  return names;
}

Result<ExecHello> read_hello(Node answer) {
  const auto protocol = answer.member("protocol").integer();
  if (!protocol) return wrong("the answer to hello has no \"protocol\", a number");
  if (*protocol != kExecProtocol) {
    return wrong(
        fmt::format("it speaks protocol {}; this ouro speaks {}", *protocol, kExecProtocol));
  }
  ExecHello hello;
  const auto name = answer.member("name").text();
  if (!name || name->empty()) return wrong("the answer to hello has no \"name\", a text");
  hello.name = printable(*name);
  hello.version = printable(answer.member("version").text().value_or(""));
  if (auto read = read_abilities(answer.member("can"), hello); !read) return read.error();
  const Node isolations = answer.member("isolation");
  if (!isolations.is_list()) return wrong("\"isolation\" is no list");
  Status status;
  isolations.for_each([&](Node entry) {
    auto isolation = read_isolation(entry);
    if (isolation.ok()) {
      hello.isolations.push_back(*std::move(isolation));
    } else if (status.ok()) {
      status = isolation.error();
    }
  });
  if (!status) return status.error();
  if (hello.isolations.empty()) return wrong("\"isolation\" is empty; it needs one level or more");
  return hello;
}

std::string_view name(Model model) {
  constexpr std::array<std::string_view, 3> kNames{"registers", "lists", "rows"};
  return kNames[static_cast<std::size_t>(model)];
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string text_of(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::Read:
    case OperationKind::ReadList:
      return fmt::format("[\"r\",{}]", operation.key);
    case OperationKind::Write:
      return fmt::format("[\"w\",{},{}]", operation.key, operation.number);
    case OperationKind::Append:
      return fmt::format("[\"append\",{},{}]", operation.key, operation.number);
    case OperationKind::Scan:
      return fmt::format("[\"scan\",{},{}]", operation.key, operation.upper);
  }
  return {};
}

std::string row_text(const Row& row) { return fmt::format("[{}]", fmt::join(row, ",")); }

std::string where_list(const Where& where) {
  std::string out = "[";
  for (const ColumnRange& range : where) {
    if (out.size() > 1) out += ',';
    out += fmt::format("[\"{}\",{},{}]", kColumnNames[range.column], range.lower, range.upper);
  }
  return out + ']';
}

bool read_number(Node result, std::optional<Number>& number) {
  number = result.integer();
  return number || result.is_null();
}

bool read_elements(Node result, std::vector<Number>& elements) {
  elements.clear();
  return each(result, [&](Node element) {
    const auto number = element.integer();
    if (number) elements.push_back(*number);
    return number.has_value();
  });
}

bool read_found(Node result, std::vector<KeyNumber>& found) {
  found.clear();
  return each(result, [&](Node entry) {
    std::array<Node, 2> parts;
    if (!parts_of(entry, parts)) return false;
    const auto key = parts[0].integer();
    const auto number = parts[1].integer();
    if (!key || !number) return false;
    found.push_back({*key, *number});
    return true;
  });
}

std::optional<Key> key_twice(const std::vector<KeyNumber>& rows) {
  std::vector<Key> keys;
  for (const KeyNumber& row : rows) keys.push_back(row.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  return twice == keys.end() ? std::nullopt : std::optional(*twice);
}

bool read_row(Node result, std::optional<Row>& row) {
  row.reset();
  if (result.is_null()) return true;
  row.emplace();
  return take_row(result, *row);
}

bool read_rows(Node result, std::vector<KeyRow>& rows) {
  rows.clear();
  return each(result, [&](Node entry) {
    std::array<Node, 2> parts;
    if (!parts_of(entry, parts)) return false;
    const auto key = parts[0].integer();
    rows.push_back({key.value_or(0), {}});
    return key && take_row(parts[1], rows.back().row);
  });
}

bool read_changes(Node result, std::vector<RowChange>& changes) {
  changes.clear();
  return each(result, [&](Node entry) {
    std::array<Node, 3> parts;
    if (!parts_of(entry, parts)) return false;
    const auto key = parts[0].integer();
    changes.push_back({key.value_or(0), {}, {}});
    return key && take_row(parts[1], changes.back().before) &&
           take_row(parts[2], changes.back().after);
  });
}

bool read_result(const Operation& operation, Node result, Found& found) {
  switch (operation.kind) {
    case OperationKind::Read:
      return read_number(result, found.number);
    case OperationKind::ReadList:
      return read_elements(result, found.elements);
    case OperationKind::Scan:
      // Keys outside of the range cannot be an answer of any database to this question.
      return read_found(result, found.rows) &&
             std::all_of(found.rows.begin(), found.rows.end(), [&](const KeyNumber& row) {
               return row.key >= operation.key && row.key <= operation.upper;
             });
    case OperationKind::Write:
    case OperationKind::Append:
      return result.is_null();
  }
  return false;
}

bool read_timestamp(Node member, Timestamp& timestamp) {
  timestamp = kNoTimestamp;
  if (!member.exists() || member.is_null()) return true;
  if (const auto number = member.integer()) {
    timestamp = {*number, 0};
    return true;
  }
  std::array<Node, 2> parts;
  if (!parts_of(member, parts)) return false;
  const auto physical = parts[0].integer();
  const auto logical = parts[1].integer();
  if (!physical || !logical) return false;
  timestamp = {*physical, *logical};
  return true;
}

}  // namespace ouro::db
