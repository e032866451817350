// ouro check: judges histories.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/check_flags.h"
#include "cli/check_stream.h"
#include "cli/command.h"
#include "cli/elle_folder.h"
#include "cli/forms.h"
#include "cli/limits.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

// Reads --level, or what stands for it. Elle's models go into `flags.models`; with some, only the
// levels that were named are expected to hold. If something is wrong, complains and returns
// nothing.
std::optional<AskedLevels> levels_and_models(CheckFlags& flags, Expectation& expected,
                                             Evidence evidence) {
  auto asked = parse_levels_and_models(levels_asked(flags, expected), evidence);
  if (!asked.ok()) {
    fail(asked.error());
    return std::nullopt;
  }
  flags.models = asked->models;
  if (!flags.models.empty() && expected.empty()) {
    for (const Level level : asked->named) expected.levels.emplace_back(level, Outcome::Holds);
  }
  return std::move(asked->asked);
}

// Whether the stage does something that was not asked for, but is good to know.
bool is_courtesy(ExamineStage stage) {
  return stage == ExamineStage::ReadsAlone || stage == ExamineStage::OtherLevels;
}

std::string what_is_done(ExamineStage stage, const std::string& name) {
  switch (stage) {
    case ExamineStage::Checking:
      return "checking " + name;
    case ExamineStage::ReadsAlone:
    case ExamineStage::OtherLevels:
      return "asking about other levels, too; Ctrl-C goes on without";
    case ExamineStage::Explaining:
      return "explaining";
    case ExamineStage::Looking:
      return "looking for anomalies";
  }
  return {};
}

// Whether a history is neither of another of Jepsen's models nor states levels of its own.
bool is_of_transactions(const History& history) {
  const auto remarks = history.remarks();
  return !history.states_levels() &&
         std::none_of(remarks.begin(), remarks.end(),
                      [](const Remark& remark) { return remark.name == "model"; });
}

// Whether no transaction committed, so that every level holds and that says nothing. Elle does not
// know what to think of that.
bool checked_nothing(std::span<const Verdict> verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return std::any_of(verdict.left_out.begin(), verdict.left_out.end(),
                       [](const LeftOut& left) { return left.kind == LeftOutKind::Everything; });
  });
}

// Checks the histories one after the other.
class Checker {
 public:
  Checker(const CheckFlags& flags, Evidence evidence, AskedLevels levels, Format format,
          Expectation expectation, const SearchOptions& search)
      : flags_(flags),
        evidence_(evidence),
        search_(search),
        given_(levels),
        levels_(std::move(levels)),
        format_(format),
        expectation_(std::move(expectation)),
        forms_(flags.forms),
        limits_(flags.time_limit, flags.memory_limit),
        full_story_(flags.verbose || flags.input.paths.size() == 1) {}

  int run() {
    int status = kHolds;
    std::size_t done = 0;
    for (const std::string& path : flags_.input.paths) {
      status = worse(status, check_one(path));
      ++done;
      if (output_closed() || interrupted()) break;
    }
    // Histories that were not looked at must not pass.
    if (done < flags_.input.paths.size()) status = worse(status, kUndecided);
    return worse(status, forms_.write());
  }

 private:
  void choose_levels(const History& history) {
    levels_ = given_;
    if (flags_.level || !expectation_.levels.empty()) return;
    if (flags_.output == "elle" && is_of_transactions(history)) return;  // By elle-cli's default.
    levels_ = {.levels = {usual_level(history, evidence_)}};
  }

  [[nodiscard]] std::string title_of(const std::string& path) const {
    return flags_.title.empty() ? display_name(path) : flags_.title;
  }

  int check_one(const std::string& path) {
    const std::string name = title_of(path);
    ReportOptions report{
        .name = name, .colour = stdout_is_terminal(), .unsupported = levels_.unsupported};
    const auto start = std::chrono::steady_clock::now();
    // Given up, the reader goes on; so what it fills outlives this function.
    std::shared_ptr<RecordedLines> lines;
    if (flags_.output == "edn") lines = std::make_shared<RecordedLines>();
    const ReadOptions read{
        .format = format_, .threads = flags_.input.threads, .model = flags_.model};
    const auto read_in = std::make_shared<std::optional<Result<History>>>();
    const auto stop = [this] {
      given_up_ = interrupted() ? "interrupted while reading" : limits_.reached();
      return !given_up_.empty();
    };
    // To free a large history takes as long as to tell of it, and the last one need not be freed.
    if (path == flags_.input.paths.back()) keep_until_exit(read_in);
    const bool finished =
        given_up_.empty() && watched("reading " + name, stop, [read_in, path, read, lines] {
          *read_in = lines ? read_history(path, read, *lines) : read_history(path, read);
        });
    if (!finished) return give_up_reading(path, report);
    if (!(*read_in)->ok()) return refuse(path, (*read_in)->error());
    const History& history = ***read_in;
    choose_levels(history);
    report.load_seconds = seconds_since(start);
    std::string begun;  // What was printed before all is known.
    auto examined = examine_watched(history, report, begun);
    if (!examined.ok()) return refuse(path, examined.error());
    const int certified = write_certificates(history, *examined);
    expect_more(history,
                {.models = flags_.models,
                 .negative_balances = flags_.negative_balances,
                 .total_amount = flags_.total_amount},
                *examined);
    print_examination(path, history, *examined, report, lines.get(), begun);
    forms_.add({.name = name,
                .history = &history,
                .verdicts = examined->verdicts,
                .explanations = examined->explanations,
                .seconds = *report.load_seconds + examined->check_seconds,
                .others = examined->others,
                .met = examined->met ? &*examined->met : nullptr});
    int status = status_of(name, *examined);
    status = worse(status, certified);
    status = worse(status, write_counterexample_of(history, examined->explanations));
    return worse(status, write_elle_folder(flags_.elle, history, examined->explanations));
  }

  // Reports that a limit or Ctrl-C came before the history was read. No other one is read after it:
  // the work on it goes on.
  int give_up_reading(const std::string& path, const ReportOptions& report) {
    const History nothing;
    Examination out;
    for (const Level level : levels_.levels) {
      out.verdicts.push_back({.level = level, .evidence = evidence_, .reason = given_up_});
    }
    print_examination(path, nothing, out, report, nullptr, {});
    forms_.add({.name = report.name, .history = &nothing, .verdicts = out.verdicts});
    return status_of(std::string(report.name), out);
  }

  static ElleReport elle_report(const Examination& examined, const RecordedLines* lines) {
    return {.verdicts = examined.verdicts,
            .explanations = examined.explanations,
            .others = examined.others,
            .lines = lines};
  }

  // Whether all that counts is at the levels: neither --anomalies, nor models of Elle's, nor what a
  // bank must hold.
  [[nodiscard]] bool only_levels() const {
    return flags_.anomalies.empty() && flags_.models.empty() && !flags_.total_amount;
  }

  // Ctrl-C during a courtesy only ends that courtesy. Sets `begun` to what it printed of the
  // report.
  Result<Examination> examine_watched(const History& history, const ReportOptions& report,
                                      std::string& begun) const {
    std::optional<Result<Examination>> out;
    watched_in_stages([&](const TellStage& tell) {
      bool courtesy = false;
      ExamineOptions options = examine_options();
      options.decided = [&](std::span<const Verdict> verdicts) {
        begun = first_said(history, verdicts, report);
      };
      bool said = false;
      options.progress = [&](ExamineStage stage) {
        if (courtesy && interrupted()) {
          forget_interrupt();
          catch_interrupt();
        }
        courtesy = is_courtesy(stage);
        tell(what_is_done(stage, std::string(report.name)), said ? std::string() : begun);
        said = !begun.empty();
      };
      out = examine(history, options);
    });
    if (out->ok()) name_limit((*out)->verdicts);
    return *std::move(out);
  }

  // What is said of the level that was asked for before anything is told of it. Nothing if that is
  // not known yet; nor, on a terminal, half a line, as the line of progress would be in its way.
  [[nodiscard]] std::string first_said(const History& history, std::span<const Verdict> verdicts,
                                       const ReportOptions& report) const {
    const bool text = flags_.output == "text" && !flags_.quiet && full_story_ && only_levels() &&
                      !flags_.negative_balances;
    if (!text || verdicts.size() != 1 || verdicts[0].outcome == Outcome::Undecided) return {};
    const bool whole_line = verdicts[0].outcome == Outcome::Holds;
    if (!whole_line && stderr_is_terminal()) return {};
    return headline_start(history, verdicts[0], report);
  }

  // Verdicts know only how much time was left to them.
  void name_limit(std::vector<Verdict>& verdicts) const {
    for (Verdict& verdict : verdicts) {
      if (verdict.reason.starts_with("time limit")) verdict.reason = limits_.out_of_time();
    }
  }

  [[nodiscard]] ExamineOptions examine_options() const {
    using Explain = ExamineOptions::Explain;
    const bool printed = !flags_.quiet && flags_.output != "elle";
    const bool told = printed || !flags_.models.empty() || !flags_.counterexample.empty() ||
                      !flags_.elle.directory.empty();
    ExamineOptions options;
    options.levels = levels_.levels;
    options.check = check_options();
    options.examples = examples();
    options.explain = forms_.any() ? Explain::AllLevels
                      : told       ? Explain::WeakestLevels
                                   : Explain::Nothing;
    options.other_levels = told_at_length() || flags_.forms.page();
    options.reads_alone = told_at_length() && flags_.output != "edn";
    options.each_kind = flags_.output == "edn" || !flags_.elle.directory.empty();
    options.expectation = expectation_;
    return options;
  }

  [[nodiscard]] std::size_t examples() const {
    return flags_.examples > 0 ? flags_.examples : flags_.verbose ? 3 : 1;
  }

  int status_of(const std::string& name, const Examination& examination) const {
    // What --anomalies adds was not stated by anybody; the verdicts tell of it.
    const bool stated = only_levels() || !flags_.expected->empty() || flags_.total_amount;
    if (examination.met && stated) {
      for (const std::string& complaint : examination.met->complaints) {
        print_error(fmt::format("ouro: {}: {}\n", name, complaint));
      }
    }
    const Outcome all = outcome(examination);
    if (all != Outcome::Undecided) return all == Outcome::Holds ? kHolds : kViolated;
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
      how.clock_drift = flags_.clock_drift;
      how.time_limit = limits_.time_left();
      how.memory_limit = limits_.memory();
      how.cancelled = &interrupted();
      const auto status =
          write_history(counterexample(history, story, how), flags_.counterexample, Format::Native);
      return status.ok() ? kHolds : fail(status.error());
    }
    return kHolds;
  }

  // Whether more than a line is printed about each history.
  [[nodiscard]] bool told_at_length() const {
    const bool printed = flags_.output == "json" || flags_.output == "edn" ||
                         (flags_.output == "text" && full_story_);
    return printed && !flags_.quiet;
  }

  // The certificate that was asked for, and the one that a folder of a run keeps.
  int write_certificates(const History& history, Examination& examined) const {
    const auto start = std::chrono::steady_clock::now();
    const int asked = write_certificate_of(history, examined.verdicts.front(), flags_.certificate);
    const int kept =
        write_certificate_of(history, most_telling(examined.verdicts), flags_.kept_certificate);
    if (!flags_.certificate.empty() || !flags_.kept_certificate.empty()) {
      examined.effort.add(Stage::Certify, seconds_since(start));
    }
    return worse(asked, kept);
  }

  // An undecided verdict has no certificate.
  int write_certificate_of(const History& history, const Verdict& verdict,
                           const std::string& path) const {
    if (path.empty() || verdict.outcome == Outcome::Undecided) return kHolds;
    const auto status =
        write_certificate(make_certificate(history, verdict, check_options().clock_drift), path);
    return status ? kHolds : fail(status.error());
  }

  // Of several verdicts one that is violated and has a proof of its own, if there is one; the
  // weakest such level comes first.
  static const Verdict& most_telling(std::span<const Verdict> verdicts) {
    const auto weakest = weakest_violated(verdicts);
    const Verdict* found = nullptr;
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::Violated || verdict.anomalies.empty()) continue;
      const bool weak = std::find(weakest.begin(), weakest.end(), verdict.level) != weakest.end();
      if (found == nullptr || weak) found = &verdict;
      if (weak) break;
    }
    return found != nullptr ? *found : verdicts.front();
  }

  [[nodiscard]] CheckOptions check_options() const {
    CheckOptions options;
    options.time_limit = limits_.time_left();
    options.memory_limit = limits_.memory();
    options.cancelled = &interrupted();
    options.threads = flags_.input.threads;
    options.clock_drift = flags_.clock_drift;
    options.evidence = evidence_;
    options.search = search_;
    return options;
  }

  // Reports a history that cannot be read or checked.
  int refuse(const std::string& path, Error error) {
    if (error.file.empty()) error.file = title_of(path);
    forms_.add(title_of(path), error);
    if (flags_.output == "json" && !flags_.quiet) print(to_json(title_of(path), error));
    if (flags_.output == "elle" && !flags_.quiet) print(path + " \t unknown\n");
    return fail(error);
  }

  void print_examination(const std::string& path, const History& history,
                         const Examination& examination, const ReportOptions& report,
                         const RecordedLines* lines, std::string_view begun) const {
    if (flags_.quiet) return;
    // Anomalies that elle-cli was asked for count as those that the level forbids.
    Outcome elle = only_levels() ? worst(examination.verdicts) : outcome(examination);
    if (elle == Outcome::Holds && checked_nothing(examination.verdicts)) elle = Outcome::Undecided;
    if (flags_.output == "elle") {
      constexpr std::string_view kWords[] = {"true", "false", "unknown"};
      print(fmt::format("{} \t {}\n", path, kWords[static_cast<std::size_t>(elle)]));
    } else if (flags_.output == "edn") {
      ElleReport elles = elle_report(examination, lines);
      elles.outcome = elle;
      print(to_edn(history, elles));
    } else if (flags_.output == "json") {
      print(to_json(history, examination, report));
    } else {
      const std::string all = full_story_ ? describe(history, examination, report)
                                          : headline(history, examination, report);
      if (all.starts_with(begun)) {
        print(std::string_view(all).substr(begun.size()));
      } else {
        print('\n' + all);
      }
      tell_of_models(history, examination, report.name);
    }
  }

  void tell_of_models(const History& history, const Examination& examined,
                      std::string_view name) const {
    for (const std::string_view model : flags_.models) {
      const Outcome outcome = outcome_of_model(history, elle_report(examined, nullptr), model);
      print(fmt::format("{}: {} {}\n", name,
                        outcome == Outcome::Holds      ? "holds"
                        : outcome == Outcome::Violated ? "VIOLATED"
                                                       : "undecided",
                        model));
    }
  }

  const CheckFlags& flags_;
  Evidence evidence_;
  SearchOptions search_;
  AskedLevels given_;   // What was asked for.
  AskedLevels levels_;  // What the history at hand is checked against.
  Format format_;
  Expectation expectation_;
  FormFiles forms_;
  Limits limits_;         // Of the whole command.
  std::string given_up_;  // Why a history was not read; empty: all were.
  bool full_story_;       // Whether text has the stories, or just a line for each history.
};

}  // namespace

int run_check(CheckFlags& flags) {
  if (flags.json) flags.output = "json";
  const auto evidence = parse_evidence(flags.evidence);
  if (!evidence) return kBadInput;
  const auto models = jepsen_models();
  if (!flags.model.empty() &&
      std::find(models.begin(), models.end(), flags.model) == models.end()) {
    return fail(fmt::format("model '{}' is not supported; supported: {}", flags.model,
                            fmt::join(models, ", ")));
  }
  auto expected = parse_expected(flags);
  if (!expected || overwrites_input(flags)) return kBadInput;
  auto levels = levels_and_models(flags, *expected, *evidence);
  if (!levels || !add_anomalies(flags, *expected, *levels)) return kBadInput;
  const auto format = parse_format(flags.input.format);
  if (!format) return kBadInput;
  const bool several = flags.level == "all" || levels->levels.size() > 1;
  if (!flags.certificate.empty() && (several || flags.input.paths.size() != 1)) {
    return fail("a certificate is of one history at one level; give --certificate with these");
  }
  const bool of_one =
      !flags.counterexample.empty() || !flags.forms.dot.empty() || !flags.elle.directory.empty();
  if (of_one && flags.input.paths.size() != 1) {
    return fail("--counterexample, --dot and --directory are about one history; give one");
  }
  if (flags.segment > 0 && (!flags.stream || *evidence != Evidence::Observed)) {
    return fail("--segment is for --stream by what was observed; leave it out");
  }
  if (flags.stream) {
    const Level level = levels->levels.front();
    if (*evidence == Evidence::Versions || several || level == Level::Mixed) {
      return fail(
          "--stream is about one level, which is not 'mixed', by what was observed or by "
          "timestamps; give --level and --evidence with these");
    }
    return check_in_pieces(flags, level, *evidence);
  }
  const auto search = parse_search_options(flags.search);
  if (!search.ok()) return fail(search.error());
  catch_interrupt();
  return Checker(flags, *evidence, *levels, *format, *expected, *search).run();
}

bool can_check(const std::string& level, const std::string& evidence) {
  const auto kind = parse_evidence(evidence);
  if (!kind) return false;
  const auto levels = parse_levels(level, *kind);
  if (!levels.ok()) fail(levels.error());
  return levels.ok();
}

void add_check(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* app = root.add_subcommand("check", "decide whether histories satisfy a level");
  declare(app, *flags);
  commands.push_back({app, [flags] { return run_check(*flags); }, std::string(check_details())});
}

}  // namespace ouro::cli
