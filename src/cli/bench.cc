// ouro bench: measures checks of generated histories, over ranges of settings.
//
// Each history is generated, and each check done, in a process of its own, so that its seconds of
// CPU and its memory are what the system says of that process.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "cli/sweep.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct BenchFlags {
  std::vector<std::string> settings;
  std::size_t runs = 1;
  std::string keep;  // A folder for the histories; empty: they are removed.
  bool json = false;
  double time_limit = 0;
  double memory_limit = 0;
};

// One check, as it was asked for.
struct Asked {
  std::vector<Level> levels;
  CheckOptions options;
};

// What one run found out. Numbers travel from the process that measured as text.
struct Row {
  std::string verdict;
  double load_seconds = 0;
  double check_seconds = 0;
  std::string stages;  // As JSON.
  std::string counts;  // As JSON, of the search.
  std::uint64_t choices = 0;
  std::uint64_t conflicts = 0;
  double cpu_seconds = 0;
  std::uint64_t peak_bytes = 0;
};

// Makes a setting of the check, in which a plus stands for a comma, an option.
std::optional<std::string> ask(const Point& point, Asked& asked) {
  std::string search = value_of(point, "search");
  std::replace(search.begin(), search.end(), '+', ',');
  const auto settings = parse_search_options(search);
  if (!settings.ok()) return settings.error().what;
  asked.options.search = *settings;
  const std::string evidence = value_of(point, "evidence");
  if (!evidence.empty()) {
    const auto found = find_evidence(evidence);
    if (!found) return fmt::format("evidence '{}' is unknown", evidence);
    asked.options.evidence = *found;
  }
  std::string level = value_of(point, "level");
  std::replace(level.begin(), level.end(), '+', ',');
  const auto levels = parse_levels(level.empty() ? "serializable" : level, asked.options.evidence);
  if (!levels.ok()) return levels.error().to_string();
  asked.levels = levels->levels;
  for (const std::string_view name : {"threads", "clock-drift"}) {
    const std::string value = value_of(point, name);
    if (value.empty()) continue;
    if (value.size() > 9 || value.find_first_not_of("0123456789") != std::string::npos) {
      return fmt::format("{}={}: expected a whole number", name, value);
    }
    if (name == "threads") asked.options.threads = static_cast<unsigned>(std::stoul(value));
    if (name == "clock-drift") asked.options.clock_drift = std::stol(value);
  }
  return std::nullopt;
}

std::string stages_of(const Effort& effort) {
  std::string out;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    if (effort.seconds[i] <= 0) continue;
    out += fmt::format("{}\"{}\":{:.6f}", out.empty() ? "" : ",", name(static_cast<Stage>(i)),
                       effort.seconds[i]);
  }
  return "{" + out + "}";
}

std::string counts_of(const SearchCounts& search) {
  return fmt::format(
      "{{\"searches\":{},\"nodes\":{},\"arcs\":{},\"chains\":{},\"pairs\":{},\"choices\":{},"
      "\"decisions\":{},\"conflicts\":{},\"full_conflicts\":{}}}",
      search.searches, search.nodes, search.arcs, search.chains, search.pairs, search.choices,
      search.decisions, search.conflicts, search.full_conflicts);
}

// Reads and checks a history. Returns the first members of a Row, with line breaks between them; or
// what is wrong, behind a "!".
std::string measure(const std::string& path, const Asked& asked) {
  const auto start = std::chrono::steady_clock::now();
  const auto history = read_history(path, {.threads = asked.options.threads});
  if (!history.ok()) return "!" + history.error().to_string();
  Effort effort;
  effort.add(Stage::Load, seconds_since(start));
  CheckOptions options = asked.options;
  options.effort = &effort;
  options.cancelled = &interrupted();
  const auto checking = std::chrono::steady_clock::now();
  const auto verdicts = check(*history, asked.levels, options);
  if (!verdicts.ok()) return "!" + verdicts.error().to_string();
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", name(worst(*verdicts)),
                     effort.seconds_of(Stage::Load), seconds_since(checking), stages_of(effort),
                     counts_of(effort.search), effort.search.choices,
                     effort.search.conflicts + effort.search.full_conflicts);
}

Row row_of(const ChildResult& result) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= result.text.size();) {
    const std::size_t end = std::min(result.text.find('\n', at), result.text.size());
    lines.push_back(result.text.substr(at, end - at));
    at = end + 1;
  }
  lines.resize(7);
  return {.verdict = lines[0],
          .load_seconds = std::stod(lines[1]),
          .check_seconds = std::stod(lines[2]),
          .stages = lines[3],
          .counts = lines[4],
          .choices = std::stoull(lines[5]),
          .conflicts = std::stoull(lines[6]),
          .cpu_seconds = result.cpu_seconds,
          .peak_bytes = result.peak_bytes};
}

class Bench {
 public:
  explicit Bench(const BenchFlags& flags) : flags_(flags) {}

  int run() {
    for (const std::string& text : flags_.settings) {
      Setting setting;
      if (const auto what = parse_setting(text, setting)) return fail(*what);
      settings_.push_back(std::move(setting));
    }
    if (const int status = look_at_all_points(); status != kHolds) return status;
    if (!make_folder()) return fail(fmt::format("{}: cannot make the folder", folder_.string()));
    catch_interrupt();
    for_each_point(settings_, [&](const Point& point) {
      status_ = worse(status_, at(point));
      ++done_;
      return !interrupted() && !output_closed();
    });
    clear_progress();
    std::error_code ignored;
    if (flags_.keep.empty()) std::filesystem::remove_all(folder_, ignored);
    return interrupted() ? worse(status_, kUndecided) : status_;
  }

 private:
  // Refuses what is wrong before the first history is made.
  int look_at_all_points() {
    int status = kHolds;
    for_each_point(settings_, [&](const Point& point) {
      Asked asked;
      GenerateOptions options;
      auto what = ask(point, asked);
      if (!what && value_of(point, "file").empty()) what = options_at(point, options);
      if (what) status = fail(*what);
      return !what;
    });
    return status;
  }

  bool make_folder() {
    std::error_code problem;
    if (!flags_.keep.empty()) {
      folder_ = flags_.keep;
    } else {
      folder_ =
          std::filesystem::temp_directory_path(problem) /
          fmt::format("ouro_bench_{}", std::chrono::steady_clock::now().time_since_epoch().count());
    }
    std::filesystem::create_directories(folder_, problem);
    return !problem;
  }

  // The file with the history of a point, and the command that made it; empty if it was there.
  struct Made {
    std::string path;
    std::string command;
  };
  std::optional<Made> make(const Point& point) {
    if (const std::string file = value_of(point, "file"); !file.empty()) return Made{file, ""};
    std::string command = "ouro generate";
    for (const std::string& word : generate_arguments(point)) command += " " + word;
    if (command == made_.command) return made_;
    GenerateOptions options;
    if (options_at(point, options)) return std::nullopt;  // Cannot be: it was looked at.
    const std::string path = (folder_ / fmt::format("{}.ouro", ++files_)).string();
    if (flags_.keep.empty() && !made_.path.empty()) std::filesystem::remove(made_.path);
    tell("generating");
    const ChildResult result = in_child([&]() -> std::string {
      const auto history = generate(options);
      if (!history.ok()) return history.error().to_string();
      const auto status = write_history(*history, path, Format::NativeBinary);
      return status.ok() ? "" : status.error().to_string();
    });
    if (!result.ended || !result.text.empty()) {
      fail(result.ended ? result.text : "the process that generates a history was killed");
      return std::nullopt;
    }
    made_ = {path, command};
    return made_;
  }

  int at(const Point& point) {
    Asked asked;
    if (const auto what = ask(point, asked)) return fail(*what);
    asked.options.time_limit = milliseconds(flags_.time_limit);
    asked.options.memory_limit = static_cast<std::uint64_t>(flags_.memory_limit * 1e6);
    const auto made = make(point);
    if (!made) return kBadInput;
    std::optional<Row> best;
    for (std::size_t run = 0; run < flags_.runs && !interrupted(); ++run) {
      tell("checking");
      const ChildResult result = in_child([&] { return measure(made->path, asked); });
      if (result.ended && result.text.starts_with('!')) return fail(result.text.substr(1));
      if (!result.ended) return fail("the process that checks a history was killed");
      const Row row = row_of(result);
      if (!best || row.cpu_seconds < best->cpu_seconds) best = row;
    }
    if (!best) return kUndecided;
    clear_progress();
    if (!flags_.json && !std::exchange(headed_, true)) print(header());
    print(flags_.json ? as_json(point, *made, *best) : as_text(point, *best));
    return kHolds;
  }

  [[nodiscard]] std::string header() const {
    std::string line;
    for (const Setting& setting : settings_) line += setting.name + '\t';
    return line + "verdict\tcpu_s\tload_s\tcheck_s\tpeak_mb\tchoices\tconflicts\n";
  }

  [[nodiscard]] static std::string as_text(const Point& point, const Row& row) {
    std::string line;
    for (const auto& [name, value] : point) line += (value.empty() ? "-" : value) + '\t';
    return line + fmt::format("{}\t{:.3f}\t{:.3f}\t{:.3f}\t{:.0f}\t{}\t{}\n", row.verdict,
                              row.cpu_seconds, row.load_seconds, row.check_seconds,
                              static_cast<double>(row.peak_bytes) / 1e6, row.choices,
                              row.conflicts);
  }

  [[nodiscard]] static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
  }

  // The commands that do the same by hand.
  [[nodiscard]] static std::string command(const Point& point, const Made& made) {
    std::string text = made.command.empty() ? "" : fmt::format("{} -o h.ouro && ", made.command);
    text += "ouro check --json";
    for (const auto& [name, value] : point) {
      if (!is_of_check(name) || name == "file" || value.empty()) continue;
      std::string words = value;
      std::replace(words.begin(), words.end(), '+', ',');
      text += fmt::format(" --{} {}", name, words);
    }
    return text + ' ' + (made.command.empty() ? made.path : "h.ouro");
  }

  [[nodiscard]] std::string as_json(const Point& point, const Made& made, const Row& row) const {
    std::string settings;
    for (const auto& [name, value] : point) {
      settings += fmt::format("{}{}:{}", settings.empty() ? "" : ",", quoted(name), quoted(value));
    }
    return fmt::format(
        "{{\"settings\":{{{}}},\"verdict\":\"{}\",\"cpu_seconds\":{:.6f},\"seconds\":{{\"load\":"
        "{:.6f},\"check\":{:.6f}}},\"peak_bytes\":{},\"stages\":{},\"search\":{},\"runs\":{},"
        "\"command\":{},\"version\":\"{}\"}}\n",
        settings, row.verdict, row.cpu_seconds, row.load_seconds, row.check_seconds, row.peak_bytes,
        row.stages, row.counts, flags_.runs, quoted(command(point, made)), version());
  }

  // A line that the next one replaces. There is no thread to draw it: processes are copied here.
  void tell(std::string_view what) const {
    if (!stderr_is_terminal()) return;
    print_error(fmt::format("\r\x1b[Kpoint {} of {}: {}", done_ + 1, point_count(settings_), what));
  }
  static void clear_progress() {
    if (stderr_is_terminal()) print_error("\r\x1b[K");
  }

  const BenchFlags& flags_;
  std::vector<Setting> settings_;
  std::filesystem::path folder_;
  Made made_;
  std::size_t files_ = 0;
  bool headed_ = false;  // Whether the header was printed.
  std::size_t done_ = 0;
  int status_ = kHolds;
};

}  // namespace

void add_bench(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* app = root.add_subcommand("bench", "measure checks over ranges of settings");
  app->add_option("SETTING", flags->settings, "NAME=VALUE,VALUE; every combination is measured")
      ->type_name("SETTING")
      ->required();
  app->add_option("--runs", flags->runs, "of each check; the quickest counts [1]")
      ->type_name("N")
      ->check(whole_number());
  app->add_flag("--json", flags->json, "one JSON object per check, with stages and counts");
  app->add_option("--keep", flags->keep, "folder to leave the histories in")->type_name("DIR");
  add_limits(*app, flags->time_limit, flags->memory_limit);
  commands.push_back(
      {app, [flags] { return Bench(*flags).run(); },
       "Generates a history for every combination of the values that each SETTING lists, checks "
       "it, "
       "and prints a line with the verdict, the seconds of CPU of all threads that loading "
       "and checking took together, the seconds of wall clock of each, the memory at its peak, and "
       "how many choices and conflicts the search had. Each check is a process of its own.\n\n"
       "NAME is a flag of 'ouro generate' without its dashes (txns, sessions, ops, keys, "
       "read-share, "
       "key-choice, workload, seed, fault …), or 'store' for its --level; or level, evidence, "
       "search, threads or clock-drift of 'ouro check', where a plus stands for a comma; or file, "
       "a "
       "history to check instead. For example:\n\n"
       "ouro bench workload=blindw-rw sessions=24 keys=2000 txns=1000,2000,4000 "
       "level=si,session-si "
       "search=,no-chains\n\n"
       "The lines are separated by tabs, for gnuplot and the like; with --json they have what "
       "'ouro "
       "check --json' says of stages and search, and the command that does the same. Limits are "
       "for "
       "each check. The exit status is 0 if everything was measured, whatever the verdicts."});
}

}  // namespace ouro::cli
