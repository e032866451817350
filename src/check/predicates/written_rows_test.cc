// Indexes of columns find what a look at all rows finds.

#include "check/predicates/written_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "history/value_order.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

struct RowsAndReads {
  History history;
  std::vector<WrittenRows::Row> rows;
  std::vector<PredicateId> predicates;
  std::vector<OpId> reads;
};

// Columns with integers only, with other numbers among them, and with texts; some cells are
// missing.
RowsAndReads rows_and_reads(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) {
    return static_cast<std::int64_t>(random() % limit);
  };
  RowsAndReads out;
  HistoryBuilder b;
  b.begin_txn(b.session("s"));
  for (int i = 0; i < 60; ++i) {
    std::vector<HistoryBuilder::NamedCell> cells;
    if (below(5) > 0) cells.push_back({"a", b.integer(below(20))});
    if (below(3) > 0) {
      cells.push_back({"b", below(3) == 0 ? b.decimal("7.5") : b.integer(below(20))});
    }
    if (cells.empty() || below(2) == 0) cells.push_back({"c", b.text("t")});
    const KeyId key = b.key(below(12));
    const Value row = b.row(cells);
    b.write(key, row);
    out.rows.push_back({{key, row}, false});
  }
  constexpr PredicateKind kKinds[] = {PredicateKind::Eq, PredicateKind::Lt, PredicateKind::Le,
                                      PredicateKind::Gt, PredicateKind::Ge};
  for (int i = 0; i < 40; ++i) {
    const ColumnId column = b.column(below(3) == 0 ? "b" : "a");
    const Value low = b.integer(below(20));
    const Value bounds[] = {low, b.integer(low.number() + below(8))};
    const PredicateId predicate =
        below(3) == 0 ? b.compare(PredicateKind::Between, column, bounds)
                      : b.compare(kKinds[below(5)], column, std::span(bounds).first(1));
    out.reads.push_back(below(2) == 0 ? b.select(predicate, {})
                                      : b.aggregate(AggregateKind::Max, b.column("b"), predicate,
                                                    Value::unobserved(), {}));
  }
  out.history = *std::move(b).freeze();
  return out;
}

TEST(WrittenRowsTest, FindsAllRowsThatCount) {
  std::size_t counted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RowsAndReads all = rows_and_reads(seed);
    WrittenRows rows(all.history, all.rows);
    for (const OpId read : all.reads) {
      const PredicateRead& details = all.history.predicate_read(read);
      std::vector<KeyVersion> found;
      rows.for_each_that_counts(
          details, [&](const WrittenRows::Row& row) { found.push_back(row.version); });
      std::vector<KeyVersion> expected;
      for (const WrittenRows::Row& row : all.rows) {
        if (row_part(all.history, details, row.version).counts) expected.push_back(row.version);
      }
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(found, expected) << "seed " << seed;
      counted += found.size();
    }
  }
  EXPECT_GT(counted, 0u);
}

TEST(WrittenRowsTest, ALookThroughAnIndexIsShort) {
  const RowsAndReads all = rows_and_reads(1);
  WrittenRows rows(all.history, all.rows);
  for (const OpId read : all.reads) {
    const PredicateRead& details = all.history.predicate_read(read);
    const std::size_t scope = rows.scope(details.predicate);
    EXPECT_LE(scope, all.rows.size());
    const std::uint64_t before = rows.looked_at();
    rows.for_each_that_counts(details, [](const WrittenRows::Row&) {});
    EXPECT_EQ(rows.looked_at() - before, scope);
  }
}

// Where bounds_suffice() says so, all integers within the bounds match, and nothing else is asked.
TEST(WrittenRowsTest, BoundsThatSufficeNeedNoOtherLook) {
  std::size_t sufficient = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RowsAndReads all = rows_and_reads(seed);
    for (const OpId read : all.reads) {
      const PredicateId predicate = all.history.predicate_read(read).predicate;
      const auto bounds = bounds_of(all.history, predicate);
      if (!bounds_suffice(all.history, predicate, bounds)) continue;
      ++sufficient;
      for (const WrittenRows::Row& row : all.rows) {
        const Value cell = all.history.cell(row.version.value, bounds[0].column);
        if (cell.kind() != ValueKind::Integer) continue;
        const bool within = cell.number() >= lower_number(bounds[0]) &&
                            cell.number() <= upper_number(bounds[0]);
        const Truth truth = evaluate(all.history, predicate, row.version.key, row.version.value);
        EXPECT_EQ(truth == Truth::True, within) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(sufficient, 0u);
}

}  // namespace
}  // namespace ouro
