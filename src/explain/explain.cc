// explain(): for each anomaly of a verdict, finds a small part of the history that violates the
// level, too, shrinks it, and makes a story of what is left. Then removes the transactions of these
// stories from the history and checks the rest, to find violations that have nothing to do with
// them. By timestamps nothing is removed: a read is judged by the last writer before it, so without
// that one it would seem wrong.

#include "ouro/explain.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

#include "base/budget.h"
#include "base/level_rules.h"
#include "check/check_within.h"
#include "check/observed/observed.h"
#include "check/versions/worst_cycle.h"
#include "explain/cases.h"
#include "explain/core.h"
#include "explain/explain_within.h"
#include "explain/lift.h"
#include "explain/lost_update.h"
#include "explain/names.h"
#include "explain/of_its_kind.h"
#include "explain/retell.h"
#include "explain/row_difference.h"
#include "explain/shrink.h"
#include "explain/suspects.h"

namespace ouro {
namespace {

// With more operations the history is not checked again for further violations.
constexpr std::size_t kManyToCheck = 1'000'000;
// With more operations a part is not tried, or not checked at other levels.
constexpr std::size_t kManyOfPart = 5'000;
// How many anomalies a check reports where all of them matter.
constexpr std::size_t kManyAnomalies = 1000;
// What it costs, in steps for each operation, to go through a history, to look for lost updates in
// it, or to make a part of it.
constexpr std::uint64_t kStepsPerLook = 1;
constexpr std::uint64_t kStepsPerSuspect = 4;
constexpr std::uint64_t kStepsPerExcerpt = 30;
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
// How many steps a part may be shrunk for, whatever was spent before: about a fifth of a second.
constexpr std::uint64_t kLeastToShrink = 20'000'000;

bool is_cycle(AnomalyKind kind) {
  const AnomalySign sign = info(kind).sign;
  return sign == AnomalySign::Cycle || sign == AnomalySign::Contradiction;
}

// Whether two transactions each read what the other overwrote, of one key. Told like that, nobody
// would recognise a lost update.
bool is_mutual_overwriting(const std::vector<Case>& cases) {
  if (cases.size() != 1 || !cases[0].given.empty() || cases[0].cycle.size() != 2) return false;
  const Edge& one = cases[0].cycle[0];
  const Edge& other = cases[0].cycle[1];
  return one.kind == EdgeKind::ReadWrite && other.kind == EdgeKind::ReadWrite &&
         one.key == other.key;
}

class Explaining {
 public:
  Explaining(const History& history, const Verdict& verdict, const ExplainOptions& options,
             const Budget& whole, bool keeps_kind = false)
      : h_(history),
        first_(verdict),
        options_(options),
        budget_(whole, Steps{options.work_limit == 0 ? kNoLimit : options.work_limit}),
        worst_first_(verdict.evidence == Evidence::Versions &&
                     !rules(verdict.level).is(LevelFamily::CommitOrder) &&
                     has_complete_orders(history)),
        scans_list_tombstones_(scans_list_tombstones(history)),
        keeps_kind_(keeps_kind) {
    out_.level = verdict.level;
  }

  Explanation run() {
    if (first_.outcome != Outcome::Violated) return std::move(out_);
    removed_.assign(h_.txn_count(), false);
    const bool timed = first_.evidence == Evidence::Timestamps;
    bool more = tell(h_, first_, nullptr);
    if (timed && more && h_.op_count() <= kManyToCheck) tell_rest_by_timestamps();
    while (!timed && more && h_.op_count() <= kManyToCheck && !budget_.exhausted()) {
      const auto rest = without_removed();
      if (!rest) break;
      CheckOptions options = check_options();
      options.examples = kManyAnomalies;
      options.threads = options_.threads;
      const auto verdict = checked(rest->history, first_.level, options);
      if (!verdict.ok() || verdict->outcome == Outcome::Undecided) break;
      out_.complete = verdict->outcome == Outcome::Holds;
      more = !out_.complete && tell(rest->history, *verdict, &*rest);
    }
    std::stable_sort(out_.stories.begin(), out_.stories.end(), [](const Story& a, const Story& b) {
      return std::tuple(a.pattern, a.variant, a.txns.size()) <
             std::tuple(b.pattern, b.variant, b.txns.size());
    });
    return std::move(out_);
  }

 private:
  // One thread: the parts are small.
  [[nodiscard]] CheckOptions check_options() const {
    CheckOptions options;
    options.evidence = first_.evidence;
    options.clock_drift = options_.clock_drift;
    options.cancelled = options_.cancelled;
    options.threads = 1;
    options.examples = 1;
    options.scans_list_tombstones = scans_list_tombstones_;
    return options;
  }

  // Checks a part with what is left of the budget.
  [[nodiscard]] Result<Verdict> checked(const History& part, Level level,
                                        const CheckOptions& options) const {
    const Budget left(budget_, 1);
    return check_within(left, part, level, options);
  }

  // Tells those anomalies of the whole history that have nothing to do with what was told.
  void tell_rest_by_timestamps() {
    if (budget_.exhausted()) return;
    CheckOptions options = check_options();
    options.examples = kManyAnomalies;
    options.threads = options_.threads;
    auto verdict = checked(h_, first_.level, options);
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) return;
    std::vector<Anomaly>& left = verdict->anomalies;
    const std::uint64_t all =
        std::accumulate(verdict->counts.begin(), verdict->counts.end(), std::uint64_t{0});
    const bool listed = left.size() >= all;
    for (bool more = true; more && !budget_.exhausted();) {
      std::erase_if(left, [&](const Anomaly& anomaly) { return is_removed(anomaly.txns); });
      out_.complete = listed && left.empty();
      more = tell(h_, *verdict, nullptr);
    }
  }

  // Whether one of these transactions that reads is removed, or all are.
  [[nodiscard]] bool is_removed(const std::vector<TxnId>& txns) const {
    const auto gone = [&](TxnId txn) { return txn.valid() && removed_[txn.index()]; };
    return std::any_of(txns.begin(), txns.end(),
                       [&](TxnId txn) { return gone(txn) && reads(txn); }) ||
           std::all_of(txns.begin(), txns.end(), gone);
  }

  // Adds stories of the anomalies of a verdict on `history`, which is the whole if `part` is null,
  // or else part->history. Returns whether a story was added.
  bool tell(const History& history, const Verdict& verdict, const Excerpt* part) {
    const std::size_t before = out_.stories.size();
    for (const Anomaly& suspect : suspects(history, verdict)) {
      if (!budget_.exhausted()) tell_suspect(history, verdict, suspect, part);
    }
    std::array<std::size_t, kAnomalyKindCount> tried{};
    for (const Anomaly& anomaly : smallest_first(verdict)) {
      const bool enough = tried[static_cast<std::size_t>(anomaly.kind)]++ >= options_.examples + 2;
      if (!enough && (out_.stories.empty() || !budget_.exhausted())) {
        Story story = story_of(history, verdict, anomaly);
        story.count = verdict.counts[static_cast<std::size_t>(story.kind)];
        if (part != nullptr) lift(story, *part);
        name_story(story, h_, options_.of_part);
        add(std::move(story));
      }
      for (const TxnId txn : anomaly.txns)
        remove_reader(part == nullptr ? txn : lifted(txn, *part));
    }
    return out_.stories.size() > before;
  }

  // The anomalies of a verdict; by timestamps, those of fewer transactions first.
  static std::vector<Anomaly> smallest_first(const Verdict& verdict) {
    std::vector<Anomaly> out = verdict.anomalies;
    if (verdict.evidence != Evidence::Timestamps) return out;
    std::stable_sort(out.begin(), out.end(), [](const Anomaly& one, const Anomaly& other) {
      return one.txns.size() < other.txns.size();
    });
    return out;
  }

  // Suspected lost updates, which may be told in place of the long proof of a search.
  [[nodiscard]] std::vector<Anomaly> suspects(const History& history,
                                              const Verdict& verdict) const {
    const bool searched = !verdict.anomalies.empty() &&
                          verdict.anomalies.front().kind == AnomalyKind::ContradictoryOrder;
    if (!searched || rules(verdict.level).lost_updates || history.op_count() > kManyToCheck)
      return {};
    budget_.charge(kStepsPerSuspect * history.op_count());
    return suspected_lost_updates(history, options_.examples);
  }

  void tell_suspect(const History& history, const Verdict& verdict, const Anomaly& suspect,
                    const Excerpt* part) {
    Core core(history, verdict, suspect);
    charge_for(core, history);
    const auto least = next(core);
    if (!least || !shows(least->history, suspect.kind)) return;
    auto story = shrunk_story(history, *least, suspect.kind, std::nullopt);
    if (!story) return;
    if (part != nullptr) lift(*story, *part);
    name_story(*story, h_, options_.of_part);
    add(*std::move(story));
  }

  // Adds a story, unless there are enough of its name or it depends on one of them. Removes its
  // transactions that read, or else all, from further checks.
  void add(Story story) {
    std::size_t same = 0;
    for (const Story& other : out_.stories) {
      if (other.pattern != story.pattern || other.variant != story.variant) continue;
      ++same;
      if (depends(story, other)) return;
    }
    if (same >= options_.examples) return;
    bool any = false;
    for (const TxnId txn : story.txns) any |= remove_reader(txn);
    for (const TxnId txn : story.txns) {
      if (!any) removed_[txn.index()] = true;
    }
    out_.stories.push_back(std::move(story));
  }

  // Whether both stories may have the same cause: they share a transaction that reads. By
  // timestamps every operation is judged by itself, so only the same operations have the same
  // cause.
  [[nodiscard]] bool depends(const Story& story, const Story& other) const {
    if (story.evidence == Evidence::Timestamps) {
      return story.shown_by == other.shown_by && story.shown_in == other.shown_in;
    }
    return std::any_of(story.txns.begin(), story.txns.end(), [&](TxnId txn) {
      return reads(txn) && std::binary_search(other.txns.begin(), other.txns.end(), txn);
    });
  }

  [[nodiscard]] bool reads(TxnId txn) const {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (!is_write(h_.op(id).kind)) return true;
    }
    return false;
  }

  bool remove_reader(TxnId txn) {
    if (!txn.valid() || !reads(txn)) return false;
    removed_[txn.index()] = true;
    return true;
  }

  // The history without the transactions that were removed; nothing if it takes too long to make.
  [[nodiscard]] std::optional<Excerpt> without_removed() const {
    budget_.charge(kStepsPerExcerpt * h_.op_count());
    std::vector<TxnId> left;
    std::vector<bool> kept(h_.op_count(), true);
    std::vector<bool> lacking(h_.key_count(), false);
    for (std::size_t t = 0; t < removed_.size(); ++t) {
      if (!removed_[t]) {
        left.emplace_back(t);
        continue;
      }
      for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
        kept[id.index()] = false;
        if (h_.op(id).key.valid()) lacking[h_.op(id).key.index()] = true;
      }
    }
    const Excerpter excerpter(h_, first_.evidence, {}, std::move(lacking));
    const bool affordable = budget_.affords(excerpter.steps_for_all());
    budget_.charge(excerpter.take_steps());
    if (!affordable) return std::nullopt;
    Excerpt rest = excerpter.make(left, kept);
    budget_.charge(rest.steps);
    return rest;
  }

  // ---- one story ----

  // Whether the part violates the level by an anomaly of that kind (all cycles are one kind), or,
  // without `kind`, by any.
  [[nodiscard]] bool shows(const History& part, std::optional<AnomalyKind> kind) const {
    return shows(part, kind, first_.level);
  }

  [[nodiscard]] bool shows(const History& part, std::optional<AnomalyKind> kind,
                           Level level) const {
    const auto verdict = checked(part, level, check_options());
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) return false;
    if (!kind) return true;
    if (!is_cycle(*kind)) return verdict->counts[static_cast<std::size_t>(*kind)] > 0;
    return is_cycle(verdict->anomalies.front().kind);
  }

  // Whether the part has an anomaly like that.
  [[nodiscard]] bool shows_like(const History& part,
                                const std::function<bool(const Anomaly&)>& like) const {
    CheckOptions options = check_options();
    options.examples = kManyAnomalies;
    const auto verdict = checked(part, first_.level, options);
    return verdict.ok() && std::any_of(verdict->anomalies.begin(), verdict->anomalies.end(), like);
  }

  // The kind of the worst cycle of the part, if worst_first_: when the part is shrunk, a cycle as
  // bad must remain. Nothing if that demands nothing.
  [[nodiscard]] std::optional<CycleKind> worst_of(const History& part) const {
    if (!worst_first_) return std::nullopt;
    CheckOptions options = check_options();
    options.examples = kManyAnomalies;
    const auto verdict = checked(part, first_.level, options);
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) return std::nullopt;
    const Anomaly& worst = worst_anomaly(*verdict);
    if (worst.kind != AnomalyKind::ForbiddenCycle) return std::nullopt;
    const CycleKind kind = kind_of(worst.edges);
    return kind == CycleKind::Any ? std::nullopt : std::optional(kind);
  }

  // The anomaly to tell: if worst_first_, the cycle of the worst kind, of those the shortest;
  // otherwise the first anomaly.
  [[nodiscard]] const Anomaly& worst_anomaly(const Verdict& verdict) const {
    const auto rank = [&](const Anomaly& anomaly) {
      const bool cycle = worst_first_ && anomaly.kind == AnomalyKind::ForbiddenCycle;
      return cycle ? std::pair(kind_of(anomaly.edges), anomaly.edges.size())
                   : std::pair(CycleKind::Any, ~std::size_t{0});
    };
    return *std::min_element(verdict.anomalies.begin(), verdict.anomalies.end(),
                             [&](const Anomaly& a, const Anomaly& b) { return rank(a) < rank(b); });
  }

  // What the first part of the history costs.
  void charge_for(const Core& core, const History& history) const {
    const std::uint64_t steps = core.is_of_keys() ? 2 * kStepsPerLook : kStepsPerExcerpt;
    budget_.charge(steps * history.op_count());
  }

  [[nodiscard]] std::optional<Excerpt> next(Core& core) const {
    auto part = core.next();
    if (part) budget_.charge(part->steps);
    return part;
  }

  [[nodiscard]] Story story_of(const History& history, const Verdict& verdict,
                               const Anomaly& anomaly) const {
    if (verdict.evidence == Evidence::Timestamps) return local_story(history, verdict, anomaly);
    Core core(history, verdict, anomaly);
    const std::vector<TxnId> txns = core.txns();
    const std::vector<OpId> ops = core.ops();
    charge_for(core, history);
    for (auto part = next(core); part; part = next(core)) {
      if (shows(part->history, anomaly.kind)) {
        auto story = shrunk_story(history, *part, anomaly.kind, worst_of(part->history));
        if (!story) break;
        expect_all(verdict, *story);
        point_to_missed_row(history, *story);
        return *std::move(story);
      }
      budget_.charge(kStepsPerLook * history.op_count());
      if (budget_.exhausted()) break;
    }
    Story story = told(history, verdict, anomaly);
    story.txns = txns;
    story.ops = ops;
    story.weakest_violated = {verdict.level};
    return story;
  }

  // Sets story.expected of a wrong result to all that should have come back in the whole history,
  // not only in the part that the story is about.
  static void expect_all(const Verdict& verdict, Story& story) {
    for (const Anomaly& anomaly : verdict.anomalies) {
      if (anomaly.kind == story.kind && !anomaly.ops.empty() && anomaly.ops == story.shown_by) {
        story.expected = anomaly.expected;
      }
    }
  }

  // The story of an anomaly by timestamps. Mostly the transactions that it names suffice; in a part
  // with fewer a read would have to return something else.
  [[nodiscard]] Story local_story(const History& history, const Verdict& verdict,
                                  const Anomaly& anomaly) const {
    if (auto story = story_of_lost_update(history, verdict, anomaly)) return *std::move(story);
    Story story = named_by(history, verdict, anomaly);
    const Excerpt own = only(history, story);
    // If these do not suffice, others are needed, such as writers of what was read or should have
    // been.
    const std::string row = missed_row(history, anomaly);
    const auto question = [&](const History& h) {
      if (!row.empty()) return misses(h, row);
      return shows_like(h, [&](const Anomaly& other) {
        return other.kind == anomaly.kind && other.expected == anomaly.expected;
      });
    };
    if (shrink_to(story, own, question, first_.evidence)) return story;
    Core core(history, verdict, anomaly);
    for (auto part = next(core); part && !budget_.exhausted(); part = next(core)) {
      if (part->history.op_count() > kManyOfPart) break;
      if (!shrink_to(story, *part, question, first_.evidence)) continue;
      point_to_missed_row(history, story);
      return story;
    }
    if (shows(own.history, anomaly.kind)) {
      story.minimal = true;
      set_levels(story, own.history, first_.evidence);
    }
    return story;
  }

  // A row that a scan or select should have returned and did not: to tell of it, nothing is needed
  // of the others. "" if the anomaly is none of a scan or select, or if it lacks none.
  static std::string missed_row(const History& history, const Anomaly& anomaly) {
    if (anomaly.kind != AnomalyKind::ResultSetMismatch || anomaly.ops.empty()) return {};
    const OpId read = anomaly.ops.front();
    const OpKind kind = history.op(read).kind;
    if (!is_predicate_read(kind) || kind == OpKind::Aggregate) return {};
    const RowDifference difference = row_difference(history, read, anomaly.expected);
    return difference.missed.empty() ? std::string() : difference.missed.front();
  }

  // Adds the write of a row that a scan or select missed, if the story tells of it.
  static void point_to_missed_row(const History& history, Story& story) {
    if (story.kind != AnomalyKind::ResultSetMismatch || story.shown_by.size() != 1) return;
    const OpId read = story.shown_by.front();
    const OpKind kind = history.op(read).kind;
    if (!is_predicate_read(kind) || kind == OpKind::Aggregate || story.expected.empty()) return;
    for (const std::string& row : row_difference(history, read, story.expected).missed) {
      const OpId write = write_of_row(history, story.ops, row);
      if (write.valid()) {
        story.shown_by.push_back(write);
        return;
      }
    }
  }

  // Whether some scan or select of the part misses that row.
  [[nodiscard]] bool misses(const History& part, const std::string& row) const {
    const auto lacks_row = [&](const Anomaly& anomaly) {
      if (missed_row(part, anomaly).empty()) return false;
      const auto missed = row_difference(part, anomaly.ops.front(), anomaly.expected).missed;
      return std::find(missed.begin(), missed.end(), row) != missed.end();
    };
    CheckOptions options = check_options();
    options.examples = kManyAnomalies;
    const auto verdict = checked(part, first_.level, options);
    return verdict.ok() &&
           std::any_of(verdict->anomalies.begin(), verdict->anomalies.end(), lacks_row);
  }

  // The same if it is a lost update: with the reads as well, which the anomaly does not name, and
  // with the write that they returned. If that is known, it is forbidden and allowed, by what was
  // read, where every lost update is.
  [[nodiscard]] std::optional<Story> story_of_lost_update(const History& history,
                                                          const Verdict& verdict,
                                                          const Anomaly& anomaly) const {
    budget_.charge(kStepsPerLook * history.op_count());
    const auto lost = lost_update_in(history, anomaly, verdict.level);
    if (!lost) return std::nullopt;
    Story story = named_by(history, verdict, anomaly);
    for (const OpId op :
         {lost->one.read, lost->one.write, lost->other.read, lost->other.write, lost->source}) {
      if (!op.valid()) continue;
      story.ops.push_back(op);
      story.txns.push_back(history.txn_of(op));
    }
    tidy(story);
    const Op read = history.op(lost->one.read);
    // Of a list that was expected, a part has fewer elements.
    const bool list = read.value.is_list();
    const auto question = [&](const History& part) {
      return shows_like(part, [&](const Anomaly& other) {
        return other.kind == anomaly.kind && (list || other.expected == anomaly.expected) &&
               lost_update_in(part, other, verdict.level).has_value();
      });
    };
    const bool shown = lost->source.valid() || history.initial(read.key) == read.value;
    const Evidence levels_by = shown ? Evidence::Observed : first_.evidence;
    if (!shrink_to(story, only(history, story), question, levels_by)) return std::nullopt;
    return story;
  }

  // The story of the transactions and operations that an anomaly names; of all operations, if it
  // names none.
  [[nodiscard]] Story named_by(const History& history, const Verdict& verdict,
                               const Anomaly& anomaly) const {
    Story story = told(history, verdict, anomaly);
    budget_.charge(kStepsPerLook * history.op_count());
    story.txns = anomaly.txns;
    story.ops = anomaly.ops;
    for (const TxnId txn : anomaly.txns) {
      for (OpId op = history.first_op(txn); anomaly.ops.empty() && op < history.end_op(txn);) {
        story.ops.push_back(op);
        ++op.value;
      }
    }
    tidy(story);
    story.weakest_violated = {verdict.level};
    return story;
  }

  // Brings the transactions and operations into the order of the history, each once.
  static void tidy(Story& story) {
    const auto sort = [](auto& all) {
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    };
    sort(story.txns);
    sort(story.ops);
  }

  // The part of the history that the story is about.
  [[nodiscard]] Excerpt only(const History& history, const Story& story) const {
    std::vector<bool> kept(history.op_count(), false);
    std::vector<bool> keys(history.key_count(), false);
    for (const OpId op : story.ops) {
      kept[op.index()] = true;
      if (history.op(op).key.valid()) keys[history.op(op).key.index()] = true;
    }
    return Excerpter(history, first_.evidence, std::move(keys)).make(story.txns, kept);
  }

  // Makes the story one about the smallest part of `part` for which the answer is yes; false if the
  // answer for `part` itself is no. The levels that it violates and allows are set by `levels_by`.
  [[nodiscard]] bool shrink_to(Story& story, const Excerpt& part, const Question& question,
                               Evidence levels_by) const {
    if (!question(part.history)) return false;
    const Shrunk least = shrink(part.history, first_.evidence, question, budget_);
    story.minimal = least.minimal;
    story.txns = least.part.txns;
    story.ops = least.part.ops;
    for (TxnId& txn : story.txns) txn = lifted(txn, part);
    for (OpId& op : story.ops) op = lifted(op, part);
    set_levels(story, least.part.history, first_.evidence);
    if (levels_by != first_.evidence) set_levels(story, least.part.history, levels_by);
    return true;
  }

  // The first of levels() up to that of the verdict that the part violates by a cycle: the weakest
  // one, and of two of which neither implies the other the one that is listed first. A violation of
  // a weaker level is worse, so that is what should be told of these transactions.
  [[nodiscard]] Level worst_level(const History& part, AnomalyKind kind) const {
    const bool mixed = rules(first_.level).is(LevelFamily::Mixed);  // Is no weaker or stronger.
    if (mixed || !is_cycle(kind) || part.op_count() > kManyOfPart) return first_.level;
    for (const LevelInfo& level : levels()) {
      if (level.level == first_.level) break;
      if (!decidable(level.level, first_.evidence)) continue;
      if (shows(part, kind, level.level)) return level.level;
    }
    return first_.level;
  }

  // These transactions with all their operations; nothing if `kind` is no cycle, or those are too
  // many.
  [[nodiscard]] std::optional<Excerpt> all_they_did(const History& history,
                                                    std::span<const TxnId> txns,
                                                    AnomalyKind kind) const {
    if (!is_cycle(kind)) return std::nullopt;
    std::size_t count = 0;
    for (const TxnId txn : txns) count += history.end_op(txn).value - history.first_op(txn).value;
    if (count > kManyOfPart) return std::nullopt;
    Excerpt part = whole_txns(history, txns, first_.evidence);
    budget_.charge(part.steps);
    return part;
  }

  // The smallest story of a part that shows `kind`: with as few transactions as possible, and of
  // what those did, the worst. `as_bad`: the cycle that is told must be at least as bad.
  [[nodiscard]] std::optional<Story> shrunk_story(const History& history, const Excerpt& core,
                                                  AnomalyKind kind,
                                                  std::optional<CycleKind> as_bad) const {
    const Evidence evidence = first_.evidence;
    // A small part is shrunk in any case: that costs next to nothing beside what it took to find
    // it.
    const Budget least_budget(budget_.time_left(), options_.cancelled, options_.memory_limit,
                              kLeastToShrink);
    const Budget& budget = budget_.affords(kLeastToShrink) ? budget_ : least_budget;
    const auto is_as_bad = [&](const History& h) {
      const auto worst = as_bad ? worst_of(h) : std::nullopt;
      return !as_bad || (worst && *worst <= *as_bad);
    };
    const Question any = [&](const History& h) { return shows(h, std::nullopt); };
    const auto tells = [&](const History& h) { return shows(h, kind) && is_as_bad(h); };
    const Shrunk few = shrink_txns(core.history, evidence, tells, budget);
    Excerpt part = lifted(few.part, core);
    Level worst = worst_level(part.history, kind);
    if (auto all = all_they_did(history, part.txns, kind)) {
      const Level whole = worst_level(all->history, kind);
      if (InListOrder()(whole, worst) && tells(all->history)) {
        worst = whole;
        part = *std::move(all);
      }
    }
    const Question as_much = [&](const History& h) {
      return tells(h) && (worst == first_.level || shows(h, kind, worst));
    };
    const Question then = keeps_kind_ ? Question(tells) : any;
    Shrunk least = shrunk_twice(part, as_much, then, budget);
    if (const auto all = all_they_did(history, least.part.txns, kind)) {
      settle_orders(*all, least, as_much, budget);
    }
    if (&budget != &budget_) budget_.charge(least_budget.spent());
    CheckOptions options = check_options();
    options.examples = as_bad || keeps_kind_ ? kManyAnomalies : 1;
    // Without limits: this part was just checked within them.
    const History& left = least.part.history;
    const auto verdict = check(left, first_.level, options);
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) return std::nullopt;
    const auto same = std::find_if(verdict->anomalies.begin(), verdict->anomalies.end(),
                                   [&](const Anomaly& anomaly) { return anomaly.kind == kind; });
    const bool kept = keeps_kind_ && same != verdict->anomalies.end();
    Story story = told(left, *verdict, kept ? *same : worst_anomaly(*verdict));
    for (std::size_t t = 0; t < left.txn_count(); ++t) story.txns.emplace_back(t);
    for (std::size_t i = 0; i < left.op_count(); ++i) story.ops.emplace_back(i);
    story.minimal = few.minimal && least.minimal && !keeps_kind_;
    set_levels(story, left, first_.evidence);
    lift(story, least.part);
    return story;
  }

  // Shrinks a part as long as the answer to the first question is yes, and then for the second,
  // which is easier. The ids of the result are those of what `part` is a part of.
  [[nodiscard]] Shrunk shrunk_twice(const Excerpt& part, const Question& first,
                                    const Question& second, const Budget& budget) const {
    const Shrunk one = shrink(part.history, first_.evidence, first, budget);
    Shrunk two = shrink(one.part.history, first_.evidence, second, budget);
    two.part = lifted(lifted(std::move(two.part), one.part), part);
    two.minimal &= one.minimal;
    return two;
  }

  // What the transactions of `least` did besides may settle the order of two writes, and so save
  // cases, which are harder to follow than an operation more. If so, adds what saves most of them,
  // of `all` that they did.
  void settle_orders(const Excerpt& all, Shrunk& least, const Question& as_much,
                     const Budget& budget) const {
    constexpr std::size_t kManyToTry = 400;  // Operations.
    const std::size_t cases = case_count(least.part.history);
    if (cases < 2 || all.history.op_count() > kManyToTry || !as_much(all.history)) return;
    const std::size_t fewest = case_count(all.history);
    if (fewest >= cases) return;
    const Excerpter excerpter(all.history, first_.evidence);
    std::vector<TxnId> txns;
    for (std::size_t t = 0; t < all.history.txn_count(); ++t) txns.emplace_back(t);
    const std::vector<OpId>& core = least.part.ops;
    std::vector<bool> kept(all.history.op_count(), true);
    for (std::size_t i = kept.size(); i-- > 0 && !budget.exhausted();) {
      if (std::binary_search(core.begin(), core.end(), all.ops[i])) continue;
      kept[i] = false;
      const Excerpt fewer = excerpter.make(txns, kept);
      kept[i] = !as_much(fewer.history) || case_count(fewer.history) > fewest;
    }
    Excerpt part = lifted(excerpter.make(txns, kept), all);
    const bool has_all = std::includes(part.ops.begin(), part.ops.end(), core.begin(), core.end());
    if (has_all && needs_everybody(excerpter, txns, kept)) least.part = std::move(part);
  }

  // Whether the level allows the part without any one of its transactions.
  [[nodiscard]] bool needs_everybody(const Excerpter& excerpter, const std::vector<TxnId>& txns,
                                     const std::vector<bool>& kept) const {
    const History& h = excerpter.history();
    return std::none_of(txns.begin(), txns.end(), [&](TxnId txn) {
      std::vector<TxnId> others = txns;
      std::erase(others, txn);
      std::vector<bool> of_others = kept;
      for (OpId op = h.first_op(txn); op < h.end_op(txn); ++op.value) of_others[op.index()] = false;
      return shows(excerpter.make(others, of_others).history, std::nullopt);
    });
  }

  // In how many cases a part is told that violates the level, not counting those that are others
  // with other names; if it does not, or a limit was reached, more than any number.
  [[nodiscard]] std::size_t case_count(const History& part) const {
    constexpr std::size_t kNone = ~std::size_t{0};
    CheckOptions options = check_options();
    options.examples = worst_first_ ? kManyAnomalies : 1;
    const auto verdict = checked(part, first_.level, options);
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) return kNone;
    const std::vector<Case> cases = told(part, *verdict, worst_anomaly(*verdict)).cases;
    return static_cast<std::size_t>(
        std::count_if(cases.begin(), cases.end(), [](const Case& each) { return !each.mirrors; }));
  }

  // An anomaly of `history` as a story, without its transactions and operations.
  [[nodiscard]] Story told(const History& history, const Verdict& verdict,
                           const Anomaly& anomaly) const {
    Story story;
    story.kind = anomaly.kind;
    story.level = verdict.level;
    story.evidence = verdict.evidence;
    story.expected = anomaly.expected;
    if (!is_cycle(anomaly.kind)) {
      story.shown_by = anomaly.ops;
      story.shown_in = anomaly.txns;
      return story;
    }
    story.support = anomaly.support;
    if (!verdict.cases.empty()) {
      story.cases = cases_of(history, verdict.cases);
      for (const SourceCase& each : verdict.cases) {
        if (each.anomalies.empty()) continue;
        const auto& support = each.anomalies[0].support;
        story.support.insert(story.support.end(), support.begin(), support.end());
      }
      return story;
    }
    const bool plain = verdict.evidence == Evidence::Observed || !history.has_predicate_reads();
    const LevelRules& level_rules = rules(verdict.level);
    const bool searched =
        !level_rules.is(LevelFamily::CommitOrder) && !level_rules.is(LevelFamily::Mixed);
    if (searched && plain) {
      const auto observed = Observed::observe(
          history, budget_, 1, verdict.evidence,
          scans_list_tombstones_ ? Tombstones::Listed : Tombstones::Unlisted, {}, verdict.untold);
      if (observed.ok() && !observed->stopped()) {
        auto cases = cases_at(*observed, verdict.level);
        if (cases && !is_better(anomaly, *cases)) {
          story.cases = *std::move(cases);
          return story;
        }
      }
    }
    if (anomaly.kind == AnomalyKind::ContradictoryOrder) {
      story.cases = cases_of(history, verdict.refutation);
      return story;
    }
    story.cases.push_back({.given = {}, .cycle = rotated(anomaly.edges)});
    avoid_initial(story, history);
    return story;
  }

  // Whether the cycle of the anomaly is worse than the one of the cases, or as bad and shorter.
  [[nodiscard]] bool is_better(const Anomaly& anomaly, const std::vector<Case>& cases) const {
    if (!worst_first_ || anomaly.kind != AnomalyKind::ForbiddenCycle || cases.size() != 1) {
      return false;
    }
    const auto& other = cases[0].cycle;
    return std::pair(kind_of(anomaly.edges), anomaly.edges.size()) <
           std::pair(kind_of(other), other.size());
  }

  // The cases of a part. A lost update is told at stronger levels, too, as snapshot isolation tells
  // it: whichever of the two wrote first, the other overwrote that without having seen it.
  [[nodiscard]] std::optional<std::vector<Case>> cases_at(const Observed& observed,
                                                          Level level) const {
    auto cases = tell_cases(observed, level, options_.clock_drift, budget_);
    if (!cases || !is_mutual_overwriting(*cases) || !implies(level, Level::Si)) return cases;
    auto branches = tell_cases(observed, Level::Si, options_.clock_drift, budget_);
    return branches ? std::move(branches) : std::move(cases);
  }

  // Finds the weakest levels that the part of the story violates, and the strongest that hold. If
  // it violates none by this evidence, leaves them as they were.
  void set_levels(Story& story, const History& least, Evidence evidence) const {
    std::vector<Level> asked;
    for (const LevelInfo& level : levels()) {
      if (decidable(level.level, evidence)) asked.push_back(level.level);
    }
    CheckOptions options = check_options();
    options.evidence = evidence;
    const Budget left(budget_, 1);
    auto verdicts = check_within(left, least, asked, options);
    if (!verdicts.ok() || worst(*verdicts) != Outcome::Violated) return;
    // A story is about what was recorded, and says nothing of what was not.
    for (Verdict& verdict : *verdicts) verdict.left_out.clear();
    story.weakest_violated = weakest_violated(*verdicts);
    story.strongest_holding = strongest_holding(*verdicts);
  }

  const History& h_;
  const Verdict& first_;
  const ExplainOptions& options_;
  Budget budget_;
  // Whether all version orders are known, so that of several cycles the worst is told, and not the
  // shortest.
  const bool worst_first_;
  const bool scans_list_tombstones_;  // In the whole history; parts are judged by the same.
  const bool keeps_kind_;             // See explain_each_kind().
  std::vector<bool> removed_;         // By TxnId, whether it is removed from further checks.
  Explanation out_;
};

}  // namespace

Explanation explain_within(const Budget& budget, const History& history, const Verdict& verdict,
                           const ExplainOptions& options) {
  return Explaining(history, verdict, options, budget).run();
}

Explanation explain(const History& history, const Verdict& verdict, const ExplainOptions& options) {
  const Budget budget(options.time_limit, options.cancelled, options.memory_limit);
  return explain_within(budget, history, verdict, options);
}

Explanation explain_each_kind(const History& history, const Verdict& verdict,
                              const ExplainOptions& options) {
  const Budget budget(options.time_limit, options.cancelled, options.memory_limit);
  return Explaining(history, verdict, options, budget, true).run();
}

}  // namespace ouro
