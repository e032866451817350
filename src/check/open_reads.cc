#include "check/open_reads.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/level_rules.h"
#include "check/careful_guess.h"
#include "check/counter_order.h"
#include "check/counter_sums.h"
#include "check/guess_repair.h"
#include "check/observed/likely_order.h"
#include "check/observed/violated.h"
#include "check/open_elements.h"

namespace ouro {
namespace {

// Positions in the order of `verdict`. The initial transaction comes first, at zero; transactions
// that are not in the order come last.
Positions places_in(const History& history, const Verdict& verdict) {
  return positions_of(history, verdict, 1, 0xffffffff);
}

// Steps 1 to 3 of open_reads.h. A case says of some open reads what they returned (Sources).
class OpenReads {
 public:
  OpenReads(Observed& observed, const DecideWithout& decide, bool searches, const Budget& budget,
            const CheckOptions& options)
      : whole_(observed),
        decide_(decide),
        searches_(searches),
        budget_(budget),
        options_(options) {}

  Verdict run() {
    if (auto answer = try_likely_order()) return *std::move(answer);
    Verdict first = decide_(whole_);
    level_ = first.level;
    if (first.outcome != Outcome::Holds) return first;
    if (const OpId read = impossible_sum(whole_); read.valid()) return impossible(read);
    if (contradicts_sum()) return violated();
    if (auto answer = try_order()) return *std::move(answer);
    if (auto answer = look_closer(whole_, std::move(first), {})) return *std::move(answer);
    while (!pending_.empty()) {
      const Sources sources = std::move(pending_.back());
      pending_.pop_back();
      if (auto answer = try_case(sources)) return *std::move(answer);
    }
    return violated();
  }

  // The first guesses only; nothing if they give no answer.
  std::optional<Verdict> guess() {
    if (!whole_.open_elements().empty() || !whole_.items().sums().empty()) return std::nullopt;
    Verdict first = decide_(whole_);
    level_ = first.level;
    if (first.outcome != Outcome::Holds) return first;
    const Positions places = places_in(whole_.history(), first);
    Guesses guesses = guess_all(whole_, places, {});
    if (!guesses.first_open.valid()) return first;
    if (auto answer = confirm(guesses.all)) return answer;
    return guess_again(whole_, places, std::move(guesses.all), 0);
  }

 private:
  using Sources = std::vector<ReadSource>;

  // What is known of a case after one decision, in which the reads in `sources` returned what they
  // say, and the others are open.
  struct Tried {
    std::optional<Verdict> answer;      // For the history.
    std::optional<SourceCase> refuted;  // The case, if it is.
    std::optional<Observed> observed;   // Otherwise: the case holds so far,
    Verdict verdict;                    // in this order.
  };
  Tried decide_case(const Sources& sources) {
    Tried out;
    if (++decisions_ > most_decisions()) {
      out.answer = too_many(sources);
      return out;
    }
    auto observed = whole_.with_sources(sources, budget_, options_.threads);
    if (!observed.ok()) {
      out.answer = undecided(observed.error().what);
      return out;
    }
    if (const OpId read = impossible_sum(*observed); read.valid()) {
      out.refuted = SourceCase{sources, {}, {anomaly_of_sum(*observed, read)}, {}};
      return out;
    }
    out.verdict = decide_(*observed);
    if (out.verdict.outcome == Outcome::Undecided) {
      out.answer = std::move(out.verdict);
    } else if (!out.verdict.cases.empty()) {
      out.answer = undecided("what predicate reads saw is open, too");
    } else if (out.verdict.outcome == Outcome::Violated) {
      out.refuted = SourceCase{
          sources, {}, std::move(out.verdict.anomalies), std::move(out.verdict.refutation)};
    } else {
      out.observed = *std::move(observed);
    }
    return out;
  }

  // Decides a case. Returns the answer for the history, if there is one. Otherwise the case is
  // refuted, and is among cases_, or its parts are pending.
  std::optional<Verdict> try_case(const Sources& sources) {
    Tried tried = decide_case(sources);
    if (tried.answer) return std::move(tried.answer);
    if (tried.refuted) {
      cases_.push_back(*std::move(tried.refuted));
      return std::nullopt;
    }
    return look_closer(*tried.observed, std::move(tried.verdict), sources);
  }

  // Steps 2 and 3 for a case in which the level holds without the reads that are still open;
  // `verdict` says in which order. Returns as try_case().
  std::optional<Verdict> look_closer(const Observed& observed, Verdict verdict,
                                     const Sources& sources) {
    const Positions places = places_in(observed.history(), verdict);
    Guesses guesses = guess_all(observed, places, sources);
    const bool elements = !observed.open_elements().empty();
    if (!guesses.first_open.valid() && !elements) {
      return with_sources(std::move(verdict), sources);
    }
    if (guesses.adds_up) {
      if (auto answer = confirm(guesses.all)) return answer;
      if (sources.empty() && !elements) {
        Sources& guess = guesses.all;
        auto answer = guess_again(observed, places, std::move(guess), most_repairs());
        if (answer) return answer;
      }
    }
    if (elements) {
      try_element(observed, places, *suspected_element(observed, guesses.all, refuted_guess_),
                  sources);
      return std::nullopt;
    }
    const ItemId read = guesses.next.valid() ? guesses.next : guesses.first_open;
    if (observed.items().is_summed(read) && settle_forced(observed, read, sources)) {
      return std::nullopt;
    }
    if (!searches_ && !observed.items().is_summed(read) && !has_few_cases(whole_)) {
      return split_ahead(observed, places, sources, read);
    }
    add_pending(split(observed, places, sources, read));
    return std::nullopt;
  }

  // The parts of a case: one for each version that `read` may have returned, the likeliest first.
  static std::vector<Sources> split(const Observed& observed, const Positions& places,
                                    const Sources& sources, ItemId read) {
    std::vector<Sources> out;
    for (const ItemId write : by_preference(observed, places, read)) {
      out.push_back(sources);
      out.back().push_back(source(observed, read, write));
    }
    return out;
  }
  void add_pending(std::vector<Sources> parts) {
    pending_.insert(pending_.end(), std::make_move_iterator(parts.rbegin()),
                    std::make_move_iterator(parts.rend()));
  }

  // Splits a case by that read of which the fewest answers are left, of some that are looked at,
  // `first` and those behind it. An answer that alone contradicts the level is refuted at once; so
  // reads that have nothing to do with each other do not multiply.
  std::optional<Verdict> split_ahead(const Observed& observed, const Positions& places,
                                     const Sources& sources, ItemId first) {
    constexpr std::size_t kMostAhead = 40;  // Decisions.
    std::vector<Sources> best;
    std::vector<SourceCase> refuted_of_best;
    std::size_t looked_at = 0;
    for (const ItemId read : asked_from(observed, first)) {
      std::vector<Sources> left;
      std::vector<SourceCase> refuted;
      for (Sources& part : split(observed, places, sources, read)) {
        ++looked_at;
        Tried tried = decide_case(part);
        if (tried.answer) return std::move(tried.answer);
        if (tried.refuted) {
          refuted.push_back(*std::move(tried.refuted));
        } else {
          left.push_back(std::move(part));
        }
      }
      if (read == first || left.size() < best.size()) {
        best = std::move(left);
        refuted_of_best = std::move(refuted);
      }
      if (best.size() <= 1 || looked_at > kMostAhead) break;
    }
    cases_.insert(cases_.end(), std::make_move_iterator(refuted_of_best.begin()),
                  std::make_move_iterator(refuted_of_best.end()));
    add_pending(std::move(best));
    return std::nullopt;
  }

  // The reads that are asked here: `first`, and then those behind it and before it.
  [[nodiscard]] std::vector<ItemId> asked_from(const Observed& observed, ItemId first) const {
    std::vector<ItemId> out;
    for (const ItemId read : observed.open_reads()) {
      if (is_asked(observed, read) && !observed.items().is_summed(read)) out.push_back(read);
    }
    std::rotate(out.begin(), std::find(out.begin(), out.end(), first), out.end());
    return out;
  }

  // Tries all who may have appended an open element, one after the other.
  void try_element(const Observed& observed, const Positions& places, const OpenElement& element,
                   const Sources& sources) {
    const auto candidates = ouro::by_preference(observed, places, element);
    const OpId read = observed.items().op(element.read);
    for (auto txn = candidates.rbegin(); txn != candidates.rend(); ++txn) {
      pending_.push_back(sources);
      pending_.back().push_back({read, element.key, *txn, element.position + 1});
    }
  }

  // What all open reads are guessed to have returned, and who appended open elements.
  struct Guesses {
    Sources all;
    ItemId next;          // The first open read that did not fit the latest version.
    ItemId first_open;    // The first open read of all.
    bool adds_up = true;  // Whether reads of counters add up.
  };
  Guesses guess_all(const Observed& observed, const Positions& places,
                    const Sources& sources) const {
    Guesses out{.all = sources, .next = {}, .first_open = {}};
    out.adds_up = guess_sums(observed, places, out.all, out.next, out.first_open);
    absl::flat_hash_map<KeyId, WritesByCommit> writes;
    for (const ItemId read : observed.open_reads()) {
      if (!is_asked(observed, read) || observed.items().is_summed(read)) continue;
      if (!out.first_open.valid()) out.first_open = read;
      const auto [of_key, added] = writes.try_emplace(observed.items().key(read));
      if (added) of_key->second = writes_by_commit(observed, places, of_key->first);
      const Guess guess = latest_that_fits(observed, places, of_key->second, read);
      if (!out.next.valid() && !guess.is_latest) out.next = read;
      out.all.push_back(source(observed, read, guess.write));
    }
    const auto elements = guess_elements(observed, places);
    out.all.insert(out.all.end(), elements.begin(), elements.end());
    return out;
  }

  // Before anything is tried of a read of a counter: says what sessions and real time say of it.
  // The opposite of each is refuted at once. Returns whether there is anything to say.
  bool settle_forced(const Observed& observed, ItemId item, const Sources& sources) {
    const auto sums = observed.items().sums();
    const auto sum = std::partition_point(sums.begin(), sums.end(),
                                          [&](const CounterSum& each) { return each.end <= item; });
    auto forced = forced_rows(observed, *sum, level_, options_.clock_drift);
    if (forced.empty()) return false;
    pending_.push_back(refute_opposites(observed, std::move(forced), sources));
    return true;
  }

  // Adds the case of the opposite of each of `forced`. Returns `sources` with what is forced.
  Sources refute_opposites(const Observed& observed, std::vector<ForcedRow> forced,
                           const Sources& sources) {
    Sources said = sources;
    for (ForcedRow& row : forced) {
      const ItemId write = row_write(observed, row.item);
      said.push_back(source(observed, row.item, row.seen ? ItemId{} : write));
      cases_.push_back({said, {}, {std::move(row.refuted)}, {}});
      said.back() = source(observed, row.item, row.seen ? write : ItemId{});
    }
    return said;
  }

  // Whether sessions and real time alone make a read of a counter impossible; then its cases are in
  // cases_. Cost: linear in the rows that reads of counters saw or missed.
  bool contradicts_sum() {
    for (const CounterSum& sum : whole_.items().sums()) {
      if (!whole_.counted(sum.txn)) continue;
      auto forced = contradiction_of_sum(whole_, sum, level_, options_.clock_drift);
      if (forced.empty()) continue;
      Sources said = refute_opposites(whole_, std::move(forced), {});
      cases_.push_back({std::move(said), {}, {anomaly_of_sum(whole_, sum.op)}, {}});
      return true;
    }
    return false;
  }

  // Guesses from an order in which all counters fit, if one is found.
  std::optional<Verdict> try_order() {
    if (whole_.items().sums().empty()) return std::nullopt;
    Verdict guess;
    guess.order = order_by_counters(whole_, budget_);
    if (guess.order.empty()) return std::nullopt;
    const Guesses guesses = guess_all(whole_, places_in(whole_.history(), guess), {});
    if (!guesses.adds_up || !guesses.first_open.valid()) return std::nullopt;
    return confirm(guesses.all);
  }

  // The order in which transactions probably committed.
  [[nodiscard]] Positions likely_places() const {
    Verdict guess;
    for (const Node node : likely_commit_order(whole_.history(), budget_)) {
      guess.order.emplace_back(node);
    }
    return places_in(whole_.history(), guess);
  }

  // Guesses who appended open elements from the order in which transactions probably committed.
  // Where most elements repeat, little is left to decide without them, so this comes first.
  std::optional<Verdict> try_likely_order() {
    if (whole_.open_elements().empty()) return std::nullopt;
    const Guesses guesses = guess_all(whole_, likely_places(), {});
    return guesses.adds_up ? confirm(guesses.all) : std::nullopt;
  }

  // Guesses what reads of counters saw, and adds it to `all`. Returns whether the guesses add up.
  static bool guess_sums(const Observed& observed, const Positions& places, Sources& all,
                         ItemId& next, ItemId& first_open) {
    bool adds_up = true;
    for (const CounterSum& sum : observed.items().sums()) {
      if (!observed.counted(sum.txn)) continue;
      const SumGuess guess = guess_sum(observed, places, sum);
      adds_up &= guess.is_found;
      if (!next.valid() && guess.doubtful.valid()) next = guess.doubtful;
      for (const auto& [item, seen] : guess.rows) {
        if (!first_open.valid()) first_open = item;
        all.push_back(source(observed, item, seen ? row_write(observed, item) : ItemId{}));
      }
    }
    return adds_up;
  }

  struct Guess {
    ItemId write;            // Invalid: the initial version.
    bool is_latest = false;  // No later version is before the read.
  };

  // The latest version before an open read that it may have returned; if none is before it, any
  // that it may have returned.
  static Guess latest_that_fits(const Observed& observed, const Positions& places,
                                const WritesByCommit& writes, ItemId read) {
    const std::uint32_t now = places.begin[observed.txn(read).index()];
    auto at = std::partition_point(writes.begin(), writes.end(),
                                   [&](const auto& write) { return write.first < now; });
    bool is_latest = true;
    while (at != writes.begin()) {
      --at;
      if (observed.txn(at->second) == observed.txn(read)) continue;
      if (observed.fits(read, at->second)) return {at->second, is_latest};
      is_latest = false;
    }
    if (observed.fits(read, {})) return {ItemId{}, is_latest};
    return {observed.candidates(read).front(), false};
  }

  // Decides with all open reads said at once. This is a guess, so it answers only if the level
  // holds.
  std::optional<Verdict> confirm(const Sources& all) {
    if (++decisions_ > most_decisions()) return too_many(all);
    auto observed = whole_.with_sources(all, budget_, options_.threads);
    if (!observed.ok()) return undecided(observed.error().what);
    if (observed->stopped()) return decide_(*observed);  // Undecided; the rest means nothing.
    const auto open = observed->open_reads();
    const bool complete = std::none_of(open.begin(), open.end(), [&](ItemId read) {
      return is_asked(*observed, read);  // It takes part only because of `all`.
    });
    refuted_guess_.clear();
    if (!complete || !observed->open_elements().empty()) return std::nullopt;
    if (impossible_sum(*observed).valid()) return std::nullopt;
    Verdict verdict = decide_(*observed);
    if (verdict.outcome == Outcome::Undecided) return verdict;
    if (verdict.outcome == Outcome::Violated) {
      refuted_guess_ = std::move(verdict.anomalies);
      return std::nullopt;
    }
    return with_sources(std::move(verdict), all);
  }

  // Where most reads are open: another guess, and after it so many changes of what was refuted.
  std::optional<Verdict> guess_again(const Observed& observed, const Positions& places,
                                     Sources guess, std::size_t repairs) {
    // Parallel-si implies causal.
    const bool parallel = rules(level_).is(LevelFamily::Parallel);
    const Premise premise = parallel ? Premise::WholePast : rules(level_).premise;
    const bool weak = !searches_ && premise != Premise::None && whole_.items().sums().empty();
    if (!weak || refuted_guess_.empty() || has_few_cases(whole_)) return std::nullopt;
    const std::size_t decisions = decisions_;  // Those here are counted by themselves.
    std::optional<Verdict> answer;
    const auto guess_in = [&](const Positions& order) {
      Sources careful = careful_guess(observed, order, premise, budget_);
      if (answer || careful.size() != guess.size()) return;
      guess = std::move(careful);
      answer = confirm(guess);
    };
    guess_in(places);
    if (!answer) guess_in(likely_places());
    GuessRepair repair(observed, places, guess);
    for (std::size_t left = repairs; left > 0 && !answer; --left) {
      if (!repair.change(refuted_guess_)) break;
      decisions_ = decisions;
      answer = confirm(guess);
    }
    decisions_ = decisions;
    return answer;
  }
  // The smaller the history, the less time one takes.
  [[nodiscard]] std::size_t most_repairs() const {
    return std::clamp<std::size_t>(3'000'000 / (whole_.items().size() + 1000), 20, 1000);
  }

  // Whether it is to be found out here what an open read returned.
  [[nodiscard]] bool is_asked(const Observed& observed, ItemId read) const {
    if (!observed.counted(observed.txn(read))) return false;
    const auto searched = observed.searched_reads();
    return !searches_ || !std::binary_search(searched.begin(), searched.end(), read);
  }

  // Adds what was said to what the search found.
  static Verdict with_sources(Verdict verdict, const Sources& said) {
    verdict.sources.insert(verdict.sources.end(), said.begin(), said.end());
    std::sort(verdict.sources.begin(), verdict.sources.end());
    return verdict;
  }

  static ReadSource source(const Observed& observed, ItemId read, ItemId write) {
    return {observed.items().op(read), observed.items().key(read),
            write.valid() ? observed.txn(write) : kInitialTxn};
  }

  // What an open read may have returned, the likeliest first: versions before it, from the latest,
  // then those behind it, from the earliest.
  static std::vector<ItemId> by_preference(const Observed& observed, const Positions& places,
                                           ItemId read) {
    std::vector<ItemId> out = observed.candidates(read);
    const std::uint32_t now = places.begin[observed.txn(read).index()];
    const auto rank = [&](ItemId write) {
      const std::uint32_t at = write.valid() ? places.commit[observed.txn(write).index()] : 0;
      return at < now ? std::pair(0u, now - at) : std::pair(1u, at);
    };
    std::stable_sort(out.begin(), out.end(), [&](ItemId a, ItemId b) { return rank(a) < rank(b); });
    return out;
  }

  [[nodiscard]] Verdict undecided(std::string reason) const {
    Verdict verdict{.level = level_};
    verdict.reason = std::move(reason);
    return verdict;
  }
  [[nodiscard]] Verdict too_many(const Sources& sources) const {
    const bool elements = whole_.open_reads().empty() && !whole_.open_elements().empty();
    std::string what =
        fmt::format("{} ways tried to say {}", most_decisions(),
                    elements ? "who appended elements that repeat" : "what open reads returned");
    if (sources.empty()) return undecided(std::move(what));
    const Place place = whole_.history().place(sources.back().read);
    return undecided(fmt::format("{}, like that at {}", what, place.to_string()));
  }
  // The smaller the history, the less time a decision takes. There may be many ways to say what
  // reads of counters saw, but each takes little time.
  [[nodiscard]] std::size_t most_decisions() const {
    const std::size_t most_items = whole_.items().sums().empty() ? 3'000'000 : 50'000'000;
    return std::max(kMostDecisions, most_items / (whole_.items().size() + 1000));
  }

  // The verdict if a read of a counter cannot have returned what it did, whatever it saw.
  [[nodiscard]] Verdict impossible(OpId read) const {
    Verdict verdict{.level = level_, .outcome = Outcome::Violated};
    verdict.anomalies.push_back(anomaly_of_sum(whole_, read));
    ++verdict.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)];
    return verdict;
  }

  // The verdict after every case is refuted. Its anomaly has all reads that cases differ in.
  Verdict violated() { return violated_in_all(whole_.history(), level_, std::move(cases_)); }

  Observed& whole_;
  const DecideWithout& decide_;
  const bool searches_;
  const Budget& budget_;
  const CheckOptions& options_;
  Level level_ = Level::Serializable;
  std::vector<Sources> pending_;  // Cases to be tried; the next one is at the back.
  // The refuted cases.
  std::vector<SourceCase> cases_;
  std::vector<Anomaly> refuted_guess_;  // What was wrong with the last guess, if anything.
  std::size_t decisions_ = 0;
};

}  // namespace

Verdict decide_open_reads(Observed& observed, const DecideWithout& decide, bool searches,
                          const Budget& budget, const CheckOptions& options) {
  if (observed.stopped()) return decide(observed);
  const bool open = !observed.open_reads().empty() || !observed.items().sums().empty() ||
                    !observed.open_elements().empty();
  Verdict verdict =
      open ? OpenReads(observed, decide, searches, budget, options).run() : decide(observed);
  if (verdict.outcome == Outcome::Holds && observed.items().left_out_sums()) {
    verdict = {.level = verdict.level};
    verdict.reason = "there are too many increments and reads of counters to be searched";
  }
  return verdict;
}

std::optional<Verdict> guess_open_reads(Observed& observed, const DecideWithout& decide,
                                        const Budget& budget, const CheckOptions& options) {
  if (observed.stopped() || observed.open_reads().empty()) return std::nullopt;
  return OpenReads(observed, decide, false, budget, options).guess();
}

bool has_few_cases(const Observed& observed) {
  constexpr std::size_t kFew = 64;
  std::size_t cases = 1;
  for (const ItemId read : observed.open_reads()) {
    if (!observed.counted(observed.txn(read))) continue;
    cases *= observed.candidates(read).size();
    if (cases > kFew) return false;
  }
  return true;
}

}  // namespace ouro
