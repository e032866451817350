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

#include "ouro/asked_levels.h"
#include "ouro/check.h"
#include "ouro/examine.h"
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

// Elle's consistency models that are none of our levels, such as "monotonic-view", taken out of
// names with commas between them. Levels that imply such a model, or that it implies, tell of it.
struct AskedModels {
  std::vector<std::string_view> models;  // By the names that Elle prints.
  std::string others;                    // The other names, with commas; may be empty.
  std::vector<Level> levels;             // The levels that tell most of the models.
};
[[nodiscard]] AskedModels take_models(std::string_view names);

// What the report says of a model that take_models() took: it holds if a level does that implies
// it, and is violated if an anomaly was found that it forbids, or a model is that it implies. Else
// it is undecided.
[[nodiscard]] Outcome outcome_of_model(const History& history, const ElleReport& report,
                                       std::string_view model);

// Levels to check, by names with commas between them among which models may be: those that were
// named, and of the others those that tell most of the models and that the evidence can decide.
struct LevelsAndModels {
  AskedLevels asked;
  std::vector<Level> named;              // Of these levels, those that must hold.
  std::vector<std::string_view> models;  // As AskedModels::models.
};
// The error is a name that is neither, as parse_levels() says.
[[nodiscard]] Result<LevelsAndModels> parse_levels_and_models(std::string_view names,
                                                              Evidence evidence);

// What may be expected of a history besides levels and anomalies.
struct MoreExpected {
  std::span<const std::string_view> models = {};  // That take_models() took, and that must hold.
  bool negative_balances = false;                 // Accounts of a bank may be overdrawn.
  std::optional<std::int64_t> total_amount = {};  // What accounts of a bank must hold together.
};
// Adds to Examination::met whether `expected` is met. Cost: that of outcome_of_model() for each
// model, and of total_of_accounts() if there is a total.
void expect_more(const History& history, const MoreExpected& expected, Examination& examination);

// What the accounts of a history of Jepsen's bank hold together: transfers leave that as it was at
// the start. Nothing if it is another history, or that is not known. Cost: linear.
[[nodiscard]] std::optional<std::int64_t> total_of_accounts(const History& history);

// The files that Elle writes about its anomalies: the stories of each type as text,
// "G-single-item.txt", and a graph for Graphviz of each of them, "G-single-item/0.dot".
struct ElleFile {
  std::string name;
  std::string text;
};
[[nodiscard]] std::vector<ElleFile> elle_files(const History& history,
                                               std::span<const Explanation> explanations);

}  // namespace ouro
