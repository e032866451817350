// The engines by version orders: against the oracle, with complete and partial orders, and against
// themselves with fewer orders.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "history/columns.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "tests/oracle.h"
#include "tests/random_rows.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

// A history with other version orders than its own.
struct Restated {
  History history;
  std::vector<VersionOrder> orders;
  std::vector<Value> versions;
};

struct Order {
  KeyId key;
  bool complete = false;
  std::vector<Value> versions;
};

History restate(const History& history, const std::vector<Order>& orders) {
  auto owner = std::make_shared<Restated>();
  owner->history = history;
  for (const Order& order : orders) {
    owner->orders.push_back({.key = order.key,
                             .complete = order.complete,
                             .first = static_cast<std::uint32_t>(owner->versions.size()),
                             .count = static_cast<std::uint32_t>(order.versions.size())});
    owner->versions.insert(owner->versions.end(), order.versions.begin(), order.versions.end());
  }
  HistoryColumns columns = columns_of(history);
  columns.version_orders = owner->orders;
  columns.versions = owner->versions;
  return history_of(columns, owner);
}

// With which probability …
struct Statement {
  double shuffle = 0.2;     // … two neighbours change places,
  double complete = 0.5;    // … an order is complete, and said to be,
  double mention = 0.6;     // … an order that is not complete has a version,
  double unknown = 0.3;     // … an unknown transaction is listed,
  double aborted = 0.02;    // … an aborted one is, which is wrong,
  double lacking = 0.02;    // … a complete order lacks a version, which is wrong,
  double intermediate = 0;  // … a version that its transaction overwrote is listed.
};

// Random version orders for `history`, mostly in the order of its transactions.
std::vector<Order> random_orders(const History& history, std::uint64_t seed,
                                 const Statement& statement) {
  std::mt19937_64 random(seed);
  const auto chance = [&](double share) {
    return std::uniform_real_distribution<>(0, 1)(random) < share;
  };
  std::map<KeyId, std::map<TxnId, std::vector<Value>>> writes;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    const TxnStatus status = history.status(txn);
    if (status == TxnStatus::Unknown && !chance(statement.unknown)) continue;
    if (status == TxnStatus::Aborted && !chance(statement.aborted)) continue;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const Op op = history.op(id);
      if (is_write(op.kind)) writes[op.key][txn].push_back(op.value);
    }
  }
  std::vector<Order> orders;
  for (const auto& [key, txns] : writes) {
    Order all{key, false, {}};
    for (const auto& [txn, values] : txns) {
      for (const Value value : values) {
        if (value == values.back() || chance(statement.intermediate)) all.versions.push_back(value);
      }
    }
    for (std::size_t i = 1; i < all.versions.size(); ++i) {
      if (chance(statement.shuffle)) std::swap(all.versions[i - 1], all.versions[i]);
    }
    all.complete = chance(statement.complete);
    const std::size_t parts = all.complete ? 1 : random() % 3;
    for (std::size_t part = 0; part < parts; ++part) {
      Order order{key, all.complete, {}};
      for (const Value value : all.versions) {
        if (chance(all.complete ? 1 - statement.lacking : statement.mention)) {
          order.versions.push_back(value);
        }
      }
      orders.push_back(std::move(order));
    }
  }
  return orders;
}

std::vector<Level> all_levels() {
  std::vector<Level> out;
  for (const LevelInfo& level : levels()) out.push_back(level.level);
  return out;
}

// Where version orders leave something open, what clients saw may violate a level by itself.
// Whether that is so.
bool reads_violate(const History& history, Level level) {
  CheckOptions options;
  const auto verdict = check(history, level, options);
  return verdict.ok() && verdict->outcome == Outcome::Violated;
}

// What is wrong with the verdicts by versions, at any level; "" if nothing. With `told` also what
// is wrong with how they are explained, which takes ten times as long.
std::string complaint(const History& history, bool told, LevelSet* levels = nullptr) {
  static const std::vector<Level> kLevels = all_levels();
  CheckOptions options;
  options.evidence = Evidence::Versions;
  const OracleOptions oracle{.evidence = Evidence::Versions};
  const auto verdicts = check(history, kLevels, options);
  if (!verdicts.ok()) return verdicts.error().to_string();
  const LevelSet allowed = allowed_levels(history, oracle);
  if (levels != nullptr) *levels = allowed;
  for (const Verdict& verdict : *verdicts) {
    const std::string name(info(verdict.level).name);
    if (verdict.evidence != Evidence::Versions) {
      const bool fine =
          verdict.outcome == Outcome::Violated && reads_violate(history, verdict.level);
      if (!fine) return name + ": by other evidence";
      const auto proof = certify(history, make_certificate(history, verdict));
      if (!proof.ok() || !proof->accepted) return name + ": other evidence that is no proof";
      continue;
    }
    // At parallel SI, what a predicate read saw may stay open.
    if (verdict.outcome == Outcome::Undecided && verdict.level == Level::ParallelSi) {
      const bool known = verdict.reason.find("does not say what it saw") != std::string::npos;
      if (!known) return verdict.reason;
      continue;
    }
    const Outcome expected = allowed.has(verdict.level) ? Outcome::Holds : Outcome::Violated;
    if (verdict.outcome != expected) return name + ": " + std::string(ouro::name(verdict.outcome));
    if (expected == Outcome::Holds &&
        !order_proves(history, verdict.level, verdict.order, oracle)) {
      return name + ": the order proves nothing";
    }
    if (told && describe(history, verdict).empty()) return name + ": nothing to say";
    const auto checked = certify(history, make_certificate(history, verdict));
    if (!checked.ok()) return name + ": " + checked.error().to_string();
    if (!checked->accepted) return name + ": certificate rejected, " + checked->reason;
  }
  return "";
}

std::string text(const History& history) {
  std::string out;
  EXPECT_TRUE(print_history(history, Format::Native, out).ok());
  return out;
}

TEST(VersionsTest, AgreesWithTheOracleOnRandomHistories) {
  std::size_t held = 0;
  std::size_t violated = 0;
  for (std::uint64_t seed = 1; seed <= 12'000 / kSlowdown; ++seed) {
    const History plain = random_history(seed, mixed_shape(seed));
    const bool lists = seed % 4 == 0;
    const History history = restate(plain, random_orders(plain, seed,
                                                         {.intermediate = lists           ? 1.0
                                                                          : seed % 3 == 0 ? 0.3
                                                                                          : 0}));
    LevelSet levels;
    ASSERT_EQ(complaint(history, seed % 10 == 0, &levels), "") << "seed " << seed << "\n"
                                                               << text(history);
    (levels.has(Level::Serializable) ? held : violated) += 1;
  }
  EXPECT_GT(held, 1500 / kSlowdown);
  EXPECT_GT(violated, 3000 / kSlowdown);
}

TEST(VersionsTest, AgreesWithTheOracleOnAllSmallHistories) {
  const Shape shape{.txns = 3, .ops = 2, .keys = 2, .sessions = 2, .stride = 7 * kSlowdown};
  std::uint64_t seed = 0;
  const std::size_t count = for_each_history(shape, [&](const History& plain) {
    if (HasFatalFailure()) return;
    const History history = restate(plain, random_orders(plain, ++seed, {.shuffle = 0.5}));
    ASSERT_EQ(complaint(history, seed % 10 == 0), "") << text(history);
  });
  EXPECT_GT(count, 1000 / kSlowdown);
}

TEST(VersionsTest, AgreesWithTheOracleOnPredicateReads) {
  std::size_t phantoms = 0;  // Histories that only predicates keep from being serializable.
  std::size_t held = 0;
  std::size_t violated = 0;
  for (std::uint64_t seed = 1; seed <= 20'000 / kSlowdown; ++seed) {
    const History history = random_rows(seed);
    LevelSet levels;
    ASSERT_EQ(complaint(history, seed % 10 == 0, &levels), "") << "seed " << seed << "\n"
                                                               << text(history);
    (levels.has(Level::Serializable) ? held : violated) += 1;
    if (levels.has(Level::RepeatableRead) && !levels.has(Level::Serializable)) ++phantoms;
  }
  EXPECT_GT(held, 3000 / kSlowdown);
  EXPECT_GT(violated, 3000 / kSlowdown);
  EXPECT_GT(phantoms, 300 / kSlowdown);
}

// Where version orders are not complete, the outcome may stay open, but must not be wrong.
TEST(VersionsTest, PredicateReadsWithPartialOrdersAreNeverWrong) {
  std::size_t decided = 0;
  std::size_t open = 0;
  const std::vector<Level> all = all_levels();
  CheckOptions options;
  options.evidence = Evidence::Versions;
  for (std::uint64_t seed = 1; seed <= 6'000 / kSlowdown; ++seed) {
    const History rows = random_rows(seed);
    if (rows.version_orders().empty()) continue;
    std::vector<Order> orders;
    for (const VersionOrder& order : rows.version_orders()) {
      const auto versions = rows.versions(order);
      Order part{order.key, (seed + order.key.value) % 3 == 0, {}};
      for (const Value version : versions) {
        if (part.complete || versions.size() < 3 || version != versions[seed % versions.size()]) {
          part.versions.push_back(version);
        }
      }
      orders.push_back(std::move(part));
    }
    const History history = restate(rows, orders);
    const auto verdicts = check(history, all, options);
    ASSERT_TRUE(verdicts.ok()) << verdicts.error().to_string() << text(history);
    const LevelSet allowed = allowed_levels(history, {.evidence = Evidence::Versions});
    for (const Verdict& verdict : *verdicts) {
      (verdict.outcome == Outcome::Undecided ? open : decided) += 1;
      if (verdict.outcome == Outcome::Undecided) {
        ASSERT_NE(verdict.reason, "");
        continue;
      }
      const bool by_reads = verdict.evidence == Evidence::Observed;
      ASSERT_TRUE(!by_reads || reads_violate(history, verdict.level))
          << info(verdict.level).name << ", seed " << seed << "\n"
          << text(history);
      ASSERT_EQ(verdict.outcome == Outcome::Holds, !by_reads && allowed.has(verdict.level))
          << info(verdict.level).name << ", seed " << seed << "\n"
          << text(history);
      const auto checked = certify(history, make_certificate(history, verdict));
      ASSERT_TRUE(checked.ok() && checked->accepted)
          << info(verdict.level).name << ", seed " << seed << ": " << checked->reason << "\n"
          << text(history);
    }
  }
  EXPECT_GT(decided, 4 * open);
}

// With orders that agree with a verdict's own order nothing changes, however much they tell.
TEST(VersionsTest, WhatIsTrueAnywayChangesNoVerdict) {
  for (std::uint64_t seed = 1; seed <= 2'000 / kSlowdown; ++seed) {
    RandomShape shape = mixed_shape(seed);
    shape.unknown = 0;
    const History plain = random_history(seed, shape);
    for (const Level level : {Level::Serializable, Level::SessionSi, Level::ParallelSi}) {
      const auto verdict = check(plain, level);
      ASSERT_TRUE(verdict.ok());
      if (verdict->outcome != Outcome::Holds) continue;
      std::map<KeyId, std::vector<Value>> versions;
      for (const TxnId txn : verdict->order) {
        for (OpId id = plain.first_op(txn); id < plain.end_op(txn); ++id.value) {
          const Op op = plain.op(id);
          if (is_write(op.kind)) versions[op.key].push_back(op.value);
        }
      }
      std::mt19937_64 random(seed);
      for (const unsigned percent : {0, 50, 90, 100}) {
        std::vector<Order> orders;
        for (const auto& [key, all] : versions) {
          Order order{key, percent == 100, {}};
          for (const Value value : all) {
            if (random() % 100 < percent) order.versions.push_back(value);
          }
          orders.push_back(order);
        }
        CheckOptions options;
        options.evidence = Evidence::Versions;
        const auto again = check(restate(plain, orders), level, options);
        ASSERT_TRUE(again.ok()) << again.error().to_string();
        ASSERT_EQ(again->outcome, Outcome::Holds)
            << "seed " << seed << ", " << percent << " % known, " << info(level).name;
      }
    }
  }
}

// ---- the papers' figures ----

TEST(VersionsTest, FiguresOfThePapersAreAsTheySay) {
  std::size_t asked = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(OURO_SOURCE_DIR) + "/tests/papers")) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto history = read_history(entry.path().string());
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    const auto remarks = history->remarks();
    const auto expect = std::find_if(remarks.begin(), remarks.end(),
                                     [](const Remark& remark) { return remark.name == "expect"; });
    ASSERT_NE(expect, remarks.end()) << entry.path();
    std::istringstream wanted(expect->text);
    for (std::string evidence, level, outcome; wanted >> evidence >> level >> outcome; ++asked) {
      if (outcome.back() == ';') outcome.pop_back();
      CheckOptions options;
      for (const Evidence kind : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
        if (evidence == name(kind)) options.evidence = kind;
      }
      const auto parsed = find_level(level);
      ASSERT_TRUE(parsed) << level;
      const auto verdict = check(*history, *parsed, options);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      EXPECT_EQ(name(verdict->outcome), outcome)
          << entry.path() << ": " << evidence << " " << level;
      const auto checked = certify(*history, make_certificate(*history, *verdict));
      ASSERT_TRUE(checked.ok()) << checked.error().to_string();
      EXPECT_TRUE(checked->accepted) << entry.path() << ": " << checked->reason;
    }
  }
  EXPECT_GE(asked, 16u);
}

}  // namespace
}  // namespace ouro::oracle
