// A fixed interleaving of a few transactions, written as a line of text: "1 r x, 2 w x 12, 1 c".
//
// Each step begins with the number of its transaction. Transactions have begun before the first
// step, but for those that say when they begin. The keys are x and y, which hold 10 and 20 at the
// start, and z and u, which are absent.
//
//   b              begins
//   r KEY          reads
//   w KEY NUMBER   writes
//   d KEY          deletes
//   scan KEY KEY   finds the keys in a range, both ends included
//   sel LOW HIGH   selects rows by number, both ends included
//   del LOW HIGH   deletes such rows
//   c, a           commits, aborts
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"

namespace ouro::running {

enum class Act : std::uint8_t {
  Begin,
  Read,
  Write,
  Delete,
  Scan,
  Select,
  DeleteWhere,
  Commit,
  Abort,
};

struct ScriptStep {
  std::size_t client = 0;  // From 0: one less than in the text.
  Act act = Act::Begin;
  db::Key key = 0;     // 0 for x, 1 for y, 2 for z, 3 for u.
  db::Key upper = 0;   // Scan: the last key.
  db::Number low = 0;  // Write: the number. Select, DeleteWhere: the lower bound.
  db::Number high = 0;
};

inline constexpr db::Key kScriptKeys = 4;

// The steps of a script, all begins among them. REQUIRES: `text` is a script; scripts are part of
// the program.
[[nodiscard]] std::vector<ScriptStep> parse_script(std::string_view text);

// "r x", "sel 30 39".
[[nodiscard]] std::string text_of(const ScriptStep& step);

}  // namespace ouro::running
