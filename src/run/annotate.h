// Adds to a recorded history what the database tells only after the run: timestamps, version sets,
// version orders, and whether unknown transactions took effect.
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "ouro/result.h"
#include "run/runner.h"

namespace ouro::running {

// What to change in one line of the history.
struct Annotation {
  std::uint64_t line = 0;  // From zero.
  // How an unknown transaction ended.
  db::Resolution resolution = db::Resolution::Unknown;
  Timestamp start = kNoTimestamp;
  Timestamp commit = kNoTimestamp;
  // Texts to insert (version sets), each with the byte of the original line before which it goes.
  // Sorted by that.
  std::vector<std::pair<std::uint32_t, std::string>> inserts;
};

// One annotation for each of `lines`, which it sorts by line. Asks `database` how the unknown ones
// ended.
[[nodiscard]] std::vector<Annotation> annotations(std::vector<OpenLine>& lines,
                                                  const db::Recovered& recovered,
                                                  db::Database& database);

// Applies `annotations`, which must be sorted by line, and appends the version orders to the
// history at `path`. Writes a new file, which replaces the old one when it is complete. `nemesis`,
// if not empty, says what the nemesis did and is put into the header.
Status annotate(const std::string& path, const std::vector<Annotation>& annotations,
                const std::vector<db::Recovered::Order>& orders, db::Model model,
                const std::string& nemesis = "");

}  // namespace ouro::running
