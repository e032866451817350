// ouro hermitage: the classic anomalies, one after the other, at every isolation level.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

constexpr char kHermitageDetails[] =
    "Plays the anomalies of the Hermitage project on a database: each is a fixed interleaving of "
    "two or three transactions, one step after the other. This is repeated for every isolation "
    "level "
    "that the database offers, or for the one that the URL or --isolation names. A step that waits "
    "for another transaction is left alone while the others go on.\n\n"
    "Each cell of the table is judged by the checker from what the clients saw: the anomaly occurs "
    "if the history violates the weakest level that forbids it. A level is broken if a history of "
    "its row violates what the database promises of it. The databases are those of 'ouro run'; "
    "{} has the tables of some.";

struct HermitageFlags {
  HermitageOptions options;
  double patience = 5;  // Seconds.
  std::string keep;
  bool json = false;
  bool markdown = false;
  bool steps = false;
  bool quiet = false;
};

// "Repeatable read with x" as part of a file's name: "repeatable-read-with-x".
std::string file_word(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (plain) out += c;
    if (capital) out += static_cast<char>(c - 'A' + 'a');
    if (!plain && !capital && !out.empty() && out.back() != '-') out += '-';
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

// Writes the histories to the folder, one file per cell.
Status keep(const HermitageReport& report, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{.file = folder, .what = "cannot make the folder: " + error.message()};
  for (const HermitageRow& row : report.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].history.empty()) continue;
      const std::string level = file_word(row.isolation.empty() ? row.database : row.isolation);
      const std::string path =
          fmt::format("{}/{}-{}.jsonl", folder, level, file_word(report.tests[i].name));
      if (auto status = write_file(path, row.cells[i].history); !status.ok()) return status;
    }
  }
  return {};
}

int status_of(const HermitageReport& report) {
  bool unclear = false;
  bool broken = false;
  for (const HermitageRow& row : report.rows) {
    broken = broken || row.broken();
    for (const HermitageCell& cell : row.cells) {
      unclear = unclear || cell.outcome == HermitageOutcome::Unclear;
    }
  }
  return broken ? kViolated : unclear ? kUndecided : kHolds;
}

int run_hermitage(HermitageFlags& flags) {
  flags.options.patience = milliseconds(flags.patience);
  catch_interrupt();
  catch_termination();
  flags.options.stop = &interrupted();
  if (stderr_is_terminal() && !flags.quiet) {
    flags.options.progress = [](const std::string& what) {
      print_error(fmt::format("{} …\n", what.empty() ? "playing" : what));
    };
  }
  const auto report = hermitage(flags.options);
  if (!report.ok()) return fail(report.error());
  if (!flags.keep.empty()) {
    if (const Status kept = keep(*report, flags.keep); !kept) return fail(kept.error());
  }
  if (!flags.quiet) {
    print(flags.json       ? to_json(*report)
          : flags.markdown ? to_markdown(*report)
                           : describe(*report) + (flags.steps ? describe_steps(*report) : ""));
  }
  if (interrupted()) {
    print_error("ouro: interrupted; the rows are those that were complete\n");
    return kUndecided;
  }
  return status_of(*report);
}

}  // namespace

void add_hermitage(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<HermitageFlags>();
  CLI::App* app = root.add_subcommand("hermitage", "show which anomalies each level prevents");
  HermitageOptions& options = flags->options;
  app->add_option("URL", options.url, "the database [RocksDB in a temporary directory]")
      ->type_name("URL");
  app->add_option("--start", options.start, "a private server to start instead, e.g. postgres")
      ->type_name("SERVER");
  app->add_option("--isolation", options.isolation, "only this one of the database's levels")
      ->type_name("NAME");
  app->add_option("--only", options.only, "only these tests, e.g. P4,G2")
      ->type_name("TEST,...")
      ->delimiter(',');
  app->add_option("--patience", flags->patience, "how long an answer may take [5]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app->add_option("--keep", flags->keep, "where to leave the histories")->type_name("DIR");
  app->add_flag("--steps", flags->steps, "print every step, too");
  auto* json = app->add_flag("--json", flags->json, "print one JSON object");
  app->add_flag("--markdown", flags->markdown, "print Markdown")->excludes(json);
  app->add_flag("-q,--quiet", flags->quiet, "print nothing, only set the exit status");
  app->footer(
      "Exit status: 0 every promise was kept, 1 one was broken, 2 something is unclear,\n"
      "254 bad input or usage, 255 internal error.");
  std::string details = fmt::format(kHermitageDetails, document_address("hermitage.md"));
  details += "\n\nThe tests:";
  for (const HermitageTest& test : hermitage_tests()) {
    details +=
        fmt::format("\n\n- {}: {} (judged at {}).", test.name, test.meaning, info(test.level).name);
  }
  commands.push_back({app, [flags] { return run_hermitage(*flags); }, details});
}

}  // namespace ouro::cli
