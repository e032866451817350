// ouro check: judges histories.

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <sstream>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct CheckFlags {
  InputFlags input;
  std::string title;  // What to call the history instead of its path.
  std::string level = "serializable";
  std::string evidence = "observed";
  std::string output = "text";
  std::string model;
  std::string certificate;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  double time_limit = 0;    // Seconds; zero: none.
  double memory_limit = 0;  // 10^6 bytes; zero: none.
  double clock_drift = 0;   // Of interest to levels with real time only.
};

constexpr char kCheckDetails[] =
    "Reads each HISTORY and decides whether LEVEL allows it: whether some order of its "
    "transactions explains everything its clients saw. A violation is told with the transactions "
    "involved and the reason why each must precede the next.\n\n"
    "LEVEL is a name or alias of 'ouro levels', several of them separated by commas, or 'all'. "
    "Levels that this version cannot decide are refused; 'all' leaves them out and says so.\n\n"
    "The evidence is 'observed', which looks for any order of the transactions that explains the "
    "reads; 'versions', which admits only those that install the versions of each key as the "
    "history's version orders say, or else its commit_ts; or 'timestamps', which takes the one "
    "order that start_ts and commit_ts give. By timestamps the levels of snapshots and the "
    "serializable ones are decided, and all violations are counted.\n\n"
    "Given several histories, prints one line for each; -v tells every story. The exit status is "
    "the worst, which is the largest: an unreadable history outweighs an undecided one, and that "
    "one a violated one. Asked for several levels, a history counts as violated if any of them "
    "is, else as undecided if any of them is.\n\n"
    "--output elle prints a line for each history as elle-cli does: the path, a tab, and true, "
    "false or unknown. elle-cli's --consistency-models (-c) is understood as --level; its --model "
    "(-m) is accepted for list-append and rw-register, which need no telling apart.\n\n"
    "The clock drift is in the unit of the history's clocks and matters to levels that look at "
    "real time.\n\n"
    "--certificate writes a file that proves the verdict: an order of the transactions that "
    "explains "
    "everything, or the operations that nothing explains. 'ouro certify' checks it. It takes one "
    "HISTORY and one LEVEL; an undecided verdict has none.\n\n"
    "Ctrl-C ends the search: what is not decided by then is undecided. A second one kills.";

struct Levels {
  std::vector<Level> asked;
  std::vector<Level> unsupported;  // With 'all' only.
  bool several = false;            // Whether the answer is a table.
};

std::string supported_names(Evidence evidence) {
  std::string names;
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, evidence)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", level.name);
  }
  return names.empty() ? "none" : names;
}

// Prints what is wrong with `text`.
std::optional<Evidence> parse_evidence(const std::string& text) {
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
    if (text == name(evidence)) return evidence;
  }
  fail(fmt::format("evidence '{}' is unknown; there are: observed, versions, timestamps", text));
  return std::nullopt;
}

std::optional<Levels> parse_levels(const std::string& text, Evidence evidence) {
  Levels out;
  if (text == "all") {
    for (const LevelInfo& level : levels()) {
      (decidable(level.level, evidence) ? out.asked : out.unsupported).push_back(level.level);
    }
    out.several = true;
    return out;
  }
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    const auto level = parse_level(name);
    if (!level) return std::nullopt;
    if (!decidable(*level, evidence)) {
      const std::string with = evidence == Evidence::Observed
                                   ? std::string()
                                   : fmt::format(" with evidence '{}'", ouro::name(evidence));
      fail(fmt::format("level '{}' is not supported by this version{}; supported: {}",
                       info(*level).name, with, supported_names(evidence)));
      return std::nullopt;
    }
    out.asked.push_back(*level);
  }
  if (out.asked.empty()) parse_level("");
  out.several = out.asked.size() > 1;
  return out.asked.empty() ? std::nullopt : std::optional(out);
}

int exit_status(Outcome outcome) {
  switch (outcome) {
    case Outcome::Holds:
      return kHolds;
    case Outcome::Violated:
      return kViolated;
    case Outcome::Undecided:
      break;
  }
  return kUndecided;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Checker {
 public:
  Checker(const CheckFlags& flags, Evidence evidence, Levels levels, Format format)
      : flags_(flags),
        evidence_(evidence),
        levels_(std::move(levels)),
        format_(format),
        full_story_(flags.verbose || flags.input.paths.size() == 1) {}

  int run() {
    int status = kHolds;
    std::size_t done = 0;
    for (const std::string& path : flags_.input.paths) {
      status = std::max(status, check_one(path));
      ++done;
      if (output_closed() || interrupted()) break;
    }
    // What nobody looked at must not pass.
    if (done < flags_.input.paths.size()) status = std::max<int>(status, kUndecided);
    return status;
  }

 private:
  [[nodiscard]] std::string title_of(const std::string& path) const {
    return flags_.title.empty() ? display_name(path) : flags_.title;
  }

  int check_one(const std::string& path) {
    const std::string name = title_of(path);
    ReportOptions report{.name = name,
                         .colour = stdout_is_terminal(),
                         .examples = flags_.verbose ? std::size_t{3} : std::size_t{1},
                         .unsupported = levels_.unsupported};
    auto start = std::chrono::steady_clock::now();
    const ReadOptions read{.format = format_, .threads = flags_.input.threads};
    const auto history = std::make_shared<std::optional<Result<History>>>();
    const bool finished = watched("reading " + name, OnInterrupt::Abandon,
                                  [history, path, read] { *history = read_history(path, read); });
    if (!finished) {
      print_verdicts(path, History(), interrupted_verdicts(), report);
      leave(kUndecided);
    }
    if (!(*history)->ok()) return refuse(path, (*history)->error());
    report.load_seconds = seconds_since(start);

    start = std::chrono::steady_clock::now();
    std::optional<Result<std::vector<Verdict>>> verdicts;
    watched(fmt::format("checking {}", name), OnInterrupt::Wait,
            [&] { verdicts = check(***history, levels_.asked, options()); });
    if (!verdicts->ok()) return refuse(path, verdicts->error());
    report.check_seconds = seconds_since(start);
    report.observed = ask_reads_alone(***history, **verdicts);
    print_verdicts(path, ***history, **verdicts, report);
    const int status = exit_status(worst(**verdicts));
    return std::max(status, write_certificate_of(***history, (*verdicts)->front()));
  }

  // Whether some other order would explain what the one given does not. A courtesy: only of one
  // level, without predicates, of which reads alone say little, and given up soon.
  [[nodiscard]] std::optional<Outcome> ask_reads_alone(const History& history,
                                                       const std::vector<Verdict>& verdicts) const {
    constexpr std::size_t kManyOps = 1'000'000;
    const bool told = flags_.output == "json" || (flags_.output == "text" && full_story_);
    if (evidence_ == Evidence::Observed || verdicts.size() != 1 || flags_.quiet || !told) {
      return {};
    }
    if (verdicts[0].outcome != Outcome::Violated || history.op_count() > kManyOps ||
        !history.columns().predicate_reads.empty()) {
      return {};
    }
    CheckOptions observed = options();
    observed.evidence = Evidence::Observed;
    // Without predicates nothing can be a phantom.
    const Level level =
        verdicts[0].level == Level::RepeatableRead ? Level::Serializable : verdicts[0].level;
    constexpr std::chrono::milliseconds kSoon{1000};
    const bool limited = observed.time_limit.count() > 0;
    observed.time_limit = limited ? std::min(observed.time_limit, kSoon) : kSoon;
    const auto verdict = check(history, level, observed);
    if (!verdict.ok() || verdict->outcome == Outcome::Undecided) return {};
    return verdict->outcome;
  }

  // Nothing proves an undecided verdict.
  int write_certificate_of(const History& history, const Verdict& verdict) const {
    if (flags_.certificate.empty() || verdict.outcome == Outcome::Undecided) return kHolds;
    const auto status = write_certificate(make_certificate(history, verdict, options().clock_drift),
                                          flags_.certificate);
    return status ? kHolds : fail(status.error());
  }

  [[nodiscard]] CheckOptions options() const {
    CheckOptions options;
    options.time_limit = std::chrono::milliseconds(
        static_cast<std::int64_t>(std::ceil(std::min(flags_.time_limit, 1e9) * 1000)));
    options.memory_limit = static_cast<std::uint64_t>(std::min(flags_.memory_limit, 1e12) * 1e6);
    options.cancelled = &interrupted();
    options.threads = flags_.input.threads;
    options.clock_drift = static_cast<std::int64_t>(std::min(flags_.clock_drift, 9e18));
    options.evidence = evidence_;
    return options;
  }

  [[nodiscard]] std::vector<Verdict> interrupted_verdicts() const {
    std::vector<Verdict> verdicts;
    for (const Level level : levels_.asked) {
      Verdict verdict;
      verdict.level = level;
      verdict.evidence = evidence_;
      verdict.reason = "interrupted while reading";
      verdicts.push_back(verdict);
    }
    return verdicts;
  }

  int refuse(const std::string& path, Error error) const {
    if (error.file.empty()) error.file = title_of(path);
    if (flags_.output == "json" && !flags_.quiet) print(to_json(title_of(path), error));
    if (flags_.output == "elle" && !flags_.quiet) print(path + "\tunknown\n");
    return fail(error);
  }

  void print_verdicts(const std::string& path, const History& history,
                      std::span<const Verdict> verdicts, const ReportOptions& report) const {
    if (flags_.quiet) return;
    if (flags_.output == "elle") {
      constexpr std::string_view kWords[] = {"true", "false", "unknown"};
      print(fmt::format("{}\t{}\n", path, kWords[static_cast<std::size_t>(worst(verdicts))]));
    } else if (flags_.output == "json") {
      print(levels_.several ? to_json(history, verdicts, report)
                            : to_json(history, verdicts.front(), report));
    } else if (!full_story_) {
      print(levels_.several ? headline(history, verdicts, report)
                            : headline(history, verdicts.front(), report));
    } else {
      print(levels_.several ? describe(history, verdicts, report)
                            : describe(history, verdicts.front(), report));
    }
  }

  const CheckFlags& flags_;
  Evidence evidence_;
  Levels levels_;
  Format format_;
  bool full_story_;
};

int run_check(CheckFlags& flags) {
  if (flags.json) flags.output = "json";
  const auto evidence = parse_evidence(flags.evidence);
  if (!evidence) return kBadInput;
  if (!flags.model.empty() && flags.model != "list-append" && flags.model != "rw-register") {
    return fail(fmt::format("model '{}' is not supported; supported: list-append, rw-register",
                            flags.model));
  }
  const auto levels = parse_levels(flags.level, *evidence);
  const auto format = levels ? parse_format(flags.input.format) : std::nullopt;
  if (!format) return kBadInput;
  if (levels->asked.empty()) return fail("this version decides no level");
  if (!flags.certificate.empty() && (levels->several || flags.input.paths.size() != 1)) {
    return fail("a certificate is of one history at one level; give --certificate with these");
  }
  catch_interrupt();
  return Checker(flags, *evidence, *levels, *format).run();
}

}  // namespace

bool can_check(const std::string& level, const std::string& evidence) {
  const auto kind = parse_evidence(evidence);
  return kind && parse_levels(level, *kind);
}

int check_recorded(const RecordedHistory& recorded) {
  CheckFlags flags;
  flags.input.paths = {recorded.path};
  flags.title = recorded.title;
  flags.level = recorded.level;
  flags.evidence = recorded.evidence;
  flags.json = recorded.json;
  flags.quiet = recorded.quiet;
  flags.time_limit = recorded.time_limit;
  return run_check(flags);
}

void add_check(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* app = root.add_subcommand("check", "decide whether histories satisfy a level");
  app->add_option("-l,--level", flags->level, "isolation level, or 'all' [serializable]")
      ->type_name("LEVEL");
  app->add_option("--evidence", flags->evidence, "what the verdict rests on [observed]")
      ->type_name("KIND");
  app->add_option("--output", flags->output, "how to print the verdicts [text]")
      ->type_name("text|json|elle")
      ->check(one_of({"text", "json", "elle"}));
  app->add_flag("--json", flags->json, "the same as --output json");
  app->add_option("-t,--time-limit", flags->time_limit, "give up on a history after SEC [0: never]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app->add_option("--memory-limit", flags->memory_limit, "give up if it takes MB memory [0: never]")
      ->type_name("MB")
      ->check(number_at_least_zero());
  app->add_option("--clock-drift", flags->clock_drift, "by how much clocks may differ [0]")
      ->type_name("D")
      ->check(number_at_least_zero());
  app->add_option("--certificate", flags->certificate, "write a proof for 'ouro certify'")
      ->type_name("FILE");
  app->add_flag("-v,--verbose", flags->verbose, "tell the whole story of every history");
  app->add_flag("-q,--quiet", flags->quiet, "print no verdicts, only set the exit status");
  add_input_flags(*app, flags->input);
  app->add_option("-c,--consistency-models", flags->level)->group("");
  app->add_option("-m,--model", flags->model)->group("");
  app->footer(
      "Exit status: 0 holds, 1 violated, 2 undecided, 254 bad input or usage,\n"
      "255 internal error; of several histories the largest.");
  commands.push_back({app, [flags] { return run_check(*flags); }, kCheckDetails});
}

}  // namespace ouro::cli
