#include "check/polygraph/source_choices.h"

#include <algorithm>
#include <utility>

#include "base/internal_error.h"
#include "check/observed/phantom.h"
#include "check/polygraph/search.h"

namespace ouro {

SourceChoices::SourceChoices(const Encoding& encoding, const DynamicOrder& order, Search& search,
                             SeenVersions& seen, const Budget& budget)
    : e_(encoding),
      o_(encoding.observed()),
      order_(order),
      search_(search),
      seen_(seen),
      ticker_(budget, 4096, 4) {
  add_reads();
}

void SourceChoices::add_reads() {
  key_of_.assign(o_.history().key_count(), kNoKey);
  for (const ItemId item : o_.searched_reads()) {
    std::uint32_t& key = key_of_[o_.items().key(item).index()];
    if (key == kNoKey) {
      key = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back({.key = o_.items().key(item)});
      dirty_.push_back(key);
    }
    ++keys_[key].end_read;
    reads_.push_back({.item = item, .txn = o_.txn(item), .key = key, .asked = {}});
  }
  std::uint32_t next = 0;
  for (Key& key : keys_) {
    const std::uint32_t count = key.end_read;
    key.first_read = key.end_read = next;
    next += count;
  }
  by_key_.resize(reads_.size());
  for (std::uint32_t r = 0; r < reads_.size(); ++r) by_key_[keys_[reads_[r].key].end_read++] = r;
  known_position_.resize(order_.node_count());
  for (Node node = 0; node < known_position_.size(); ++node) {
    known_position_[node] = order_.position(node);
  }
}

// ---- the current order ----

void SourceChoices::moved(Node node) {
  const std::uint32_t to = order_.position(node);
  const std::uint32_t from = std::exchange(known_position_[node], to);
  const TxnId txn = e_.txn(node);
  if (txn == kInitialTxn || from == to) return;
  const bool writes = e_.is_commit(node);
  const bool reads = !writes || e_.is_single(txn);
  for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
    if (!e_.is_open(o_.items().key(i))) continue;
    const bool is_write = o_.items().is_write(i);
    if (!(is_write ? writes : reads)) continue;
    const std::uint32_t number = key_of_[o_.items().key(i).index()];
    if (number == kNoKey) continue;
    Key& key = keys_[number];
    if (!key.is_dirty()) dirty_.push_back(number);
    key.low = std::min({key.low, from, to});
    key.high = std::max({key.high, from, to});
    key.is_sorted &= is_write;
  }
}

bool SourceChoices::fits(const Read& read, VersionId version) const {
  return seen_[version].writer != read.txn && o_.fits(read.item, seen_[version].write);
}

VersionId SourceChoices::returned(const Read& read, VersionId seen) const {
  VersionId version = seen;
  if (e_.phantoms(read.txn) && is_phantom(o_, read.item)) {
    while (version != kNoVersion && !fits(read, version)) version = seen_.before(version);
  }
  return version != kNoVersion && fits(read, version) ? version : kNoVersion;
}

bool SourceChoices::may_ask(const Read& read, VersionId version) const {
  return fits(read, version) &&
         std::none_of(read.asked.begin(), read.asked.end(),
                      [&](const Read::Asked& asked) { return asked.version == version; });
}

// Of the versions that the read may have returned and was not asked about, the one that is nearest
// to `from`, the last that it sees; kNoVersion if there is none.
VersionId SourceChoices::nearest(const Read& read, VersionId from) const {
  const std::uint32_t now = seen_.begin(read.txn);
  VersionId left = from;
  VersionId right = seen_.behind(from);
  while (left != kNoVersion && !may_ask(read, left)) left = seen_.before(left);
  while (right != kNoVersion && !may_ask(read, right)) right = seen_.behind(right);
  if (left == kNoVersion || right == kNoVersion) return left == kNoVersion ? right : left;
  return now - seen_.position(left) <= seen_.position(right) - now ? left : right;
}

std::vector<ReadSource> SourceChoices::sources() const {
  std::vector<ReadSource> out;
  for (const Read& read : reads_) {
    const VersionId version = returned(read, last_seen(read));
    insist(version != kNoVersion, "the search overlooked a read");
    out.push_back({o_.items().op(read.item), o_.items().key(read.item), seen_[version].writer});
  }
  return out;
}

// ---- choices ----

void SourceChoices::look_at_dirty_keys() {
  for (const std::uint32_t k : dirty_) {
    look_at(keys_[k]);
    keys_[k].low = 0xffffffff;
    keys_[k].high = 0;
    keys_[k].is_sorted = true;
  }
  dirty_.clear();
}

// Looks at the reads of a key that may see another version than before: those between `low` and
// `high`, and those behind that see a version from there. All who moved came from there and went
// there, so the others are sorted.
void SourceChoices::look_at(const Key& key) {
  const auto end = by_key_.begin() + key.end_read;
  const auto first =
      std::partition_point(by_key_.begin() + key.first_read, end,
                           [&](std::uint32_t read) { return position(read) < key.low; });
  if (!key.is_sorted) {
    const auto behind = std::partition_point(
        first, end, [&](std::uint32_t read) { return position(read) <= key.high; });
    ticker_.tick(static_cast<std::uint32_t>(behind - first));
    std::sort(first, behind, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(position(a), a) < std::pair(position(b), b);
    });
  }
  for (auto at = first; at != end && !ticker_.tick(); ++at) {
    const Read& read = reads_[*at];
    const VersionId seen = last_seen(read);
    if (seen_.position(seen) > key.high + std::uint64_t{1}) return;
    if (returned(read, seen) == kNoVersion) open_.emplace(position(*at), *at);
  }
}

bool SourceChoices::next(Solver& solver, Guide::Next& next) {
  do {
    while (!open_.empty()) {
      if (ticker_.tick()) return false;
      Read& read = reads_[open_.top().second];
      const VersionId seen = last_seen(read);
      if (returned(read, seen) != kNoVersion) {
        open_.pop();
        continue;
      }
      ask(solver, read, seen, next);  // It stays on top until it is satisfied.
      return true;
    }
    look_at_dirty_keys();
  } while (!open_.empty());
  return false;
}

// Asks for something that brings the read nearer to being satisfied: it sees the version `seen`
// last, which it cannot have returned.
void SourceChoices::ask(Solver& solver, Read& read, VersionId seen, Guide::Next& next) {
  for (const Read::Asked& asked : read.asked) {
    const Literal source = Literal::of(asked.source, false);
    if (solver.is_true(source)) return forbid(solver, read, asked, seen, next);
    if (solver.assigned(asked.source)) continue;
    next.kind = Guide::Next::Kind::Decide;
    next.literal = source;
    return;
  }
  std::uint32_t previous = Choice::kNone;
  if (!read.asked.empty()) {
    previous = read.asked.back().later;
    if (!solver.assigned(previous)) {
      next.kind = Guide::Next::Kind::Decide;
      next.literal = Literal::of(previous, false);
      return;
    }
    next.forbidden.literals.push_back(Literal::of(previous, true));
  }
  next.kind = Guide::Next::Kind::Forbid;
  const VersionId version = nearest(read, seen);
  if (version == kNoVersion) return;
  const TxnId writer = seen_[version].writer;
  Side reads_from;
  if (writer != kInitialTxn) reads_from.add({e_.commit(writer), e_.begin(read.txn)});
  Choice about{.key = o_.items().key(read.item), .first = writer, .second = {}};
  about.read = o_.items().op(read.item);
  about.kind = ChoiceKind::Source;
  const std::uint32_t source = seen_.add_choice(solver, reads_from, {}, about);
  about.kind = ChoiceKind::Later;
  about.previous = previous;
  const std::uint32_t later = seen_.add_choice(solver, {}, {}, about);
  read.asked.push_back({version, source, later});
  next.forbidden.literals.push_back(Literal::of(source, false));
  next.forbidden.literals.push_back(Literal::of(later, false));
}

// The read returned what it was asked about, and sees `seen`, so that one is the earlier version;
// or it does not see it.
void SourceChoices::forbid(Solver& solver, const Read& read, const Read::Asked& asked,
                           VersionId seen, Guide::Next& next) {
  next.kind = Guide::Next::Kind::Forbid;
  auto& literals = next.forbidden.literals;
  literals.push_back(!seen_.sees(solver, read.txn, seen, o_.items().op(read.item)));
  const ChainId of_seen = seen_[seen].chain;
  const ChainId of_source = seen_[asked.version].chain;
  if (of_seen != of_source && !search_.is_initial(of_seen) && !search_.is_initial(of_source)) {
    const std::uint64_t away = seen_.begin(read.txn) - seen_.position(seen);
    const Literal earlier = search_.literal(solver, of_seen, of_source);
    // The side that moves less is tried first.
    literals.insert(search_.span(of_seen, of_source) < away ? literals.begin() : literals.end(),
                    earlier);
  }
  literals.push_back(Literal::of(asked.source, true));
}

}  // namespace ouro
