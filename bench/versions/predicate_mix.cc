#include "versions/predicate_mix.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro::bench {
namespace {

class Table {
 public:
  explicit Table(const PredicateMix& mix)
      : mix_(mix), random_(mix.seed), rows_(mix.rows), column_(b_.column("c1")) {
    for (std::uint64_t k = 0; k < mix.rows; ++k) keys_.push_back(b_.key(std::to_string(k)));
  }

  History make() {
    for (std::uint64_t t = 0; t < mix_.txns; ++t) {
      b_.begin_txn(b_.session(static_cast<std::int64_t>(t % 10)));
      const auto now = static_cast<std::int64_t>(2 * t);
      b_.timestamps({now, 0}, {now + 1, 0});
      if (lost_ < mix_.lost_updates * (t + 1) / mix_.txns) lose_update();
      for (std::uint32_t i = 0; i < mix_.ops_per_txn; ++i) op();
    }
    if (mix_.version_sets) {
      for (std::size_t k = 0; k < keys_.size(); ++k) {
        b_.version_order(keys_[k], rows_[k].versions, true);
      }
    }
    return *std::move(b_).freeze();
  }

 private:
  struct Row {
    std::int64_t c1 = 0;
    Value value;  // Null: absent.
    std::vector<Value> versions;
  };

  double share() { return std::uniform_real_distribution<>(0, 1)(random_); }

  void op() {
    if (share() < 0.1) {
      write(random_() % keys_.size());
    } else if (share() < mix_.predicate_share) {
      predicate();
    } else {
      const std::size_t k = random_() % keys_.size();
      if (random_() % 2 == 0) {
        b_.read(keys_[k], rows_[k].value);
      } else {
        write(k);
      }
    }
  }

  void write(std::size_t k) {
    Row& row = rows_[k];
    if (!row.value.is_null()) index_.erase({row.c1, k});
    row.c1 = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(mix_.values));
    const HistoryBuilder::NamedCell cells[] = {{"c0", b_.integer(next_++)},
                                               {"c1", b_.integer(row.c1)}};
    row.value = b_.row(cells);
    row.versions.push_back(row.value);
    index_.insert({row.c1, k});
    b_.write(keys_[k], row.value);
  }

  // Reads the version before the last one of the row that has most, and overwrites the last one.
  void lose_update() {
    const auto fewer = [](const Row& a, const Row& b) {
      return a.versions.size() < b.versions.size();
    };
    const auto most = std::max_element(rows_.begin(), rows_.end(), fewer);
    if (most->versions.size() < 2) return;
    const auto k = static_cast<std::size_t>(most - rows_.begin());
    b_.read(keys_[k], most->versions.end()[-2]);
    write(k);
    ++lost_;
  }

  // A select, a minimum, or an update of what a select finds.
  void predicate() {
    const auto low = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(mix_.values));
    const Value bounds[] = {b_.integer(low), b_.integer(low + mix_.width)};
    const PredicateId range = b_.compare(PredicateKind::Between, column_, bounds);
    std::vector<KeyVersion> found;
    std::vector<std::size_t> places;
    for (auto at = index_.lower_bound({low, 0});
         at != index_.end() && at->first <= low + mix_.width; ++at) {
      found.push_back({keys_[at->second], rows_[at->second].value});
      places.push_back(at->second);
    }
    std::vector<KeyVersion> all;
    HistoryBuilder::Rows rows;
    if (mix_.version_sets) {
      for (std::size_t k = 0; k < keys_.size(); ++k) {
        if (!rows_[k].value.is_null()) all.push_back({keys_[k], rows_[k].value});
      }
      rows.has_version_set = true;
      rows.version_set = all;
    }
    const double which = share();
    if (which < 0.25) {
      const Value least = places.empty() ? Value::null() : b_.integer(rows_[places[0]].c1);
      b_.aggregate(AggregateKind::Min, column_, range, least, rows);
      return;
    }
    rows.rows = found;
    b_.select(range, rows);
    if (which < 0.5) return;
    for (const std::size_t k : places) write(k);
  }

  const PredicateMix& mix_;
  std::mt19937_64 random_;
  HistoryBuilder b_;
  std::vector<Row> rows_;
  std::vector<KeyId> keys_;
  ColumnId column_;
  std::set<std::pair<std::int64_t, std::size_t>> index_;  // Of rows that are there.
  std::int64_t next_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace

History make(const PredicateMix& mix) { return Table(mix).make(); }

}  // namespace ouro::bench
