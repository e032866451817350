// An index finds what a look at all versions finds.

#include "certify/row_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "certify/orders.h"
#include "certify/predicate_reads.h"
#include "certify/rows.h"
#include "history/columns.h"
#include "history/value_order.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/history_builder.h"

namespace ouro::recheck {
namespace {

struct Shape {
  std::size_t txns = 60;
  std::size_t keys = 25;
  std::int64_t lag = 0;  // How long before their commit transactions may have begun.
  bool scans = true;
};

// Random predicate reads, which return nothing yet, of rows with all sorts of cells.
class Maker {
 public:
  Maker(std::uint64_t seed, const Shape& shape) : random_(seed), shape_(shape) {
    for (std::size_t k = 0; k < shape.keys; ++k) {
      keys_.push_back(k % 3 == 0 ? b_.key("k" + std::to_string(k))
                                 : b_.key(static_cast<std::int64_t>(k)));
      if (pick(4) == 0) b_.initial(keys_.back(), row());
    }
  }

  History make() {
    for (std::size_t t = 1; t <= shape_.txns; ++t) {
      b_.begin_txn(b_.session(static_cast<std::int64_t>(pick(5))));
      const auto commit = static_cast<std::int64_t>(4 * t);
      const auto lag = static_cast<std::int64_t>(pick(static_cast<std::size_t>(shape_.lag) + 1));
      b_.timestamps({std::max<std::int64_t>(commit - 1 - lag, 0), 0}, {commit, 0});
      for (std::size_t i = 0; i < 4; ++i) op();
    }
    return *std::move(b_).freeze();
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  Value cell() {
    switch (pick(8)) {
      case 0:
        return Value::null();
      case 1:
        return b_.text(std::string(1, static_cast<char>('a' + pick(4))));
      case 2:
        return b_.integer(pick(2) == 0 ? std::numeric_limits<std::int64_t>::max()
                                       : std::numeric_limits<std::int64_t>::min());
      default:
        return b_.integer(static_cast<std::int64_t>(pick(8)));
    }
  }

  Value row() {
    const HistoryBuilder::NamedCell cells[] = {
        {"u", b_.integer(next_++)},
        {"a", pick(6) == 0 ? Value::null() : b_.integer(static_cast<std::int64_t>(pick(6)))},
        {"b", cell()}};
    return b_.row(std::span(cells).first(pick(5) == 0 ? 2 : 3));
  }

  PredicateId predicate(std::size_t depth) {
    const std::size_t kind = pick(depth == 0 ? 10 : 14);
    if (kind == 0) return b_.always();
    if (kind >= 10) {
      std::vector<PredicateId> children;
      const std::size_t count = kind == 13 ? 1 : pick(4);
      while (children.size() < count) children.push_back(predicate(depth - 1));
      return b_.combine(kind == 13   ? PredicateKind::Not
                        : kind == 12 ? PredicateKind::Or
                                     : PredicateKind::And,
                        children);
    }
    const auto comparison =
        static_cast<PredicateKind>(static_cast<std::size_t>(PredicateKind::Eq) + kind - 1);
    const ColumnId column = pick(5) == 0 ? ColumnId{} : b_.column(pick(2) == 0 ? "a" : "b");
    std::vector<Value> operands;
    const std::size_t count = comparison == PredicateKind::Between  ? 2
                              : comparison == PredicateKind::In     ? 1 + pick(3)
                              : comparison == PredicateKind::IsNull ? 0
                                                                    : 1;
    while (operands.size() < count) operands.push_back(cell());
    return b_.compare(comparison, column, operands);
  }

  void op() {
    const KeyId key = keys_[pick(keys_.size())];
    switch (pick(6)) {
      case 0:
      case 1:
        b_.write(key, row());
        break;
      case 2:
        if (pick(2) == 0) b_.remove(key, b_.text("gone" + std::to_string(next_++)));
        break;
      case 3:
        if (shape_.scans) b_.scan(pick(3) == 0 ? Value::null() : cell(), cell(), {});
        break;
      case 4:
        b_.aggregate(AggregateKind::Count, {}, predicate(3), b_.integer(0), {});
        break;
      default:
        b_.select(predicate(3), {});
        break;
    }
  }

  std::mt19937_64 random_;
  const Shape shape_;
  HistoryBuilder b_;
  std::vector<KeyId> keys_;
  std::int64_t next_ = 100;
};

// The rows that a read is about, by a look at every key.
std::vector<KeyVersion> scan_all(const History& h, const Table& table, OpId read) {
  std::vector<KeyVersion> out;
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    const Content& content = table.content(KeyId{k});
    if (content.row && selects(h, read, KeyId{k}, content.value)) {
      out.push_back({KeyId{k}, content.value});
    }
  }
  return out;
}

TEST(RowIndexTest, SelectsWhatAScanOfAllRowsSelects) {
  std::size_t covered = 0;
  std::size_t narrow = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const History h = Maker(seed, {}).make();
    const RowIndex index(h);
    Table table(h, index);
    for (std::size_t i = 0; i < h.op_count(); ++i) {
      const Op op = h.op(OpId{i});
      if (is_write(op.kind)) {
        i % 3 == 0 ? table.apply_for_now(op) : table.apply(op);
        if (i % 3 == 0 && i % 2 == 0) table.take_back();
        continue;
      }
      ASSERT_EQ(table.selected(op.id), scan_all(h, table, op.id)) << "seed " << seed;
      const auto cover = index.cover(op.id);
      covered += cover.everything ? 0 : 1;
      narrow += !cover.everything && index.size(cover) * 4 < index.slot_count() ? 1 : 0;
      table.take_back();
    }
  }
  EXPECT_GT(covered, 5'000);
  EXPECT_GT(narrow, 2'000);
}

// ---- links and orders ----

// What links() should return, found by a walk through all versions of all keys.
class Walk {
 public:
  Walk(const History& history, const Reading& reading) : h_(history), versions_(h_.key_count()) {
    for (auto& versions : versions_) versions.push_back(kNoAccess);
    for (const StatedOrder& order : reading.orders()) {
      for (const AccessId write : order.writes) versions_[order.key.index()].push_back(write);
    }
    for (const auto& versions : versions_) {
      for (std::size_t i = 1; i < versions.size(); ++i) {
        ops_.resize(std::max<std::size_t>(ops_.size(), versions[i] + 1));
        ops_[versions[i]] = reading.access(versions[i]).op;
      }
    }
  }

  std::vector<PredicateReads::Link> links(OpId read) const {
    std::vector<PredicateReads::Link> out;
    for (std::size_t k = 0; k < versions_.size(); ++k) {
      if (!wrote_before(read, KeyId{k})) add_links(read, k, out);
    }
    return out;
  }

 private:
  [[nodiscard]] bool wrote_before(OpId read, KeyId key) const {
    for (OpId id = h_.first_op(h_.txn_of(read)); id < read; ++id.value) {
      if (is_write(h_.op(id).kind) && h_.op(id).key == key) return true;
    }
    return false;
  }
  [[nodiscard]] bool matches(OpId read, std::size_t k, std::size_t i) const {
    const AccessId write = versions_[k][i];
    const Value value = write == kNoAccess ? h_.initial(KeyId{k}) : h_.op(ops_[write]).value;
    if (value.is_null() || (write != kNoAccess && h_.op(ops_[write]).kind == OpKind::Delete)) {
      return false;
    }
    return selects(h_, read, KeyId{k}, value);
  }
  void add_links(OpId read, std::size_t k, std::vector<PredicateReads::Link>& out) const {
    const auto& all = versions_[k];
    std::size_t seen = 0;
    while (seen + 1 < all.size() &&
           *h_.commit_ts(h_.txn_of(ops_[all[seen + 1]])) <= *h_.start_ts(h_.txn_of(read))) {
      ++seen;
    }
    for (std::size_t i = seen; i > 0; --i) {
      if (matches(read, k, i) == matches(read, k, i - 1)) continue;
      out.push_back({all[i], true});
      break;
    }
    for (std::size_t i = seen + 1; i < all.size(); ++i) {
      if (matches(read, k, i) == matches(read, k, i - 1)) continue;
      out.push_back({all[i], false});
      break;
    }
  }

  const History& h_;
  std::vector<std::vector<AccessId>> versions_;
  std::vector<OpId> ops_;  // By access.
};

// A random schedule that keeps the version orders: neighbouring events change places now and then.
std::vector<Event> shuffled(const History& h, std::size_t swaps, std::mt19937_64& random) {
  std::vector<Event> events;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    events.push_back({TxnId{t}, false});
    events.push_back({TxnId{t}, true});
  }
  const auto collide = [&](TxnId a, TxnId b) {
    for (OpId i = h.first_op(a); i < h.end_op(a); ++i.value) {
      for (OpId j = h.first_op(b); j < h.end_op(b); ++j.value) {
        if (is_write(h.op(i).kind) && is_write(h.op(j).kind) && h.op(i).key == h.op(j).key) {
          return true;
        }
      }
    }
    return false;
  };
  for (std::size_t i = 0; i < swaps; ++i) {
    const std::size_t at = random() % (events.size() - 1);
    const Event one = events[at];
    const Event two = events[at + 1];
    if (one.txn == two.txn || (one.commit && two.commit && collide(one.txn, two.txn))) continue;
    std::swap(events[at], events[at + 1]);
  }
  return events;
}

TEST(PredicateReadsTest, LinksAreThoseOfAWalkThroughAllVersions) {
  std::size_t links = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const History h = Maker(seed, {.lag = 40}).make();
    const auto reading = Reading::of(h, Evidence::Versions);
    ASSERT_TRUE(reading.ok()) << reading.error().to_string();
    const PredicateReads reads(*reading, PredicateReads::Seeing::Start);
    const Walk walk(h, *reading);
    for (const OpId read : reads.reads()) {
      const auto found = reads.links(read);
      const auto wanted = walk.links(read);
      ASSERT_EQ(found.size(), wanted.size()) << "seed " << seed;
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].write, wanted[i].write) << "seed " << seed;
        ASSERT_EQ(found[i].seen, wanted[i].seen) << "seed " << seed;
      }
      links += found.size();
    }
  }
  EXPECT_GT(links, 10'000);
}

TEST(PredicateReadsTest, OrdersAreJudgedAsByAllLinks) {
  std::size_t broken = 0;
  std::size_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    // In some histories transactions begin so long before they commit that there are fewer versions
    // than differences.
    const bool many = seed % 3 == 0;
    const Shape shape{.txns = many ? std::size_t{200} : 12,
                      .lag = many            ? 600
                             : seed % 4 == 0 ? 0
                                             : 9};
    const History h = Maker(seed, shape).make();
    const auto reading = Reading::of(h, Evidence::Versions);
    ASSERT_TRUE(reading.ok()) << reading.error().to_string();
    const PredicateReads reads(*reading, PredicateReads::Seeing::Start);
    const Walk walk(h, *reading);
    std::mt19937_64 random(seed);
    const auto events = shuffled(h, seed % 5 * h.txn_count() * 2, random);
    PredicateReads::Moments moments;
    moments.begun.resize(h.txn_count());
    moments.committed.resize(h.txn_count());
    for (std::size_t i = 0; i < events.size(); ++i) {
      (events[i].commit ? moments.committed : moments.begun)[events[i].txn.index()] = i;
    }
    for (const auto unseen :
         {PredicateReads::Unseen::Matter, PredicateReads::Unseen::DoNotMatter}) {
      std::optional<OpId> wanted;
      for (const OpId read : reads.reads()) {
        const TxnId reader = h.txn_of(read);
        if (wanted) break;
        for (const auto& link : walk.links(read)) {
          const TxnId writer = reading->access(link.write).txn;
          const bool before = moments.committed[writer.index()] < moments.begun[reader.index()];
          if (writer == reader || link.seen == before) continue;
          if ((link.seen || unseen == PredicateReads::Unseen::Matter)) wanted = read;
        }
      }
      const auto found = reads.first_broken(moments, unseen);
      ASSERT_EQ(found.has_value(), wanted.has_value()) << "seed " << seed;
      if (found) {
        ASSERT_EQ(found->read, *wanted) << "seed " << seed;
      }
      (found ? broken : kept) += 1;
    }
  }
  EXPECT_GT(broken, 100);
  EXPECT_GT(kept, 100);
}

// ---- tampering ----

// The history with other results: predicate read number i returns rows[i] and values[i].
History with_results(const History& h, const std::vector<std::vector<KeyVersion>>& rows,
                     const std::vector<Value>& values) {
  struct Kept {
    History history;
    std::vector<PredicateRead> reads;
    std::vector<KeyVersion> rows;
  };
  auto kept = std::make_shared<Kept>();
  kept->history = h;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    PredicateRead read = columns_of(h).predicate_reads[i];
    read.first_row = static_cast<std::uint32_t>(kept->rows.size());
    read.row_count = static_cast<std::uint32_t>(rows[i].size());
    read.result = values[i];
    kept->rows.insert(kept->rows.end(), rows[i].begin(), rows[i].end());
    kept->reads.push_back(read);
  }
  HistoryColumns columns = columns_of(h);
  columns.predicate_reads = kept->reads;
  columns.row_reads = kept->rows;
  return history_of(columns, kept);
}

class TamperedResults : public ::testing::TestWithParam<Evidence> {};

TEST_P(TamperedResults, AreNoticed) {
  const Evidence evidence = GetParam();
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const History bare = Maker(seed, {.scans = evidence == Evidence::Timestamps}).make();
    const RowIndex index(bare);
    Table table(bare, index);
    std::vector<std::vector<KeyVersion>> rows;
    std::vector<Value> values;
    std::vector<OpId> reads;
    for (std::size_t i = 0; i < bare.op_count(); ++i) {
      const Op op = bare.op(OpId{i});
      if (is_write(op.kind)) {
        table.apply(op);
        continue;
      }
      const auto found = scan_all(bare, table, op.id);
      const bool counts = op.kind == OpKind::Aggregate;
      values.push_back(counts ? Value::small(static_cast<std::int64_t>(found.size())) : Value{});
      rows.push_back(counts ? std::vector<KeyVersion>{} : found);
      reads.push_back(op.id);
    }
    const History good = with_results(bare, rows, values);
    CheckOptions options;
    options.evidence = evidence;
    const auto verdict = check(good, Level::Serializable, options);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    ASSERT_EQ(verdict->outcome, Outcome::Holds) << "seed " << seed;
    ASSERT_TRUE(certify(good, make_certificate(good, *verdict))->accepted) << "seed " << seed;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      auto other_rows = rows;
      auto other_values = values;
      if (bare.op(reads[i]).kind == OpKind::Aggregate) {
        other_values[i] = Value::small(values[i].number() + (seed % 2 == 0 ? 1 : -1));
      } else if (seed % 2 == 0 && !rows[i].empty()) {
        other_rows[i].pop_back();
      } else {
        // Adds a row that is there but does not match, or that matches but is not there.
        const KeyId key{i % bare.key_count()};
        const auto has = std::any_of(rows[i].begin(), rows[i].end(),
                                     [&](const KeyVersion& row) { return row.key == key; });
        if (has || bare.initial(key).is_null()) continue;
        other_rows[i].push_back({key, bare.initial(key)});
      }
      const History bad = with_results(bare, other_rows, other_values);
      const auto certified = certify(bad, make_certificate(bad, *verdict));
      ASSERT_TRUE(!certified.ok() || !certified->accepted) << "seed " << seed << ", read " << i;
      ++tried;
    }
  }
  EXPECT_GT(tried, 1'000);
}

INSTANTIATE_TEST_SUITE_P(RowIndexTest, TamperedResults,
                         ::testing::Values(Evidence::Versions, Evidence::Timestamps));

}  // namespace
}  // namespace ouro::recheck
