// The messages of the protocol for drivers in other processes (docs/drivers.md): makes the texts of
// operations, and reads what drivers answer.
//
// Readers are strict: an answer of another form than asked for is refused, never guessed at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "format/json_tree.h"

namespace ouro::db {

inline constexpr int kExecProtocol = 1;  // The version of the protocol.

// One of the isolation levels of a database.
struct ExecIsolation {
  std::string name;  // As the database calls it.
  Level promises = Level::Serializable;
  Level by_timestamps = Level::Serializable;  // In the order of its timestamps.
  bool timestamps = false;                    // Whether transactions tell them.
};

// What a driver says about itself; its texts are printable().
struct ExecHello {
  std::string name;                       // "SQLite 3.40.1".
  std::string version;                    // Of the driver; may be empty.
  Features features;                      // Without timestamps, which depend on the isolation.
  bool whole = false;                     // Takes whole transactions in one message.
  bool shared = false;                    // One process for all clients.
  std::vector<ExecIsolation> isolations;  // At least one; the first is the default.
};

// The abilities that a driver may list, for messages: "registers, lists, …".
[[nodiscard]] std::string exec_abilities();
// The answer to "hello". The error says what is wrong with it.
[[nodiscard]] Result<ExecHello> read_hello(JsonTree::Node answer);

// The name of a model: "registers", "lists", "rows".
[[nodiscard]] std::string_view name(Model model);

// Texts of operations.
[[nodiscard]] std::string text_of(const Operation& operation);
[[nodiscard]] std::string row_text(const Row& row);
[[nodiscard]] std::string where_list(const Where& where);
// `text` in quotes.
[[nodiscard]] std::string json_text(std::string_view text);

// Results of operations. False: it is no such result.
bool read_number(JsonTree::Node result, std::optional<Number>& number);  // Or null.
bool read_elements(JsonTree::Node result, std::vector<Number>& elements);
bool read_found(JsonTree::Node result, std::vector<KeyNumber>& found);
bool read_row(JsonTree::Node result, std::optional<Row>& row);  // Or null.
bool read_rows(JsonTree::Node result, std::vector<KeyRow>& rows);
bool read_changes(JsonTree::Node result, std::vector<RowChange>& changes);
// A key that two rows have; nothing if there is none. No scan returns a row twice.
[[nodiscard]] std::optional<Key> key_twice(const std::vector<KeyNumber>& rows);
// The result of `operation`, which reads, into `found`.
bool read_result(const Operation& operation, JsonTree::Node result, Found& found);

// A timestamp: a number, or two in a list. False: it is none.
bool read_timestamp(JsonTree::Node member, Timestamp& timestamp);

}  // namespace ouro::db
