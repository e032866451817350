// examine(): checks the levels asked for and explains what is violated. It also does what a report
// tells beyond that, the courtesies, at limited cost: checks other levels, and asks whether the
// reads alone allow a level that the given order violates. Last it compares with what was expected.

#include "ouro/examine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/level_rules.h"
#include "base/meter.h"
#include "check/check_within.h"
#include "check/implied.h"
#include "check/left_out.h"
#include "check/one_level.h"
#include "explain/expected.h"
#include "explain/explain_within.h"
#include "explain/look.h"
#include "explain/of_its_kind.h"
#include "explain/smallest.h"

namespace ouro {
namespace {

using std::chrono::milliseconds;

// What all that is told may cost together, in steps: as much as checking the history did, but in
// any case about half a second.
constexpr std::uint64_t kLeastTelling = 50'000'000;
// What each part of it may cost, whatever was spent before: other levels than the one asked for,
// and the last question, whether the reads alone would do.
constexpr std::uint64_t kLeastCourtesy = 40'000'000;
constexpr std::uint64_t kLeastQuestion = 10'000'000;
// A check of one level takes at least so many steps for each operation. One that must fail is not
// begun: it would only take time.
constexpr std::uint64_t kStepsByTimestamps = 4;
constexpr std::uint64_t kStepsBySearch = 11;
constexpr std::string_view kNotWithinWork = "not within the work given to other levels";
// Of so many anomalies of each kind the story is chosen, where each is small.
constexpr std::size_t kManyExamples = 64;

class Examining {
 public:
  Examining(const History& history, const ExamineOptions& options)
      : h_(history), options_(options), how_(options.check) {
    how_.outcomes_only = false;
    how_.examples = std::max(how_.examples, options.examples);
    told_examples_ = how_.examples;
    // By timestamps an anomaly is about one operation, and the first ones need not be the worst.
    const bool tells = options.explain != ExamineOptions::Explain::Nothing;
    if (how_.evidence == Evidence::Timestamps && tells) {
      how_.examples = std::max(how_.examples, kManyExamples);
    }
  }

  Result<Examination> run() {
    if (auto status = refuse_empty(h_); !status) return std::move(status).error();
    begin(ExamineStage::Checking);
    Budget budget(how_.time_limit, how_.cancelled, how_.memory_limit, how_.work_limit);
    budget.measure_with(&meter_);
    auto verdicts = check_within(budget, h_, options_.levels, how_);
    if (!verdicts.ok()) return std::move(verdicts).error();
    out_.verdicts = *std::move(verdicts);
    out_.check_seconds = std::chrono::duration<double>(passed()).count();
    if (options_.decided) options_.decided(out_.verdicts);
    telling_ = std::max(kLeastTelling, budget.spent());
    begin(ExamineStage::Explaining);
    explain_weakest();
    const bool smaller = !out_.explanations.empty();  // Other levels may have smaller stories.
    std::vector<Verdict> others;
    if (options_.other_levels || smaller) others = ask_other_levels();
    std::vector<Verdict> known = out_.verdicts;
    known.insert(known.end(), others.begin(), others.end());
    tell_smallest_first(known);
    explain_stronger(known);
    if (options_.other_levels) out_.others = std::move(others);
    keep_first_examples();
    if (options_.each_kind) tell_each_kind(known);
    if (options_.reads_alone) out_.observed = ask_reads_alone();
    if (!options_.expectation.empty()) meet();
    out_.effort = meter_.effort();
    return std::move(out_);
  }

 private:
  void begin(ExamineStage stage) const {
    if (options_.progress) options_.progress(stage);
  }

  [[nodiscard]] bool is_cancelled() const {
    return how_.cancelled != nullptr && how_.cancelled->load();
  }

  [[nodiscard]] Budget::Clock::duration passed() const { return Budget::Clock::now() - began_; }
  // What is left of the time limit; may be negative.
  [[nodiscard]] milliseconds time_left() const {
    return how_.time_limit - std::chrono::duration_cast<milliseconds>(passed());
  }

  // The same as a limit, of which zero is none.
  [[nodiscard]] milliseconds limit_left() const {
    return how_.time_limit.count() > 0 ? std::max(milliseconds(1), time_left()) : milliseconds(0);
  }

  // What the next thing that is told may cost, in steps: all that is left, and in any case a
  // quarter of the whole or kLeastCourtesy, as what comes first must not leave nothing.
  [[nodiscard]] std::uint64_t work_left() const {
    return std::max({kLeastCourtesy, telling_ / 4, left()});
  }
  [[nodiscard]] std::uint64_t left() const { return telling_ - std::min(telling_, told_); }

  // ---- courtesies ----

  // Whether a check of so many levels can come to an end within the budget.
  [[nodiscard]] bool may_end(const Budget& budget, Evidence evidence, std::size_t levels) const {
    const bool timed = evidence == Evidence::Timestamps;
    const std::uint64_t steps = timed ? kStepsByTimestamps * levels : kStepsBySearch;
    return budget.affords(steps * h_.op_count());
  }

  // Checks these levels, outcomes only, within the limits of a courtesy.
  Result<std::vector<Verdict>> ask_too(std::span<const Level> asked, Evidence evidence,
                                       std::uint64_t work) {
    CheckOptions how = how_;
    how.outcomes_only = true;
    how.evidence = evidence;
    const Budget budget(limit_left(), how_.cancelled, how_.memory_limit, work);
    if (!may_end(budget, evidence, asked.size())) return given_up(asked, evidence);
    auto verdicts = check_within(budget, h_, asked, how);
    told_ += budget.spent();
    if (!verdicts.ok()) return verdicts;
    for (Verdict& verdict : *verdicts) {
      const Limit limit = limit_named(verdict.reason);
      if (limit == Limit::Work) verdict.reason = kNotWithinWork;
      if (limit == Limit::Time) verdict.reason = "not within the time limit";
    }
    return verdicts;
  }

  static std::vector<Verdict> given_up(std::span<const Level> asked, Evidence evidence) {
    std::vector<Verdict> out;
    for (const Level level : asked) {
      out.push_back({.level = level,
                     .evidence = evidence,
                     .outcome = Outcome::Undecided,
                     .reason = std::string(kNotWithinWork)});
    }
    return out;
  }

  // Whether the outcome at `level` is known from the verdicts, or follows from them.
  [[nodiscard]] bool is_known(Level level) const {
    const Evidence evidence = how_.evidence;
    return std::any_of(out_.verdicts.begin(), out_.verdicts.end(), [&](const Verdict& verdict) {
      return verdict.level == level ||
             (verdict.outcome == Outcome::Holds &&
              implied_in(h_, verdict.level, level, evidence)) ||
             (verdict.outcome == Outcome::Violated &&
              implied_in(h_, level, verdict.level, evidence));
    });
  }

  // Whether a story is of transactions that violate `level` already by themselves, without the rest
  // of the history. By observation the whole violates it, too.
  [[nodiscard]] bool is_told(Level level) const {
    const auto shows = [&](const Story& story) {
      return story.evidence == Evidence::Observed &&
             std::any_of(
                 story.weakest_violated.begin(), story.weakest_violated.end(),
                 [&](Level weakest) { return implied_in(h_, level, weakest, Evidence::Observed); });
    };
    return std::any_of(
        out_.explanations.begin(), out_.explanations.end(), [&](const Explanation& explanation) {
          return std::any_of(explanation.stories.begin(), explanation.stories.end(), shows);
        });
  }

  // Verdicts at the levels whose outcome does not follow from those asked for, so that a report can
  // name the strongest levels that hold and the weakest that are violated. Those that the stories
  // violate need not be asked.
  [[nodiscard]] std::vector<Verdict> ask_other_levels() {
    if (is_cancelled() || worst(out_.verdicts) == Outcome::Undecided) return {};
    std::vector<Level> open;
    std::vector<Verdict> out;
    for (const LevelInfo& level : levels()) {
      if (!decidable(level.level, how_.evidence) || is_known(level.level)) continue;
      if (is_told(level.level)) {
        out.push_back(
            {.level = level.level, .evidence = how_.evidence, .outcome = Outcome::Violated});
      } else {
        open.push_back(level.level);
      }
    }
    if (open.empty()) return out;
    begin(ExamineStage::OtherLevels);
    const StageTimer timer(&meter_, Stage::Others);
    auto asked = ask_too(open, how_.evidence, work_left());
    if (!asked.ok()) return out;
    std::move(asked->begin(), asked->end(), std::back_inserter(out));
    std::sort(out.begin(), out.end(), [](const Verdict& one, const Verdict& other) {
      return InListOrder()(one.level, other.level);
    });
    return out;
  }

  // Whether the violated levels hold by observation, that is, by some other order than the one that
  // timestamps or version orders give. By observation only the rows that predicate reads returned
  // count. By version orders rows that they did not return count, too; so with both, the answer
  // would say little, and is not asked for.
  [[nodiscard]] std::optional<Outcome> ask_reads_alone() {
    if (how_.evidence == Evidence::Observed || is_cancelled()) return {};
    const bool predicates = h_.has_predicate_reads();
    if (predicates && how_.evidence == Evidence::Versions) return {};
    std::vector<Level> violated;
    for (const Verdict& verdict : out_.verdicts) {
      if (verdict.outcome != Outcome::Violated) continue;
      violated.push_back(verdict.level);
    }
    std::sort(violated.begin(), violated.end(), InListOrder());
    violated.erase(std::unique(violated.begin(), violated.end()), violated.end());
    if (violated.empty()) return {};
    begin(ExamineStage::ReadsAlone);
    const StageTimer timer(&meter_, Stage::Others);
    const auto asked = ask_too(violated, Evidence::Observed, std::max(kLeastQuestion, left()));
    if (!asked.ok()) return {};
    const Outcome outcome = worst(*asked);
    return outcome == Outcome::Undecided ? std::nullopt : std::optional(outcome);
  }

  // ---- explanations ----

  // How many stories explanations tell. The same whatever is printed, so that what is told first is
  // the same, too.
  [[nodiscard]] ExplainOptions telling() const {
    ExplainOptions how;
    how.examples = options_.examples;
    how.cancelled = how_.cancelled;
    how.clock_drift = how_.clock_drift;
    how.threads = how_.threads;
    how.memory_limit = how_.memory_limit;
    how.work_limit = 0;  // That of the budget counts.
    return how;
  }

  [[nodiscard]] Explanation explained(const Verdict& verdict) {
    const Budget budget(time_to_explain(), how_.cancelled, how_.memory_limit, work_left());
    Explanation out = explain_within(budget, h_, verdict, telling());
    told_ += budget.spent();
    return out;
  }

  void explain_level(const Verdict& verdict) {
    const StageTimer timer(&meter_, Stage::Explain);
    out_.explanations.push_back(explained(verdict));
  }

  [[nodiscard]] bool is_explained(Level level) const {
    return std::any_of(out_.explanations.begin(), out_.explanations.end(),
                       [&](const Explanation& each) { return each.level == level; });
  }

  void explain_weakest() {
    using Explain = ExamineOptions::Explain;
    if (options_.explain == Explain::Nothing && options_.expectation.empty()) return;
    const std::vector<Level> weakest = weakest_violated(out_.verdicts);
    for (const Verdict& verdict : out_.verdicts) {
      if (verdict.outcome != Outcome::Violated) continue;
      const auto at = std::find(weakest.begin(), weakest.end(), verdict.level);
      if (at != weakest.end()) explain_level(verdict);
    }
  }

  // Explains the other violated levels that were asked for, if that is wanted: behind the weakest,
  // whose stories must not depend on it.
  void explain_stronger(std::span<const Verdict> known) {
    using Explain = ExamineOptions::Explain;
    if (options_.explain != Explain::AllLevels && options_.expectation.empty()) return;
    const std::size_t weakest = out_.explanations.size();
    for (const Verdict& verdict : out_.verdicts) {
      const bool told = is_explained(verdict.level);
      if (verdict.outcome == Outcome::Violated && !told) explain_level(verdict);
    }
    tell_smallest_first(known, weakest);
  }

  // Looks for smaller stories, for the explanations from the `first` on, at all levels that are
  // violated.
  void tell_smallest_first(std::span<const Verdict> known, std::size_t first = 0) {
    if (out_.explanations.size() == first) return;
    const StageTimer timer(&meter_, Stage::Explain);
    const Budget budget(limit_left(), how_.cancelled, how_.memory_limit, work_left());
    if (!may_end(budget, how_.evidence, 1)) return;
    tell_smallest(h_, known, how_, telling(), budget, out_.explanations, first);
    told_ += budget.spent();
  }

  // What is left of the time limit, which is for all that is done with a history, and a little
  // more: a verdict that was found in time is explained in any case. Zero: no limit.
  [[nodiscard]] milliseconds time_to_explain() const {
    constexpr milliseconds kLeast(50);
    constexpr milliseconds kGrace(400);
    return how_.time_limit.count() > 0 ? std::max(kLeast, time_left() + kGrace) : milliseconds(0);
  }

  void meet() {
    begin(ExamineStage::Looking);
    const StageTimer timer(&meter_, Stage::Explain);
    // What is found beyond the limit still counts, but not that nothing was found.
    const bool late = how_.time_limit.count() > 0 && time_left().count() <= 0;
    const Budget budget(limit_left(), how_.cancelled, how_.memory_limit, how_.work_limit);
    const Looked looked =
        look_for(options_.expectation, h_, out_.verdicts, out_.explanations, how_, budget);
    std::vector<Explanation> all = out_.explanations;
    all.insert(all.end(), looked.more.begin(), looked.more.end());
    out_.met = judge(options_.expectation, out_.verdicts, all);
    for (const Explanation& more : looked.more) tell_expected(more);
    if ((looked.cut_short || late) && !options_.expectation.lacks.empty() &&
        out_.met->outcome == Outcome::Holds) {
      out_.met->outcome = Outcome::Undecided;
      out_.met->complaints.push_back(
          "a limit was reached before all anomalies were looked at, so one that is expected not "
          "to show may");
    }
  }

  // Drops stories beyond the number asked for: a smaller story may have a name that was told. And
  // anomalies that were only looked through.
  void keep_first_examples() {
    for (Explanation& explanation : out_.explanations) {
      std::map<std::string, std::size_t> told;
      std::erase_if(explanation.stories,
                    [&](const Story& story) { return ++told[name(story)] > options_.examples; });
    }
    for (Verdict& verdict : out_.verdicts) {
      std::array<std::size_t, kAnomalyKindCount> kept{};
      std::erase_if(verdict.anomalies, [&](const Anomaly& anomaly) {
        return ++kept[static_cast<std::size_t>(anomaly.kind)] > told_examples_;
      });
    }
  }

  // ---- what Elle tells ----

  void tell_each_kind(std::span<const Verdict> known) {
    for (Explanation& explanation : out_.explanations) {
      tell_without_time(explanation, known);
      for (const Verdict& verdict : out_.verdicts) {
        if (verdict.level == explanation.level) tell_kinds(verdict, explanation);
      }
    }
  }

  // The level that differs in nothing but that neither sessions nor clocks count.
  [[nodiscard]] std::optional<Level> without_time(Level level) const {
    const auto same = [](const LevelRules& one, const LevelRules& other) {
      return one.family == other.family && one.premise == other.premise &&
             one.lost_updates == other.lost_updates && one.phantoms == other.phantoms &&
             one.rereads_differ == other.rereads_differ;
    };
    for (const LevelInfo& other : levels()) {
      const LevelRules& its = rules(other.level);
      if (its.sessions || its.clocks() || other.level == level) continue;
      if (same(its, rules(level)) && decidable(other.level, how_.evidence)) return other.level;
    }
    return std::nullopt;
  }

  void tell_without_time(Explanation& explanation, std::span<const Verdict> known) {
    const auto has_variant = [](const Story& story) { return story.variant != Variant::None; };
    const auto level = without_time(explanation.level);
    if (!level || std::none_of(explanation.stories.begin(), explanation.stories.end(), has_variant))
      return;
    const bool may_be = std::none_of(known.begin(), known.end(), [&](const Verdict& verdict) {
      return verdict.level == *level && verdict.outcome != Outcome::Violated;
    });
    if (!may_be || is_explained(*level)) return;
    const Budget budget(limit_left(), how_.cancelled, how_.memory_limit, work_left());
    const auto verdict = check_within(budget, h_, *level, how_);
    told_ += budget.spent();
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) return;
    const Explanation plain = explained(*verdict);
    for (Story& story : explanation.stories) {
      const auto same = std::find_if(
          plain.stories.begin(), plain.stories.end(),
          [&](const Story& other) { return info(other.pattern).id == info(story.pattern).id; });
      if (has_variant(story) && same != plain.stories.end()) story = *same;
    }
  }

  void tell_kinds(const Verdict& verdict, Explanation& explanation) {
    for (std::size_t i = 0; i < kAnomalyKindCount; ++i) {
      const auto kind = static_cast<AnomalyKind>(i);
      const auto is_told = [&](const Story& story) { return story.kind == kind; };
      if (info(kind).sign != AnomalySign::Operations || verdict.counts[i] == 0 ||
          std::any_of(explanation.stories.begin(), explanation.stories.end(), is_told)) {
        continue;
      }
      Verdict only = verdict;
      std::erase_if(only.anomalies, [&](const Anomaly& anomaly) { return anomaly.kind != kind; });
      if (only.anomalies.empty()) continue;
      ExplainOptions how = telling();
      how.time_limit = time_to_explain();
      how.work_limit = work_left();
      const Explanation told = explain_each_kind(h_, only, how);
      const auto story = std::find_if(told.stories.begin(), told.stories.end(), is_told);
      if (story != told.stories.end()) explanation.stories.push_back(*story);
    }
  }

  // Tells, behind the others, the first stories of the names that were looked for and not told yet:
  // at their own level or, if that was not asked for, at one that implies it.
  void tell_expected(const Explanation& more) {
    const auto shows = [&](const Explanation& each) {
      return each.level == more.level || implied_in(h_, each.level, more.level, how_.evidence);
    };
    const auto at = std::find_if(out_.explanations.begin(), out_.explanations.end(), shows);
    if (at == out_.explanations.end()) return;
    for (const auto& names : {options_.expectation.shows, options_.expectation.lacks}) {
      for (const std::string& wanted : names) {
        if (const Story* story = find_story({&more, 1}, wanted);
            story != nullptr && find_story(out_.explanations, wanted) == nullptr) {
          at->stories.push_back(*story);
        }
      }
    }
  }

  const History& h_;
  const ExamineOptions& options_;
  CheckOptions how_;
  mutable Meter meter_;
  const Budget::Clock::time_point began_ = Budget::Clock::now();
  std::size_t told_examples_ = 0;  // How many anomalies of a kind are reported.
  std::uint64_t telling_ = 0;      // What all that is told may take together, in steps.
  std::uint64_t told_ = 0;         // What it took so far.
  Examination out_;
};

}  // namespace

Outcome outcome(const Examination& examination) {
  return examination.met ? examination.met->outcome : worst(examination.verdicts);
}

Result<Examination> examine(const History& history, const ExamineOptions& options) {
  return Examining(history, options).run();
}

}  // namespace ouro
