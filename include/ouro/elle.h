// What was found, in the form of Elle's results, for tools that read those: docs/ci.md.
//
// Example (built and run as tests/example_elle.cc):
//
//   ouro::RecordedLines lines;
//   const auto history = ouro::read_history("tests/data/elle-cli/rw-register.edn", {}, lines);
//   if (!history.ok()) return fail(history.error());
//   const auto found = ouro::examine(*history, {.levels = {ouro::Level::Serializable}});
//   if (!found.ok()) return fail(found.error());
//   std::cout << ouro::to_edn(*history, {.verdicts = found->verdicts,
//                                        .explanations = found->explanations,
//                                        .others = found->others,
//                                        .lines = &lines})
//             << '\n';
//
// Cost: that of reading the history as ouro/format.h says, and linear in what is reported.
//
// Thread safety: calls share no state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

// The lines of a Jepsen history, so that operations can be shown as they were recorded.
struct RecordedLines {
  struct Line {
    std::int64_t index = -1;  // As recorded or, where that is absent, its place in the history from
                              // 0, other processes included. Negative: there is no such line.
    bool has_index = false;   // Whether its map has :index.
    std::uint64_t begin = 0;  // Where its map is in `text`; of JSON, nowhere: begin == end.
    std::uint64_t end = 0;
  };
  std::string text;               // The whole source; empty if it is JSON.
  std::vector<Line> invocations;  // By transaction; those of the last ones may be missing.
  std::vector<Line> completions;
};

// As in ouro/format.h. If it is a Jepsen history, fills `lines`, which REQUIRES to be empty.
[[nodiscard]] Result<History> read_history(const std::string& path, const ReadOptions& options,
                                           RecordedLines& lines);
[[nodiscard]] Result<History> parse_history(std::string_view bytes, const ReadOptions& options,
                                            std::string_view name, RecordedLines& lines);

struct ElleReport {
  std::span<const Verdict> verdicts;
  std::span<const Explanation> explanations;
  std::span<const Verdict> others = {};  // Examination::others, if known.
  const RecordedLines* lines = nullptr;  // Of the history, if it has them.
  std::optional<Outcome> outcome = {};   // If it is not that of the verdicts.
};

// What Elle's checker returns, as one line of EDN: {:valid? … :anomaly-types (…) :anomalies {…}
// :not #{…} :also-not #{…}}. What Elle does not say is under keys such as :ouro/story.
[[nodiscard]] std::string to_edn(const History& history, const ElleReport& report);

// The files that Elle writes about its anomalies: the stories of each type as text,
// "G-single-item.txt", and a graph for Graphviz of each of them, "G-single-item/0.dot".
struct ElleFile {
  std::string name;
  std::string text;
};
[[nodiscard]] std::vector<ElleFile> elle_files(const History& history,
                                               std::span<const Explanation> explanations);

}  // namespace ouro
