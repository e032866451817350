// Walks along the cycles of two cases at once and notes which transaction and key of one is where
// which is in the other. That must be the same all along, and so it must be in what they suppose.

#include "explain/mirrors.h"

#include <algorithm>
#include <span>
#include <utility>

namespace ouro {
namespace {

constexpr std::size_t kMostRenamed = 4;  // Transactions and keys; two that are swapped are two.

// Which names of one case stand for which of another.
class Renaming {
 public:
  explicit Renaming(const History& history) : h_(history) {}

  // Whether the parts may be the same under the names noted so far; notes further ones. If not, the
  // renaming is of no use any more.
  bool match(TxnId here, TxnId there) { return match(txns_, here, there); }
  bool match(KeyId here, KeyId there) { return match(keys_, here, there); }

  bool match(OpId here, OpId there) {
    if (!here.valid() || !there.valid()) return here.valid() == there.valid();
    return h_.op(here).kind == h_.op(there).kind && match(h_.op(here).key, h_.op(there).key) &&
           match(h_.txn_of(here), h_.txn_of(there));
  }

  bool match(const Edge& here, const Edge& there) {
    const bool assumed = here.choice != Edge::kNoChoice;
    return here.kind == there.kind && assumed == (there.choice != Edge::kNoChoice) &&
           match(here.from, there.from) && match(here.to, there.to) &&
           match(here.key, there.key) && match(here.from_op, there.from_op) &&
           match(here.to_op, there.to_op) && match(here.read, there.read) &&
           match(here.saw, there.saw);
  }

  bool match(const Assumption& here, const Assumption& there) {
    return match(here.key, there.key) && match(here.first, there.first) &&
           match(here.second, there.second);
  }

  bool match(const ReadSource& here, const ReadSource& there) {
    return here.element == there.element && match(here.read, there.read) &&
           match(here.key, there.key) && match(here.writer, there.writer);
  }

  bool match(const ReadSight& here, const ReadSight& there) {
    return here.seen == there.seen && match(here.read, there.read) && match(here.key, there.key) &&
           match(here.writer, there.writer);
  }

  // Whether each of the parts is one of the others, in any order.
  template <class Part>
  bool match_all(std::span<const Part> here, std::vector<Part> there) {
    if (here.size() != there.size()) return false;
    for (const Part& one : here) {
      const auto same = std::find_if(there.begin(), there.end(), [&](const Part& other) {
        Renaming with = *this;
        if (!with.match(one, other)) return false;
        txns_ = std::move(with.txns_);
        keys_ = std::move(with.keys_);
        return true;
      });
      if (same == there.end()) return false;
      there.erase(same);
    }
    return true;
  }

  // Sets what has another name there; false if that is nothing, or too much.
  bool finish(Case& out) {
    const auto kept = [](const auto& each) { return each.here == each.there; };
    std::erase_if(txns_, kept);
    std::erase_if(keys_, kept);
    const std::size_t count = txns_.size() + keys_.size();
    if (count == 0 || count > kMostRenamed || goes_round(txns_) || goes_round(keys_)) return false;
    std::sort(txns_.begin(), txns_.end());
    std::sort(keys_.begin(), keys_.end());
    out.other_txns = std::move(txns_);
    out.other_keys = std::move(keys_);
    return true;
  }

 private:
  template <class Id>
  static bool match(std::vector<Renamed<Id>>& known, Id here, Id there) {
    if (!here.valid() || !there.valid()) return here.valid() == there.valid();
    for (const Renamed<Id>& each : known) {
      if (each.here == here || each.there == there) return each == Renamed<Id>{here, there};
    }
    known.push_back({here, there});
    return true;
  }

  // Whether a name that is given up is taken by another one without a swap: nobody can follow that.
  template <class Id>
  static bool goes_round(const std::vector<Renamed<Id>>& names) {
    return std::any_of(names.begin(), names.end(), [&](const Renamed<Id>& one) {
      return std::any_of(names.begin(), names.end(), [&](const Renamed<Id>& other) {
        return other.here == one.there && other.there != one.here;
      });
    });
  }

  const History& h_;
  std::vector<Renamed<TxnId>> txns_;
  std::vector<Renamed<KeyId>> keys_;
};

// Whether `later` is `earlier` with other names if its cycle is told from its edge `first` on; sets
// the names.
bool mirrors(const History& history, const Case& earlier, Case& later, std::size_t first) {
  Renaming renaming(history);
  const std::size_t size = later.cycle.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (!renaming.match(earlier.cycle[i], later.cycle[(first + i) % size])) return false;
  }
  if (!renaming.match_all(std::span(earlier.given), later.given) ||
      !renaming.match_all(std::span(earlier.sources), later.sources) ||
      !renaming.match_all(std::span(earlier.sights), later.sights)) {
    return false;
  }
  return renaming.finish(later);
}

bool mirrors(const History& history, const Case& earlier, Case& later) {
  if (earlier.cycle.empty() || earlier.plain || later.plain) return false;
  if (earlier.cycle.size() != later.cycle.size()) return false;
  for (std::size_t first = 0; first < later.cycle.size(); ++first) {
    if (mirrors(history, earlier, later, first)) return true;
  }
  return false;
}

}  // namespace

void find_mirrors(std::vector<Case>& cases, const History& history) {
  for (Case& each : cases) each.mirrors.reset();
  for (std::size_t later = 1; later < cases.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later && !cases[later].mirrors; ++earlier) {
      if (cases[earlier].mirrors || !mirrors(history, cases[earlier], cases[later])) continue;
      cases[later].mirrors = earlier;
    }
  }
}

}  // namespace ouro
