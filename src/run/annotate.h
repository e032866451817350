// Puts into a finished history what only the database could tell afterwards.
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "ouro/result.h"
#include "run/runner.h"

namespace ouro::running {

struct Annotation {
  std::uint64_t line = 0;
  db::Resolution resolution = db::Resolution::Unknown;  // Of an unknown transaction.
  Timestamp start = kNoTimestamp;
  Timestamp commit = kNoTimestamp;
  // Version sets as text, with the place in the line where each goes; by place.
  std::vector<std::pair<std::uint32_t, std::string>> inserts;
};

// What the evidence says about each of `lines`; lines it says nothing about are left out. By line.
[[nodiscard]] std::vector<Annotation> annotations(std::vector<OpenLine>& lines,
                                                  const db::Recovered& recovered,
                                                  db::Database& database);

// Rewrites the history at `path`: as a new file that takes its place when it is complete. What the
// nemesis did, if anything, becomes a remark of the header.
Status annotate(const std::string& path, const std::vector<Annotation>& annotations,
                const std::vector<db::Recovered::Order>& orders, db::Model model,
                const std::string& nemesis = "");

}  // namespace ouro::running
