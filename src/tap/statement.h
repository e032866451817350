// What a statement of SQL does, as far as the tap needs to know, by PostgreSQL's own parser
// (libpg_query).
//
// When in doubt a statement "may write", and its result is "not judged".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tap/condition.h"

namespace ouro::tapping {

enum class Act : std::uint8_t {
  Begin,
  Commit,  // Also END.
  Rollback,
  RollbackTo,  // A savepoint.
  Savepoint,   // Made or released.
  TwoPhase,    // PREPARE TRANSACTION and what ends that.
  Setting,     // SET and SHOW: no snapshot is needed, nothing is read.
  Forget,      // Prepared statements may have changed: DEALLOCATE, DISCARD, PREPARE.
  Select,
  Change,  // INSERT, UPDATE, DELETE, MERGE.
  Other,
};

struct Statement {
  Act act = Act::Other;
  bool chain = false;  // COMMIT AND CHAIN.
  // Whether it may write something besides what Change says: it calls functions that are not known.
  bool may_write = true;
  bool locks = false;  // SELECT … FOR UPDATE and the like: returns the newest of each row.
  // Why what it returns is not judged. Empty: rows that the result identifies are.
  std::string not_judged = "no SELECT";
  // If there is one table: its name, and the conditions `column = operand` that all rows meet.
  std::string schema, table;
  std::vector<std::pair<std::string, Operand>> equal;
  // Whether a row is missing from the result only if it does not meet the conditions.
  bool tells_absence = false;
  // A SELECT that returns all rows of the table which meet its WHERE: that, if predicates can say
  // it.
  std::optional<Where> where;
  // The columns that an UPDATE or ON CONFLICT DO UPDATE sets.
  bool updates = false;
  std::vector<std::string> assigned;
};

struct Text {
  std::string sql;
  std::vector<Statement> statements;  // Empty: there are none, or they cannot be parsed.
  bool parsed = false;
};

// Cost: some 50 microseconds for a short text.
[[nodiscard]] std::shared_ptr<const Text> analyse(std::string_view sql);
// The text with $1, $2 … for its constants, so that equal statements can be counted together; at
// most 200 bytes.
[[nodiscard]] std::string shape_of(std::string_view sql);

// Remembers the texts that were analysed lately, and does not parse again what differs in constants
// only. Thread safety: none.
class Texts {
 public:
  Texts();
  ~Texts();
  std::shared_ptr<const Text> get(std::string_view sql);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ouro::tapping
