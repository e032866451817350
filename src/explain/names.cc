#include "explain/names.h"

#include <algorithm>

#include "explain/lost_update.h"
#include "explain/patterns.h"
#include "history/access.h"
#include "history/commuting.h"
#include "history/moment.h"
#include "history/value_order.h"

namespace ouro {
namespace {

bool has(std::span<const Edge> cycle, EdgeKind kind) {
  return std::any_of(cycle.begin(), cycle.end(),
                     [&](const Edge& edge) { return edge.kind == kind; });
}

std::size_t count(std::span<const Edge> cycle, EdgeKind kind) {
  return static_cast<std::size_t>(std::count_if(
      cycle.begin(), cycle.end(), [&](const Edge& edge) { return edge.kind == kind; }));
}

class Namer {
 public:
  Namer(const Story& story, const History& history) : story_(story), h_(history) {}

  [[nodiscard]] Pattern of_cycle(std::span<const Edge> cycle) const {
    if (has(cycle, EdgeKind::Forced)) return of_forced(cycle);
    switch (count(cycle, EdgeKind::ReadWrite)) {
      case 0:
        return has(cycle, EdgeKind::WriteRead) ? Pattern::CircularFlow : Pattern::DirtyWrite;
      case 1:
        return of_one_overwritten_read(cycle);
      default:
        return of_overwritten_reads(cycle);
    }
  }

  // Whether somebody built upon the aborted value that was read: the reader wrote the key, too, or
  // the list that it read has later elements.
  [[nodiscard]] bool dirty_update() const {
    if (story_.shown_by.empty()) return false;
    const Op read = h_.op(story_.shown_by.front());
    if (!read.key.valid()) return false;
    const TxnId reader = h_.txn_of(read.id);
    for (OpId id = h_.first_op(reader); id < h_.end_op(reader); ++id.value) {
      if (h_.op(id).key == read.key && is_write(h_.op(id).kind)) return true;
    }
    if (!read.value.is_list() || story_.shown_by.size() < 2) return false;
    return h_.list(read.value).back() != h_.op(story_.shown_by[1]).value;
  }

 private:
  // A cycle with edges that a rule of rc, ra or cc forces: a reader saw a transaction, but read a
  // version that this transaction had overwritten.
  [[nodiscard]] Pattern of_forced(std::span<const Edge> cycle) const {
    Pattern mildest = Pattern::NonMonotonicRead;
    for (const Edge& edge : cycle) {
      if (edge.kind != EdgeKind::Forced || !edge.read.valid()) continue;
      mildest = std::max(mildest, of_seeing(edge));
    }
    return mildest;
  }

  [[nodiscard]] Pattern of_seeing(const Edge& forced) const {
    if (forced.saw.valid()) {
      return forced.saw < forced.read ? Pattern::NonMonotonicRead : Pattern::FracturedRead;
    }
    const bool same_session =
        forced.from.valid() && h_.session(forced.from) == h_.session(h_.txn_of(forced.read));
    return same_session ? Pattern::StaleRead : Pattern::CausalityViolation;
  }

  // A reader missed a write of a transaction that precedes it by the rest of the cycle.
  [[nodiscard]] Pattern of_one_overwritten_read(std::span<const Edge> cycle) const {
    const auto at = std::find_if(cycle.begin(), cycle.end(),
                                 [](const Edge& edge) { return edge.kind == EdgeKind::ReadWrite; });
    const Edge& missed = *at;
    const bool condition = missed.from_op.valid() && has_condition(h_.op(missed.from_op).kind);
    if (is_half_counted(cycle, missed)) return Pattern::WrongAggregate;
    if (condition && missed_by_predicate(missed)) return Pattern::Phantom;
    if (cycle.size() == 2) {
      const Edge& seen = cycle[at == cycle.begin() ? 1 : 0];
      if (seen.kind == EdgeKind::WriteRead) {
        return seen.to_op < missed.from_op ? Pattern::NonMonotonicRead : Pattern::FracturedRead;
      }
      if (seen.kind == EdgeKind::WriteWrite) {
        return same_thing(seen, missed) ? Pattern::LostUpdate : Pattern::ReadSkew;
      }
      return Pattern::StaleRead;
    }
    if (has(cycle, EdgeKind::WriteWrite)) return Pattern::ReadSkew;
    const bool timed = std::any_of(cycle.begin(), cycle.end(),
                                   [](const Edge& edge) { return is_real_time(edge.kind); });
    return timed ? Pattern::StaleRead : Pattern::CausalityViolation;
  }

  [[nodiscard]] Pattern of_overwritten_reads(std::span<const Edge> cycle) const {
    bool adjacent = false;
    bool predicate = false;  // A predicate read did not tell of the row.
    bool row_came = false;   // No version before that was one for the predicate.
    bool only_reads = false;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const Edge& next = cycle[(i + 1) % cycle.size()];
      only_reads |= cycle[i].from.valid() && !writes(h_, cycle[i].from);
      if (cycle[i].kind != EdgeKind::ReadWrite) continue;
      adjacent |= next.kind == EdgeKind::ReadWrite;
      predicate |= missed_by_predicate(cycle[i]);
      row_came |= missed_by_predicate(cycle[i]) && !counted_before(cycle[i]);
    }
    const bool two = count(cycle, EdgeKind::ReadWrite) == 2;
    const bool blind = has(cycle, EdgeKind::WriteWrite);
    if (!adjacent) {
      return two && !blind && cycle.size() == 4 ? Pattern::LongFork : Pattern::Nonadjacent;
    }
    if (cycle.size() == 2 && same_thing(cycle[0], cycle[1])) return Pattern::LostUpdate;
    const bool skew = two && !blind && !has(cycle, EdgeKind::WriteRead);
    if (predicate) return skew && !row_came ? Pattern::PredicateSkew : Pattern::Phantom;
    if (skew) return Pattern::WriteSkew;
    return two && !blind && only_reads ? Pattern::ReadOnlyAnomaly : Pattern::ItemCycle;
  }

  // The counter that an edge is about; null if it is about none.
  [[nodiscard]] Value counter_of(const Edge& edge) const {
    if (!edge.to_op.valid()) return Value::null();
    const Op to = h_.op(edge.to_op);
    // Before the mark of an increment there is its row.
    const Op inc = to.kind == OpKind::IncMark ? h_.op(OpId{to.id.index() - 1}) : to;
    const auto row = is_write(inc.kind) ? counter_row(h_, inc.value) : std::nullopt;
    return row ? row->counter : Value::null();
  }
  // Whether two edges are about the same key or counter.
  [[nodiscard]] bool same_thing(const Edge& one, const Edge& two) const {
    return one.key == two.key || (!counter_of(one).is_null() && counter_of(one) == counter_of(two));
  }

  // Whether the overwritten read is a predicate read that did not return the key. Reads of counters
  // and sets are no predicate reads to those who made them.
  [[nodiscard]] bool missed_by_predicate(const Edge& edge) const {
    if (!edge.from_op.valid() || !is_predicate_read(h_.op(edge.from_op).kind)) return false;
    const PredicateRead& read = h_.predicate_read(edge.from_op);
    const OpKind kind = h_.op(edge.from_op).kind;
    if (!counter_read(h_, kind, read).is_null() || !set_read(h_, kind, read).empty()) return false;
    const auto rows = h_.rows(h_.predicate_read(edge.from_op));
    return std::none_of(rows.begin(), rows.end(),
                        [&](const KeyVersion& row) { return row.key == edge.key; });
  }

  // Whether the cycle is an aggregate that saw one write of a transaction and missed another.
  [[nodiscard]] bool is_half_counted(std::span<const Edge> cycle, const Edge& missed) const {
    if (cycle.size() != 2 || !missed.from_op.valid() ||
        h_.op(missed.from_op).kind != OpKind::Aggregate || !missed_by_predicate(missed)) {
      return false;
    }
    return std::any_of(cycle.begin(), cycle.end(), [&](const Edge& edge) {
      return edge.kind == EdgeKind::WriteRead && edge.to_op == missed.from_op;
    });
  }

  // Whether the overwritten read is an aggregate, and a version of the row that somebody else
  // wrote, or the initial one, is one that it counts.
  [[nodiscard]] bool counted_before(const Edge& edge) const {
    if (h_.op(edge.from_op).kind != OpKind::Aggregate) return false;
    const auto counts = [&](Value value) {
      return evaluate(h_, h_.predicate_read(edge.from_op).predicate, edge.key, value) ==
             Truth::True;
    };
    if (counts(h_.initial(edge.key))) return true;
    return std::any_of(story_.ops.begin(), story_.ops.end(), [&](OpId id) {
      const Op op = h_.op(id);
      return op.key == edge.key && is_write(op.kind) && h_.txn_of(id) != edge.to &&
             counts(op.value);
    });
  }

  const Story& story_;
  const History& h_;
};

// Whether the story tells of two updates of one version, which timestamps show as a write conflict
// or as a read that is too old.
bool is_update_lost_by_time(const Story& story, const History& history) {
  return (story.kind == AnomalyKind::WriteConflict ||
          story.kind == AnomalyKind::SnapshotMismatch) &&
         !story.shown_by.empty() &&
         lost_update_among(history, story.ops, story.shown_by.front()).has_value();
}

Variant variant_of(const Story& story, const History& history) {
  Variant variant = Variant::None;
  const auto look_at = [&](const Edge& edge) {
    const bool by_session =
        edge.kind == EdgeKind::Forced && edge.read.valid() && !edge.saw.valid() &&
        edge.from.valid() &&
        history.session(edge.from) == history.session(history.txn_of(edge.read));
    if (is_real_time(edge.kind)) variant = Variant::RealTime;
    if (variant != Variant::None) return;
    if (by_session || (edge.kind == EdgeKind::Session && edge.from.valid())) {
      variant = Variant::Session;
    }
  };
  for (const Case& each : story.cases) {
    for (const Edge& edge : each.cycle) look_at(edge);
  }
  for (const Edge& edge : story.support) look_at(edge);
  return variant;
}

}  // namespace

void name_story(Story& story, const History& history) {
  const Namer namer(story, history);
  if (story.cases.empty()) {
    story.pattern = plain_pattern(story.kind);
    if (story.pattern == Pattern::AbortedRead && namer.dirty_update()) {
      story.pattern = Pattern::DirtyUpdate;
    }
    if (is_update_lost_by_time(story, history)) story.pattern = Pattern::LostUpdate;
    return;
  }
  const Case& first = story.cases.front();
  story.pattern = first.plain ? plain_pattern(*first.plain) : Pattern::DirtyWrite;
  for (std::size_t i = 0; i < story.cases.size(); ++i) {
    const Case& each = story.cases[i];
    if (each.plain) continue;
    const Pattern pattern = namer.of_cycle(each.cycle);
    if (pattern < story.pattern || (pattern == story.pattern && i > 0)) continue;
    story.pattern = pattern;
    story.named_by = i;
  }
  story.variant = variant_of(story, history);
}

}  // namespace ouro
