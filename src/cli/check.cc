// ouro check: judges histories.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <sstream>

#include "cli/check_flags.h"
#include "cli/check_stream.h"
#include "cli/command.h"
#include "cli/forms.h"
#include "cli/look.h"
#include "cli/patience.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct Levels {
  std::vector<Level> asked;
  std::vector<Level> unsupported;  // With 'all' only.
  bool several = false;            // Whether the answer is a table.
};

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
      const Evidence other =
          decidable(*level, Evidence::Observed) ? Evidence::Observed : Evidence::Versions;
      fail(fmt::format("level '{}' cannot be decided by evidence '{}'; give --evidence {}",
                       info(*level).name, ouro::name(evidence), ouro::name(other)));
      return std::nullopt;
    }
    out.asked.push_back(*level);
  }
  if (out.asked.empty()) parse_level("");
  out.several = out.asked.size() > 1;
  return out.asked.empty() ? std::nullopt : std::optional(out);
}

// The level that reads alone decide in place of `level`: itself, or the weakest above it. Without
// what predicates left out nothing can be a phantom, so there repeatable-read is serializable.
Level by_reads(Level level) {
  for (const LevelInfo& other : levels()) {
    const bool decided = decidable(other.level, Evidence::Observed);
    if (decided && implies(other.level, level)) return other.level;
  }
  return level;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Checker {
 public:
  Checker(const CheckFlags& flags, Evidence evidence, Levels levels, Format format,
          Expectation expectation)
      : flags_(flags),
        evidence_(evidence),
        levels_(std::move(levels)),
        format_(format),
        expectation_(std::move(expectation)),
        forms_(flags.forms),
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
    return std::max(status, forms_.write());
  }

 private:
  [[nodiscard]] std::string title_of(const std::string& path) const {
    return flags_.title.empty() ? display_name(path) : flags_.title;
  }

  int check_one(const std::string& path) {
    const std::string name = title_of(path);
    ReportOptions report{.name = name,
                         .colour = stdout_is_terminal(),
                         .examples = examples(),
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

    start = began_ = std::chrono::steady_clock::now();
    std::optional<Result<std::vector<Verdict>>> verdicts;
    watched(fmt::format("checking {}", name), OnInterrupt::Wait,
            [&] { verdicts = check(***history, levels_.asked, options()); });
    if (!verdicts->ok()) return refuse(path, verdicts->error());
    report.check_seconds = seconds_since(start);
    report.observed = ask_reads_alone(***history, **verdicts, *report.check_seconds);
    const auto others = ask_other_levels(***history, **verdicts, *report.check_seconds);
    report.others = others;
    const auto explanations = explain_all(***history, **verdicts);
    const auto met = meet(***history, **verdicts, explanations);
    const auto printed = first_examples(explanations);
    report.explanations = printed;
    print_verdicts(path, ***history, **verdicts, report);
    forms_.add({.name = name,
                .history = &***history,
                .verdicts = **verdicts,
                .explanations = printed,
                .seconds = *report.load_seconds + *report.check_seconds,
                .others = others,
                .met = met ? &*met : nullptr});
    const int status = status_of(name, **verdicts, met);
    return std::max({status, write_certificate_of(***history, (*verdicts)->front()),
                     write_counterexample_of(***history, printed)});
  }

  [[nodiscard]] std::size_t examples() const {
    return flags_.examples > 0 ? flags_.examples : flags_.verbose ? 3 : 1;
  }

  // Of several levels the weakest violated; all that are if something is expected of them.
  [[nodiscard]] std::vector<Explanation> explain_all(const History& history,
                                                     std::span<const Verdict> verdicts) const {
    constexpr std::size_t kLook = 20;  // Examples in which an expected anomaly is looked for.
    std::vector<Explanation> out;
    const bool told = !flags_.quiet || forms_.any() || !flags_.counterexample.empty();
    if (!told && expectation_.empty()) return out;
    ExplainOptions how;
    const std::chrono::milliseconds usual = how.time_limit;
    how.examples = expectation_.empty() ? examples() : std::max(examples(), kLook);
    how.cancelled = &interrupted();
    how.clock_drift = options().clock_drift;
    how.threads = flags_.input.threads;
    const std::vector<Level> weakest = weakest_violated(verdicts);
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::Violated) continue;
      const bool wanted = std::find(weakest.begin(), weakest.end(), verdict.level) != weakest.end();
      if (!wanted && expectation_.empty() && !forms_.any()) continue;
      how.time_limit = time_to_explain(usual);
      watched("explaining", OnInterrupt::Wait,
              [&] { out.push_back(explain(history, verdict, how)); });
    }
    return out;
  }

  // A time limit is for all of a history; but a verdict that was found in time is told, too.
  [[nodiscard]] std::chrono::milliseconds time_to_explain(std::chrono::milliseconds usual) const {
    using std::chrono::milliseconds;
    constexpr milliseconds kLeast(50);
    constexpr milliseconds kGrace(400);
    if (flags_.time_limit <= 0) return usual;
    const std::chrono::duration<double> left(std::min(flags_.time_limit, 1e6) -
                                             seconds_since(began_));
    return std::clamp(std::chrono::duration_cast<milliseconds>(left) + kGrace, kLeast, usual);
  }

  // As many stories of each name as are to be printed.
  [[nodiscard]] std::vector<Explanation> first_examples(
      std::span<const Explanation> explanations) const {
    std::vector<Explanation> out(explanations.begin(), explanations.end());
    for (Explanation& explanation : out) {
      std::map<std::string, std::size_t> told;
      std::erase_if(explanation.stories,
                    [&](const Story& story) { return ++told[ouro::name(story)] > examples(); });
    }
    return out;
  }

  // What came of what was expected, if anything was.
  [[nodiscard]] std::optional<ExpectationMet> meet(
      const History& history, std::span<const Verdict> verdicts,
      const std::vector<Explanation>& explanations) const {
    if (expectation_.empty()) return std::nullopt;
    std::vector<Explanation> all = explanations;
    watched("looking for anomalies", OnInterrupt::Wait, [&] {
      for (Explanation& more : look_for(expectation_, history, verdicts, explanations, options())) {
        all.push_back(std::move(more));
      }
    });
    return judge(expectation_, verdicts, all);
  }

  int status_of(const std::string& name, std::span<const Verdict> verdicts,
                const std::optional<ExpectationMet>& met) const {
    const Outcome outcome = met ? met->outcome : worst(verdicts);
    for (const std::string& complaint : met ? met->complaints : std::vector<std::string>()) {
      fmt::print(stderr, "ouro: {}: {}\n", name, complaint);
    }
    if (outcome != Outcome::Undecided) return outcome == Outcome::Holds ? kHolds : kViolated;
    return flags_.undecided == "pass"   ? kHolds
           : flags_.undecided == "fail" ? kViolated
                                        : kUndecided;
  }

  int write_counterexample_of(const History& history,
                              std::span<const Explanation> explanations) const {
    if (flags_.counterexample.empty()) return kHolds;
    for (const Explanation& explanation : explanations) {
      if (explanation.stories.empty()) continue;
      const Story& story = explanation.stories.front();
      ExplainOptions how;
      how.clock_drift = options().clock_drift;
      const auto status =
          write_history(counterexample(history, story, how), flags_.counterexample, Format::Native);
      return status.ok() ? kHolds : fail(status.error());
    }
    return kHolds;
  }

  // Whether anybody reads more than a line about each history.
  [[nodiscard]] bool told_at_length() const {
    const bool printed = flags_.output == "json" || (flags_.output == "text" && full_story_);
    return printed && !flags_.quiet;
  }

  // Does a courtesy, which may take a second, or five times as long as what was asked for, but
  // never longer than the user wants to wait.
  Result<std::vector<Verdict>> ask_too(const History& history, std::span<const Level> asked,
                                       Evidence evidence, double check_seconds) const {
    CheckOptions how = options();
    const double limit = std::chrono::duration<double>(how.time_limit).count();
    const double most = std::max(1.0, 5 * check_seconds);
    const double time = limit > 0 ? std::clamp(limit - seconds_since(began_), 0.0, most) : most;
    const Patience patience{std::chrono::duration<double>(time)};
    how.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(time * 1000)));
    how.cancelled = &patience.over();
    how.outcomes_only = true;
    how.evidence = evidence;
    std::optional<Result<std::vector<Verdict>>> verdicts;
    watched("asking about other levels, too; Ctrl-C goes on without", OnInterrupt::Wait,
            [&] { verdicts = check(history, asked, how); });
    if (interrupted()) {  // Only that was meant.
      forget_interrupt();
      catch_interrupt();
    } else if (verdicts->ok()) {
      for (Verdict& verdict : **verdicts) {
        if (verdict.reason.starts_with("interrupted") || verdict.reason.starts_with("time limit"))
          verdict.reason = most > 1 ? "not in five times the time of the check" : "not in a second";
      }
    }
    return *std::move(verdicts);
  }

  // The levels whose verdict does not follow from those asked for, to name the strongest that hold
  // and the weakest violated.
  [[nodiscard]] std::vector<Verdict> ask_other_levels(const History& history,
                                                      std::span<const Verdict> verdicts,
                                                      double check_seconds) const {
    const bool wanted = told_at_length() || !flags_.forms.html.empty();
    if (!wanted || interrupted()) return {};
    std::vector<Level> open;
    for (const LevelInfo& level : levels()) {
      if (!decidable(level.level, evidence_)) continue;
      const bool known = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
        return verdict.level == level.level ||
               (verdict.outcome == Outcome::Holds &&
                implies(verdict.level, level.level, evidence_)) ||
               (verdict.outcome == Outcome::Violated &&
                implies(level.level, verdict.level, evidence_));
      });
      if (!known) open.push_back(level.level);
    }
    if (worst(verdicts) == Outcome::Undecided || open.empty()) return {};
    auto out = ask_too(history, open, evidence_, check_seconds);
    return out.ok() ? *std::move(out) : std::vector<Verdict>();
  }

  // Whether some other order would explain what the one given does not. Of predicates only by what
  // they returned; so by version orders, where what they left out makes cycles, it is not asked.
  [[nodiscard]] std::optional<Outcome> ask_reads_alone(const History& history,
                                                       std::span<const Verdict> verdicts,
                                                       double check_seconds) const {
    if (evidence_ == Evidence::Observed || !told_at_length() || interrupted()) return {};
    const bool predicates = !history.columns().predicate_reads.empty();
    if (predicates && evidence_ == Evidence::Versions) return {};
    std::vector<Level> violated;
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::Violated) continue;
      violated.push_back(by_reads(verdict.level));
    }
    std::sort(violated.begin(), violated.end(), InListOrder());
    violated.erase(std::unique(violated.begin(), violated.end()), violated.end());
    if (violated.empty()) return {};
    const auto asked = ask_too(history, violated, Evidence::Observed, check_seconds);
    if (!asked.ok()) return {};
    const Outcome outcome = worst(*asked);
    return outcome == Outcome::Undecided ? std::nullopt : std::optional(outcome);
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
    options.examples = std::max(options.examples, examples());
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

  int refuse(const std::string& path, Error error) {
    if (error.file.empty()) error.file = title_of(path);
    forms_.add(title_of(path), error);
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
    } else if (flags_.output == "edn") {
      print(to_edn(history, verdicts, report.explanations));
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
  Expectation expectation_;
  FormFiles forms_;
  bool full_story_;
  std::chrono::steady_clock::time_point began_;  // To check the history at hand.
};

int run_check(CheckFlags& flags) {
  if (flags.json) flags.output = "json";
  const auto evidence = parse_evidence(flags.evidence);
  if (!evidence) return kBadInput;
  if (!flags.model.empty() && flags.model != "list-append" && flags.model != "rw-register") {
    return fail(fmt::format("model '{}' is not supported; supported: list-append, rw-register",
                            flags.model));
  }
  const auto expected = parse_expected(flags);
  if (!expected || overwrites_input(flags)) return kBadInput;
  const auto levels = parse_levels(levels_asked(flags, *expected), *evidence);
  const auto format = levels ? parse_format(flags.input.format) : std::nullopt;
  if (!format) return kBadInput;
  if (levels->asked.empty()) return fail("this version decides no level");
  if (!flags.certificate.empty() && (levels->several || flags.input.paths.size() != 1)) {
    return fail("a certificate is of one history at one level; give --certificate with these");
  }
  const bool of_one = !flags.counterexample.empty() || !flags.forms.dot.empty();
  if (of_one && flags.input.paths.size() != 1) {
    return fail("--counterexample and --dot are about one history; give one");
  }
  if (flags.stream) {
    if (*evidence != Evidence::Timestamps || levels->several) {
      return fail("--stream is about one level, by timestamps; give --evidence timestamps");
    }
    return check_in_pieces(flags, levels->asked.front());
  }
  catch_interrupt();
  return Checker(flags, *evidence, *levels, *format, *expected).run();
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
  flags.forms.html = recorded.html;
  flags.json = recorded.json;
  flags.quiet = recorded.quiet;
  flags.time_limit = recorded.time_limit;
  return run_check(flags);
}

void add_check(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* app = root.add_subcommand("check", "decide whether histories satisfy a level");
  declare(app, *flags);
  commands.push_back({app, [flags] { return run_check(*flags); }, std::string(check_details())});
}

}  // namespace ouro::cli
