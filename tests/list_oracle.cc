#include "tests/list_oracle.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro::oracle {
namespace {

// An element that a read shows: the list and the place in it.
using Shown = std::pair<KeyId, std::size_t>;

class Namings {
 public:
  explicit Namings(const History& history) : h_(history) {
    std::map<std::pair<KeyId, Value>, std::vector<OpId>> appends;
    for_each_op([&](TxnId, const Op& op) {
      if (op.kind == OpKind::Append) appends[{op.key, op.value}].push_back(op.id);
    });
    for (const auto& [element, all] : appends) {
      if (all.size() > 1) repeated_.insert({element, all});
    }
    for_each_op([&](TxnId, const Op& op) {
      if (op.kind != OpKind::Read || !op.value.is_list()) return;
      const auto list = h_.list(op.value);
      for (std::size_t p = 0; p < list.size(); ++p) {
        const auto found = repeated_.find({op.key, list[p]});
        if (found != repeated_.end()) open_.insert({{op.key, p}, found->first});
      }
    });
  }

  // The levels that some naming allows.
  LevelSet run(const OracleOptions& options) {
    LevelSet out;
    name(open_.begin(), options, out);
    return out;
  }

 private:
  using Open = std::map<Shown, std::pair<KeyId, Value>>;

  template <class F>
  void for_each_op(const F& f) const {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(TxnId{t}) == TxnStatus::Aborted) continue;
      for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
        f(TxnId{t}, h_.op(id));
      }
    }
  }

  // Names the open elements from `next` on, in every way. An element may also be nobody's: that is
  // wrong, but does not matter if the transaction that read it does not count.
  void name(Open::const_iterator next, const OracleOptions& options, LevelSet& out) {
    if (next == open_.end()) {
      const LevelSet some = allowed_levels(renamed(), options);
      for (const LevelInfo& level : ouro::levels()) {
        if (some.has(level.level)) out.add(level.level);
      }
      return;
    }
    const auto after = std::next(next);
    for (const OpId append : repeated_.at(next->second)) {
      if (!used_.insert(append).second) continue;
      chosen_[next->first] = append;
      name(after, options, out);
      used_.erase(append);
    }
    chosen_[next->first] = OpId{};
    name(after, options, out);
  }

  static constexpr std::int64_t kNames = 1000;    // Elements that repeat become kNames + operation,
  static constexpr std::int64_t kNobody = 900'000;  // those of nobody kNobody + place.

  [[nodiscard]] static Value same(HistoryBuilder& b, Value value) {
    return value.kind() == ValueKind::Integer ? b.integer(value.number()) : value;
  }

  // The history in which every append of a repeated element has its own.
  [[nodiscard]] History renamed() const {
    HistoryBuilder b;
    b.default_initial(same(b, h_.default_initial()));
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const TxnId txn{t};
      b.begin_txn(b.session(h_.session_name(h_.session(txn)).number()), t + 1);
      b.status(h_.status(txn));
      b.name(b.integer(static_cast<std::int64_t>(t)));
      b.clocks(h_.invoked(txn).value_or(kNoClock), h_.completed(txn).value_or(kNoClock));
      b.timestamps(h_.start_ts(txn).value_or(kNoTimestamp),
                   h_.commit_ts(txn).value_or(kNoTimestamp));
      for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) add(b, h_.op(id));
    }
    for (const VersionOrder& order : h_.version_orders()) {
      std::vector<HistoryBuilder::NamedVersion> versions;
      for (const TxnId writer : h_.version_writers(order)) {
        versions.push_back({Value::null(), b.integer(static_cast<std::int64_t>(writer.value))});
      }
      b.version_order(b.key(h_.key_name(order.key).number()), versions, order.complete);
    }
    return *std::move(b).freeze();
  }

  void add(HistoryBuilder& b, const Op& op) const {
    if (op.kind == OpKind::Scan) {
      const PredicateRead& read = h_.predicate_read(op.id);
      std::vector<KeyVersion> rows;
      for (const KeyVersion& row : h_.rows(read)) {
        rows.push_back({b.key(h_.key_name(row.key).number()), same(b, row.value)});
      }
      b.scan(same(b, read.lower), same(b, read.upper), {.rows = rows, .version_set = {}});
      return;
    }
    const KeyId key = b.key(h_.key_name(op.key).number());
    if (op.kind == OpKind::Append && repeats(op)) {
      b.append(key, b.integer(kNames + static_cast<std::int64_t>(op.id.value)));
    } else if (op.kind == OpKind::Read && op.value.is_list()) {
      std::vector<Value> elements;
      const auto list = h_.list(op.value);
      for (std::size_t p = 0; p < list.size(); ++p) {
        elements.push_back(element(b, op.key, p, list[p]));
      }
      b.read_list(key, elements);
    } else {
      b.add(op.kind, key, same(b, op.value));
    }
  }

  [[nodiscard]] bool repeats(const Op& append) const {
    const auto found = repeated_.find({append.key, append.value});
    if (found == repeated_.end()) return false;
    return h_.status(h_.txn_of(append.id)) != TxnStatus::Aborted;
  }

  [[nodiscard]] Value element(HistoryBuilder& b, KeyId key, std::size_t place, Value value) const {
    const auto open = open_.find({key, place});
    if (open == open_.end() || open->second.second != value) return same(b, value);
    const OpId append = chosen_.at({key, place});
    return b.integer(append.valid() ? kNames + static_cast<std::int64_t>(append.value)
                                    : kNobody + static_cast<std::int64_t>(place));
  }

  const History& h_;
  std::map<std::pair<KeyId, Value>, std::vector<OpId>> repeated_;
  Open open_;
  std::map<Shown, OpId> chosen_;
  std::set<OpId> used_;
};

}  // namespace

LevelSet allowed_with_repeats(const History& history, const OracleOptions& options) {
  return Namings(history).run(options);
}

}  // namespace ouro::oracle
