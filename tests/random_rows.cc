#include "tests/random_rows.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro::oracle {
namespace {

struct Version {
  std::size_t commit = 0;  // Transactions commit in the order in which they are made, from 1.
  Value value;
  bool alive = false;
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed)
      : random_(seed),
        seed_(seed),
        timestamps_(seed % 3 == 0),
        locks_(timestamps_ && seed % 11 < 4),
        deletes_(seed % 2 == 0),
        unplaced_(!timestamps_ && seed % 6 < 2 ? 0.7 : 0.0),
        scan_sets_(!timestamps_ && seed % 8 < 4),
        scans_(!deletes_ || seed % 4 == 0 || scan_sets_),
        lists_(seed % 5 == 1),
        noise_(seed % 5 == 0 ? 0.15 : 0.0),
        lag_(seed % 4 == 0 ? 0.0 : 0.8),
        halves_(seed % 2 == 1) {}

  History make() {
    const std::size_t keys = 1 + pick(3);
    for (std::size_t k = 0; k < keys; ++k) {
      keys_.push_back(b_.key(static_cast<std::int64_t>(k)));
      versions_.emplace_back();
      if (chance(deletes_ && scans_ && !scan_sets_ ? 1 : 0.3)) {
        const Value initial = row();
        b_.initial(keys_.back(), initial);
        versions_.back().push_back({0, initial, true});
      } else {
        versions_.back().push_back({0, Value::null(), false});
      }
    }
    deleted_.assign(keys, false);
    if (lists_) list_ = b_.key(static_cast<std::int64_t>(keys));
    const std::size_t txns = 3 + pick(3);
    for (std::size_t t = 1; t <= txns; ++t) txn(t);
    // The order of transactions in the history need not be that of their commits.
    if (seed_ % 7 < 3) std::shuffle(steps_.begin(), steps_.end(), random_);
    for (const auto& steps : steps_) {
      for (const auto& step : steps) step();
    }
    if (!timestamps_) state_orders();
    return *std::move(b_).freeze();
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }

  // Puts off a step of the transaction at hand until the history is built.
  void later(std::function<void()> step) { steps_.back().push_back(std::move(step)); }

  Value row() {
    const bool has_v = !chance(0.2);
    const std::int64_t tenths = static_cast<std::int64_t>(pick(3)) * (halves_ ? 5 : 10);
    const HistoryBuilder::NamedCell cells[] = {
        {"c", chance(0.1) ? Value::null() : b_.integer(static_cast<std::int64_t>(pick(3)))},
        {"u", b_.integer(next_++)},
        {"v", has_v ? decimal(tenths, 1) : Value::null()}};
    const Value made = b_.row(cells);
    cells_.push_back({made, cells[0].second, has_v ? std::optional(tenths) : std::nullopt});
    return made;
  }

  // `digits`, of which the last `places` are behind the point.
  Value decimal(std::int64_t digits, std::size_t places) {
    std::string text = std::to_string(digits);
    if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
    if (places > 0) text.insert(text.size() - places, ".");
    return places == 1 ? b_.decimal(text) : b_.precise_decimal(text);
  }

  void txn(std::size_t commit) {
    steps_.emplace_back();
    const auto session = static_cast<std::int64_t>(pick(3));
    const bool aborted = chance(0.05);
    later([this, session, aborted] {
      b_.begin_txn(b_.session(session));
      if (aborted) b_.status(TxnStatus::Aborted);
    });
    const std::size_t snapshot = chance(lag_) ? pick(commit) : commit - 1;
    if (timestamps_) {
      const bool at_once = snapshot == commit - 1 && chance(0.3);
      const auto start = static_cast<std::int64_t>(at_once ? 2 * commit : 2 * snapshot + 1);
      const auto end = static_cast<std::int64_t>(2 * commit);
      later([this, start, end] { b_.timestamps({start, 0}, {end, 0}); });
    }
    own_.assign(keys_.size(), std::nullopt);
    own_elements_.clear();
    const std::size_t ops = 1 + pick(4);
    for (std::size_t i = 0; i < ops; ++i) {
      const bool moves = !timestamps_ && chance(noise_);
      const bool current = locks_ && !chance(0.1);
      op(commit, moves ? pick(commit) : current ? commit - 1 : snapshot);
    }
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (own_[k] && (!aborted || chance(noise_))) versions_[k].push_back(*own_[k]);
    }
    if (aborted) return;
    for (const Value element : own_elements_) elements_.emplace_back(commit, element);
  }

  // What a transaction with `snapshot` sees of a key.
  [[nodiscard]] const Version& seen(std::size_t k, std::size_t snapshot) {
    if (own_[k]) return *own_[k];
    if (chance(noise_)) return versions_[k][pick(versions_[k].size())];
    const auto after = std::find_if(versions_[k].begin(), versions_[k].end(),
                                    [&](const Version& v) { return v.commit > snapshot; });
    return *(after - 1);
  }

  void op(std::size_t commit, std::size_t snapshot) {
    const std::size_t k = pick(keys_.size());
    const double which = std::uniform_real_distribution<>(0, 1)(random_);
    if (lists_ && which < 0.1) {
      list_op(snapshot);
    } else if (which < 0.15) {
      later([this, k, value = seen(k, snapshot).value] { b_.read(keys_[k], value); });
    } else if (which < 0.45) {
      own_[k] = {commit, row(), true};
      later([this, k, value = own_[k]->value] { b_.write(keys_[k], value); });
    } else if (which < 0.55 && deletes_ && !(scans_ && !scan_sets_ && deleted_[k])) {
      deleted_[k] = true;
      own_[k] = {commit, b_.text("d" + std::to_string(next_++)), false};
      later([this, k, value = own_[k]->value] { b_.remove(keys_[k], value); });
    } else {
      predicate_read(snapshot, pick(scans_ ? 3 : 2));
    }
  }

  // Appends to the list, at most four times, or reads it. No scan may miss it.
  void list_op(std::size_t snapshot) {
    if (elements_.size() + own_elements_.size() < 4 && chance(0.5)) {
      own_elements_.push_back(b_.integer(next_++));
      later([this, value = own_elements_.back()] { b_.append(list_, value); });
      return;
    }
    std::vector<Value> seen;
    for (const auto& [commit, element] : elements_) {
      if (commit <= snapshot) seen.push_back(element);
    }
    seen.insert(seen.end(), own_elements_.begin(), own_elements_.end());
    later([this, seen] { b_.read_list(list_, seen); });
  }

  void predicate_read(std::size_t snapshot, std::size_t kind) {
    std::vector<const Version*> visible;
    std::vector<KeyVersion> set;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      visible.push_back(&seen(k, snapshot));
      if (chance(noise_ / 4)) continue;  // Not listed.
      const bool stale = own_[k] && chance(noise_ / 4);
      const Version& listed = stale ? versions_[k][pick(versions_[k].size())] : *visible[k];
      if (!listed.value.is_null()) set.push_back({keys_[k], listed.value});
    }
    const bool has_set = kind == 2 ? scan_sets_ : !timestamps_ && !chance(unplaced_);
    const auto low = static_cast<std::int64_t>(pick(3));
    const auto high = low + static_cast<std::int64_t>(pick(2));
    std::vector<KeyVersion> rows;
    const auto matches = [&](std::size_t k) {
      if (!visible[k]->alive) return false;
      if (kind == 2) return static_cast<std::int64_t>(k) >= low;
      const Value cell = cells_of(visible[k]->value).c;
      return !cell.is_null() && cell.number() >= low && cell.number() <= high;
    };
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      // One row too few, too many, or twice.
      const bool wrong = visible[k]->alive && chance(noise_ / 4);
      if (matches(k) != wrong) rows.push_back({keys_[k], visible[k]->value});
      if (!rows.empty() && chance(noise_ / 8)) rows.push_back(rows.back());
    }
    const std::size_t function = pick(6);
    later([=, this] {
      record(kind, low, high, rows, has_set ? std::optional(set) : std::nullopt, function);
    });
  }

  // The result of count(*), count(v), sum(v), min(v), max(v) or avg(v).
  Value aggregated(std::size_t function, const std::vector<KeyVersion>& rows) {
    if (function == 0) return b_.integer(static_cast<std::int64_t>(rows.size()));
    std::vector<std::int64_t> values;
    for (const KeyVersion& row : rows) {
      if (const auto tenths = cells_of(row.value).v) values.push_back(*tenths);
    }
    if (function == 1) return b_.integer(static_cast<std::int64_t>(values.size()));
    if (values.empty()) return Value::null();
    const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
    if (function == 2) return decimal(sum, 1);
    if (function == 5) {  // Rounded to some places.
      const auto count = static_cast<std::int64_t>(values.size());
      const std::size_t places = pick(4);
      std::int64_t scaled = sum;
      for (std::size_t i = 0; i < places; ++i) scaled *= 10;
      return decimal((2 * scaled + 10 * count) / (20 * count), places);
    }
    return decimal(function == 3 ? *std::min_element(values.begin(), values.end())
                                 : *std::max_element(values.begin(), values.end()),
                   1);
  }

  void record(std::size_t kind, std::int64_t low, std::int64_t high,
              const std::vector<KeyVersion>& rows,
              const std::optional<std::vector<KeyVersion>>& set, std::size_t function) {
    HistoryBuilder::Rows result;
    if (kind != 1) result.rows = rows;
    result.has_version_set = set.has_value();
    if (set) result.version_set = *set;
    if (kind == 2) {
      b_.scan(b_.integer(low), Value::null(), result);
      return;
    }
    const Value bounds[] = {b_.integer(low), b_.integer(high)};
    const PredicateId range = b_.compare(PredicateKind::Between, b_.column("c"), bounds);
    if (kind == 0) {
      b_.select(range, result);
    } else {
      constexpr AggregateKind kKinds[] = {AggregateKind::Count, AggregateKind::Count,
                                          AggregateKind::Sum,   AggregateKind::Min,
                                          AggregateKind::Max,   AggregateKind::Avg};
      b_.aggregate(kKinds[function], function == 0 ? ColumnId{} : b_.column("v"), range,
                   aggregated(function, rows), result);
    }
  }

  // The builder does not tell what is in a row; so we remember.
  struct Cells {
    Value row, c;
    std::optional<std::int64_t> v;  // In tenths.
  };
  [[nodiscard]] Cells cells_of(Value row) const {
    const auto at = std::find_if(cells_.begin(), cells_.end(),
                                 [&](const Cells& cells) { return cells.row == row; });
    return at == cells_.end() ? Cells{row, Value::null(), std::nullopt} : *at;
  }

  void state_orders() {
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      std::vector<Value> order;
      for (std::size_t i = 1; i < versions_[k].size(); ++i) order.push_back(versions_[k][i].value);
      for (std::size_t i = 1; i < order.size(); ++i) {
        if (chance(noise_)) std::swap(order[i - 1], order[i]);
      }
      b_.version_order(keys_[k], order, true);
    }
  }

  std::mt19937_64 random_;
  const std::uint64_t seed_;
  const bool timestamps_;
  const bool locks_;  // Then reads see what is committed when their transaction commits.
  const bool deletes_;
  const double unplaced_;  // How many selects and aggregates do not say what they saw.
  const bool scan_sets_;   // Whether scans have version sets.
  // If they have none, rows are there at first, and deleted once: scans list no tombstones.
  const bool scans_;
  const bool lists_;  // Whether there is a list among the rows.
  const double noise_;
  const double lag_;
  const bool halves_;  // Whether v has halves.
  HistoryBuilder b_;
  std::int64_t next_ = 100;
  std::vector<std::vector<std::function<void()>>> steps_;  // By transaction.
  std::vector<KeyId> keys_;
  std::vector<std::vector<Version>> versions_;  // By key.
  std::vector<bool> deleted_;                   // By key.
  std::vector<std::optional<Version>> own_;     // Of the transaction at hand, by key.
  std::vector<Cells> cells_;                    // Of all rows.
  KeyId list_;
  std::vector<std::pair<std::size_t, Value>> elements_;  // Of the list, with their commit.
  std::vector<Value> own_elements_;                      // Of the transaction at hand.
};

}  // namespace

History random_rows(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace ouro::oracle
