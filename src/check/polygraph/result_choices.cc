#include "check/polygraph/result_choices.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "check/polygraph/search.h"
#include "history/commuting.h"
#include "history/value_order.h"

namespace ouro {
namespace {

// All versions of all rows, in some order.
RowVersions all_versions(const Observed& observed) {
  Positions positions;
  positions.begin.resize(observed.history().txn_count());
  std::iota(positions.begin.begin(), positions.begin.end(), 0);
  positions.commit = positions.begin;
  return RowVersions(observed, &positions);
}

// What a part adds to a sum; nothing if that is no integer.
std::optional<std::int64_t> addend(const RowPart& part) {
  if (!part.counts) return 0;
  return part.value.kind() == ValueKind::Integer ? std::optional(part.value.number())
                                                 : std::nullopt;
}

bool differs(const RowPart& a, const RowPart& b) { return a != b; }

}  // namespace

ResultChoices::ResultChoices(const Encoding& encoding, Search& search, SeenVersions& seen,
                             const Budget& budget)
    : o_(encoding.observed()),
      h_(o_.history()),
      search_(search),
      seen_(seen),
      budget_(budget),
      ticker_(budget, 64, 64),
      versions_(all_versions(o_)) {
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (!o_.counted(TxnId{t})) continue;
    for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
      if (!has_condition(h_.op(id).kind) || !has_untold_keys(h_, id)) continue;
      const bool aggregate = h_.op(id).kind == OpKind::Aggregate;
      if (aggregate && h_.predicate_read(id).result.is_unobserved()) continue;
      versions_.prepare(h_.predicate_read(id).predicate);
      reads_.push_back(id);
    }
  }
}

// ---- the current order ----

void ResultChoices::look(OpId id) {
  const PredicateRead& read = h_.predicate_read(id);
  const TxnId txn = h_.txn_of(id);
  own_ = written_before(h_, id);
  returned_.clear();
  for (const KeyVersion& row : h_.rows(read)) returned_.push_back(row.key);
  std::sort(returned_.begin(), returned_.end());
  versions_.select_keys(read.predicate, keys_);
  rows_.clear();
  for (const KeyId key : keys_) {
    if (has_key(own_, key)) continue;
    if (std::binary_search(returned_.begin(), returned_.end(), key)) continue;
    const VersionId seen = seen_.last_seen(key, txn);
    rows_.push_back({key, seen, part_of(o_, read, key, seen_[seen].write)});
  }
  budget_.charge(10 * keys_.size());
}

bool ResultChoices::fits(OpId read) const {
  PossibleResult result(h_, read);
  add_own(h_, read, own_, result);
  for (const Row& row : rows_) result.add({&row.part, 1}, row.key);
  return result.has_result();
}

std::vector<KeyPart> ResultChoices::parts(OpId read) const {
  std::vector<KeyPart> out = own_parts(h_, read, own_);
  for (const Row& row : rows_) out.push_back({row.key, row.part});
  return out;
}

void ResultChoices::check_all() {
  is_checked_ = true;
  for (const OpId read : reads_) {
    if (ticker_.tick()) return;
    look(read);
    if (!fits(read)) open_.push_back(read);
  }
  // The earliest first: what comes later may depend on it.
  std::sort(open_.begin(), open_.end(), [&](OpId a, OpId b) {
    const std::uint32_t first = seen_.begin(h_.txn_of(a));
    const std::uint32_t second = seen_.begin(h_.txn_of(b));
    return first != second ? first > second : a > b;
  });
}

bool ResultChoices::next(Solver& solver, Guide::Next& next) {
  for (;;) {
    while (!open_.empty()) {
      if (ticker_.tick()) return false;
      look(open_.back());
      if (!fits(open_.back())) {
        forbid(solver, open_.back(), next);  // It stays until it fits.
        return true;
      }
      open_.pop_back();
    }
    if (is_checked_ || ticker_.stopped()) return false;
    check_all();
  }
}

// ---- what is wrong ----

ResultChoices::Helps ResultChoices::blame(OpId id) {
  const PredicateRead& read = h_.predicate_read(id);
  if (h_.op(id).kind == OpKind::Select) {
    std::erase_if(rows_, [](const Row& row) { return !row.part.counts; });
    if (rows_.size() > 1) rows_.resize(1);
    return [](const Row&, const RowPart& other) { return !other.counts; };
  }
  switch (read.aggregate) {
    case AggregateKind::Count:
      if (read.result.kind() == ValueKind::Integer) return blame_count(id, read.result.number());
      break;
    case AggregateKind::Sum:
      return blame_sum(id, read.result);
    case AggregateKind::Min:
    case AggregateKind::Max:
      return blame_extreme(id);
    case AggregateKind::Avg:
      break;
  }
  return [](const Row& row, const RowPart& other) { return differs(row.part, other); };
}

ResultChoices::Helps ResultChoices::blame_count(OpId id, std::int64_t wanted) {
  std::int64_t count = 0;
  for (const KeyPart& each : parts(id)) count += each.part.counts ? 1 : 0;
  const bool too_many = count > wanted;
  std::erase_if(rows_, [&](const Row& row) { return row.part.counts != too_many; });
  return [](const Row& row, const RowPart& other) { return other.counts != row.part.counts; };
}

// If the sum is too large, some row must give less; if it is too small, one must give more.
ResultChoices::Helps ResultChoices::blame_sum(OpId id, Value wanted) {
  WideInt sum = 0;
  bool integers = wanted.kind() == ValueKind::Integer && h_.predicate_read(id).column.valid();
  for (const KeyPart& each : parts(id)) {
    const auto number = addend(each.part);
    integers &= number.has_value();
    sum += number.value_or(0);
  }
  if (!integers || sum == wanted.number()) {
    return [](const Row& row, const RowPart& other) { return differs(row.part, other); };
  }
  const bool too_large = sum > wanted.number();
  return [too_large](const Row& row, const RowPart& other) {
    const auto number = addend(other);
    const std::int64_t now = *addend(row.part);
    return !number || (too_large ? *number < now : *number > now);
  };
}

// A row beyond the result is to blame alone. Without one, some row must have the result.
ResultChoices::Helps ResultChoices::blame_extreme(OpId id) {
  const PredicateRead& read = h_.predicate_read(id);
  const bool least = read.aggregate == AggregateKind::Min;
  const auto side = [this, &read, least](KeyId key, const RowPart& part) {
    const Value value = read.column.valid() ? part.value : h_.key_name(key);
    const int order = compare_values(h_, value, read.result);
    return least ? -order : order;
  };
  const auto is_beyond = [&read, side](KeyId key, const RowPart& part) {
    return part.counts && (read.result.is_null() || side(key, part) > 0);
  };
  // What its own transaction wrote stays as it is.
  const auto own = own_parts(h_, id, own_);
  const bool hopeless = std::any_of(
      own.begin(), own.end(), [&](const KeyPart& mine) { return is_beyond(mine.key, mine.part); });
  if (hopeless) rows_.clear();
  const auto beyond = std::find_if(rows_.begin(), rows_.end(),
                                   [&](const Row& row) { return is_beyond(row.key, row.part); });
  if (beyond == rows_.end()) {
    return [side](const Row& row, const RowPart& other) {
      return other.counts && side(row.key, other) == 0;
    };
  }
  rows_ = {*beyond};
  return [is_beyond](const Row& row, const RowPart& other) { return !is_beyond(row.key, other); };
}

// ---- choices ----

void ResultChoices::forbid(Solver& solver, OpId read, Guide::Next& next) {
  const Helps helps = blame(read);
  moves_.clear();
  for (const Row& row : rows_) add_moves(solver, read, row, helps);
  if (moves_.empty()) impossible_ = read;
  // What moves less is tried first.
  std::stable_sort(moves_.begin(), moves_.end(),
                   [](const Move& a, const Move& b) { return a.first < b.first; });
  next.kind = Guide::Next::Kind::Forbid;
  auto& literals = next.forbidden.literals;
  for (const auto& [_, literal] : moves_) {
    if (std::find(literals.begin(), literals.end(), literal) == literals.end()) {
      literals.push_back(literal);
    }
  }
}

// Versions that help and are seen must come later than the first one of those that do not help and
// are seen behind all of them, the anchor; or that one is not seen; or a version that helps and is
// not seen yet is seen.
void ResultChoices::add_moves(Solver& solver, OpId read, const Row& row, const Helps& helps) {
  const TxnId reader = h_.txn_of(read);
  const PredicateRead& what = h_.predicate_read(read);
  const std::uint32_t now = seen_.begin(reader);
  const auto helpful = [&](VersionId version) {
    budget_.charge(1);
    return helps(row, part_of(o_, what, row.key, seen_[version].write));
  };
  VersionId anchor = row.seen;
  VersionId early = seen_.before(anchor);
  for (; early != kNoVersion && !helpful(early); early = seen_.before(early)) anchor = early;
  if (early != kNoVersion) {
    moves_.emplace_back(now - seen_.position(anchor), !seen_.sees(solver, reader, anchor, read));
  }
  const ChainId of_anchor = seen_[anchor].chain;
  for (ChainId last = of_anchor; early != kNoVersion; early = seen_.before(early)) {
    const ChainId chain = seen_[early].chain;
    if (chain == last || search_.is_initial(chain) || !helpful(early)) continue;
    last = chain;
    moves_.emplace_back(search_.span(of_anchor, chain), search_.literal(solver, of_anchor, chain));
  }
  ChainId last = kNoChain;
  for (VersionId late = seen_.behind(row.seen); late != kNoVersion; late = seen_.behind(late)) {
    const ChainId chain = seen_[late].chain;
    if (chain == last) continue;
    if (seen_[late].writer == reader) last = chain;  // Nothing behind its own version is seen.
    if (chain == last || !helpful(late)) continue;
    last = chain;
    moves_.emplace_back(seen_.position(late) - now, seen_.sees(solver, reader, late, read));
  }
}

}  // namespace ouro
