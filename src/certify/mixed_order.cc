// Checks a schedule of begins and commits of transactions that each have a level of their own
// (docs/levels.md, "Mixed levels"). What a transaction asks for depends on its own level:
//
//   - at the serializable levels, that it begins where it commits and reads what is there then;
//   - at the levels of snapshots, that it reads what is there when it begins, and, but for prefix,
//     that nobody else commits a key that it writes in between;
//   - at rc, ra and causal, where only the commit counts, that nobody that it knew of wrote a key
//     that it read behind the version that it read; and so at parallel SI, where it knows of more.
//
// Reads-from is kept by all; session order and real time where a level of either side asks for it.

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>

#include "certify/clock.h"
#include "certify/orders.h"
#include "certify/rules.h"

namespace ouro::recheck {
namespace {

class MixedOrder {
 public:
  MixedOrder(const Reading& reading, std::int64_t clock_drift)
      : reading_(reading),
        h_(reading.history()),
        clock_drift_(clock_drift),
        began_(h_.txn_count(), kNever),
        committed_(h_.txn_count(), kNever),
        latest_(h_.key_count()),
        length_(h_.key_count(), 0),
        writers_(h_.key_count()) {}

  std::string run(std::span<const Event> schedule) {
    std::vector<TxnId> order;
    for (const Event& event : schedule) {
      std::string wrong = misplaced(reading_, event);
      if (wrong.empty()) wrong = event.commit ? commit(event.txn) : begin(event.txn);
      if (!wrong.empty()) return wrong;
      if (event.commit) order.push_back(event.txn);
      ++now_;
    }
    if (order.size() != reading_.counted()) return "the schedule leaves out a transaction";
    if (auto wrong = compare_lists(reading_, order); !wrong.empty()) return wrong;
    if (auto wrong = compare_sessions(); !wrong.empty()) return wrong;
    if (auto wrong = compare_times(true); !wrong.empty()) return wrong;
    if (auto wrong = compare_times(false); !wrong.empty()) return wrong;
    for (const TxnId txn : order) {
      if (auto wrong = compare_knowledge(txn); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  static constexpr std::size_t kNever = ~std::size_t{0};

  [[nodiscard]] Rules rules(TxnId txn) const { return rules_of(h_, Level::Mixed, txn); }
  // Whether the reads of a transaction are compared with what is there when it begins.
  [[nodiscard]] bool has_moment(TxnId txn) const {
    return rules(txn).family == Family::Snapshot || rules(txn).family == Family::Serial;
  }

  std::string begin(TxnId txn) {
    if (began_[txn.index()] != kNever) return txn_name(txn) + " begins twice";
    began_[txn.index()] = now_;
    if (!has_moment(txn)) return "";
    const bool phantoms = rules(txn).phantoms;
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_external(id) || (phantoms && reading_.is_phantom(id))) continue;
      const TxnId source = reading_.source_txn(id);
      const KeyId key = reading_.access(id).key;
      const bool fits = source == latest_[key.index()] &&
                        (!reading_.is_list(key) || reading_.others(id) == length_[key.index()]);
      if (!fits) {
        return fmt::format("{} reads {} as it was not when it began", txn_name(txn),
                           h_.key_label(key));
      }
    }
    return "";
  }

  std::string commit(TxnId txn) {
    const std::size_t began = began_[txn.index()];
    if (began == kNever) return txn_name(txn) + " commits before it begins";
    if (committed_[txn.index()] != kNever) return txn_name(txn) + " commits twice";
    committed_[txn.index()] = now_;
    const Rules own = rules(txn);
    if (own.family == Family::Serial && began + 1 != now_) {
      return txn_name(txn) + " does not commit where it begins";
    }
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (reading_.is_external(id)) {
        const TxnId source = reading_.source_txn(id);
        if (source == kInitialTxn || committed_[source.index()] < now_) continue;
        return fmt::format("{} commits before {}, which it read from", txn_name(txn),
                           txn_name(source));
      }
      if (!reading_.is_write(id)) continue;
      const std::size_t key = reading_.access(id).key.index();
      TxnId& latest = latest_[key];
      const bool other = latest.valid() && latest != kInitialTxn && latest != txn;
      if (own.family == Family::Snapshot && !own.lost_updates && other &&
          committed_[latest.index()] > began) {
        return fmt::format("{} and {} write {} at the same time", txn_name(latest), txn_name(txn),
                           h_.key_label(KeyId{key}));
      }
      if (latest != txn) writers_[key].push_back(txn);
      latest = txn;
      ++length_[key];
    }
    return "";
  }

  // Where a transaction must be behind what came before it in its session or in real time: at its
  // begin, if it reads a snapshot and its own level `asks` for that.
  [[nodiscard]] std::size_t place(TxnId txn, bool asks) const {
    return (asks && has_moment(txn) ? began_ : committed_)[txn.index()];
  }

  std::string compare_sessions() const {
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      std::size_t last = 0;        // The last commit so far, plus one.
      std::size_t last_asked = 0;  // Of those whose level asks for session order.
      for (const TxnId txn : h_.session_txns(SessionId{s})) {
        if (!reading_.counts(txn)) continue;
        const bool asks = rules(txn).sessions;
        if (place(txn, asks) + 1 <= (asks ? last : last_asked)) {
          return txn_name(txn) + " comes before an earlier one of its session";
        }
        last = std::max(last, committed_[txn.index()] + 1);
        if (asks) last_asked = std::max(last_asked, committed_[txn.index()] + 1);
      }
    }
    return "";
  }

  // Compares the order with real time: for the later ones whose level asks for it, or else for the
  // earlier ones.
  std::string compare_times(bool later_asks) const {
    std::vector<std::pair<std::int64_t, std::size_t>> done;  // completed, commit
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const TxnId txn{t};
      if (!reading_.counts(txn) || !h_.completed(txn)) continue;
      if (later_asks || rules(txn).real_time) done.emplace_back(*h_.completed(txn), committed_[t]);
    }
    std::sort(done.begin(), done.end());
    for (std::size_t i = 1; i < done.size(); ++i) {
      done[i].second = std::max(done[i].second, done[i - 1].second);
    }
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const TxnId txn{t};
      const Rules own = reading_.counts(txn) ? rules(txn) : Rules{};
      if (!reading_.counts(txn) || !h_.invoked(txn) || (later_asks && !own.real_time)) continue;
      const auto after = std::partition_point(done.begin(), done.end(), [&](const auto& each) {
        return precedes_in_time(each.first, *h_.invoked(txn), clock_drift_);
      });
      if (after == done.begin()) continue;
      if (place(txn, later_asks && !own.commit_to_commit) <= (after - 1)->second) {
        return txn_name(txn) + " comes before one that had completed when it was invoked";
      }
    }
    return "";
  }

  // ---- what a transaction knew of ----

  std::string compare_knowledge(TxnId txn) {
    const Rules own = rules(txn);
    if (own.family != Family::Weak && own.family != Family::Parallel) return "";
    if (own.knows == Knows::EarlierReads || own.knows == Knows::Direct) {
      return compare_sources(txn, own.knows == Knows::EarlierReads);
    }
    return compare_past(txn, own.family == Family::Parallel);
  }

  // Whether `known`, of which the reader of `read` knew, wrote the key behind what it returned.
  [[nodiscard]] std::string objection(AccessId read, TxnId known) const {
    const Access& a = reading_.access(read);
    const TxnId source = reading_.source_txn(read);
    if (known == kInitialTxn || known == source || known == a.txn) return "";
    if (reading_.last_write(known, a.key) == kNoAccess) return "";
    const bool before =
        source != kInitialTxn && committed_[known.index()] < committed_[source.index()];
    if (before) return "";
    return fmt::format("{} reads {} from before {}, which it knew of", txn_name(a.txn),
                       h_.key_label(a.key), txn_name(known));
  }

  std::string compare_sources(TxnId txn, bool earlier) const {
    for (AccessId read = reading_.first(txn); read < reading_.end(txn); ++read) {
      if (!reading_.is_external(read)) continue;
      for (AccessId saw = reading_.first(txn); saw < reading_.end(txn); ++saw) {
        if (!reading_.is_external(saw)) continue;
        if (earlier && reading_.access(saw).op >= reading_.access(read).op) continue;
        if (auto wrong = objection(read, reading_.source_txn(saw)); !wrong.empty()) return wrong;
      }
      for (const TxnId before : h_.session_txns(h_.session(txn))) {
        if (earlier || before >= txn) break;
        if (!reading_.counts(before)) continue;
        if (auto wrong = objection(read, before); !wrong.empty()) return wrong;
      }
    }
    return "";
  }

  std::string compare_past(TxnId reader, bool parallel) {
    past_.clear();
    pending_.assign(1, reader);
    const auto visit = [&](TxnId txn) {
      if (txn != kInitialTxn && txn != reader && past_.insert(txn).second) pending_.push_back(txn);
    };
    while (!pending_.empty()) {
      const TxnId txn = pending_.back();
      pending_.pop_back();
      for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
        if (reading_.is_external(id)) visit(reading_.source_txn(id));
        if (!parallel || !reading_.is_write(id) || rules(txn).lost_updates) continue;
        for (const TxnId writer : writers_[reading_.access(id).key.index()]) {
          if (writer == txn) break;
          visit(writer);
        }
      }
      for (const TxnId before : h_.session_txns(h_.session(txn))) {
        if (before >= txn) break;
        if (!reading_.counts(before)) continue;
        if (rules(before).sessions || rules(txn).sessions) visit(before);
      }
    }
    for (AccessId read = reading_.first(reader); read < reading_.end(reader); ++read) {
      if (!reading_.is_external(read)) continue;
      for (const TxnId known : past_) {
        if (auto wrong = objection(read, known); !wrong.empty()) return wrong;
      }
    }
    return "";
  }

  const Reading& reading_;
  const History& h_;
  const std::int64_t clock_drift_;
  std::size_t now_ = 0;
  // By transaction: the position of its begin, and of its commit; or kNever.
  std::vector<std::size_t> began_;
  std::vector<std::size_t> committed_;
  std::vector<TxnId> latest_;                // By key: who wrote the last committed version.
  std::vector<std::size_t> length_;          // By key: how many elements of a list are committed.
  std::vector<std::vector<TxnId>> writers_;  // By key, in the order of their commits.
  absl::flat_hash_set<TxnId> past_;
  std::vector<TxnId> pending_;
};

}  // namespace

std::string check_mixed_order(const Reading& reading, std::int64_t clock_drift,
                              std::span<const Event> schedule) {
  return MixedOrder(reading, clock_drift).run(schedule);
}

}  // namespace ouro::recheck
