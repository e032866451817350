// Certificates of the engines' verdicts are accepted.

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "format/format_testing.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/generate.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/random_timeline.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

// Why not all certificates of the engines' verdicts, written and read again, are accepted; "" if
// they are.
std::string complaint_about_certificates(const History& history, std::int64_t clock_drift = 0,
                                         const SearchOptions& search = {}) {
  CheckOptions options;
  options.clock_drift = clock_drift;
  options.search = search;
  const auto verdicts = check(history, all_levels(), options);
  if (!verdicts.ok()) return verdicts.error().to_string();
  for (const Verdict& verdict : *verdicts) {
    const std::string wrong = complaint_about_proof(history, verdict, clock_drift);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// The certificates at every level of all histories of some shapes.
void expect_accepted(std::span<const Shape> shapes) {
  for (const Shape& shape : shapes) {
    const std::size_t count = for_each_history(shape, [](const History& history) {
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_EQ(complaint_about_certificates(history), "") << to_string(history);
    });
    EXPECT_GT(count, 10'000 / kSlowdown);
  }
}

TEST(CertifyTest, EveryVerdictOnSmallHistoriesIsAccepted) {
  const Shape kShapes[] = {
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 3, .stride = 7 * kSlowdown},
      {.txns = 2, .ops = 3, .keys = 2, .sessions = 2, .stride = 3 * kSlowdown},
      {.txns = 4, .ops = 2, .keys = 2, .sessions = 2, .stride = 501 * kSlowdown},
  };
  expect_accepted(kShapes);
}

TEST(CertifyTest, EveryVerdictOnSmallHistoriesWithCompareAndSetIsAccepted) {
  const Shape kShapes[] = {
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 2, .stride = 1511 * kSlowdown, .cas = true},
  };
  expect_accepted(kShapes);
}

TEST(CertifyTest, EveryVerdictOnHistoriesWithRepeatedValuesIsAccepted) {
  const Shape kShapes[] = {
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 2, .stride = 37 * kSlowdown, .values = 2},
  };
  expect_accepted(kShapes);
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, repeating_shape(seed));
    ASSERT_EQ(complaint_about_certificates(history), "") << "seed " << seed << "\n"
                                                         << to_string(history);
  }
}

TEST(CertifyTest, VerdictsAreAcceptedIfTheSearchFindsWhatReadsReturned) {
  SearchOptions search;
  search.sources = SearchOptions::Sources::Choices;
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, repeating_shape(seed));
    ASSERT_EQ(complaint_about_certificates(history, 0, search), "") << "seed " << seed << "\n"
                                                                    << to_string(history);
  }
}

TEST(CertifyTest, EveryVerdictOnRandomHistoriesIsAccepted) {
  for (std::uint64_t seed = 1; seed <= 20'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    ASSERT_EQ(complaint_about_certificates(history), "") << "seed " << seed << "\n"
                                                         << to_string(history);
  }
}

TEST(CertifyTest, TheClockDriftIsPartOfTheClaim) {
  for (std::uint64_t seed = 1; seed <= 3'000 / kSlowdown; ++seed) {
    RandomShape shape = mixed_shape(seed);
    shape.clocks = 1;
    const History history = random_history(seed, shape);
    ASSERT_EQ(complaint_about_certificates(history, 20), "") << "seed " << seed << "\n"
                                                             << to_string(history);
    for (const Level level : kSnapshotAndSerialLevels) {
      if (!has_real_time(level)) continue;
      const auto verdict = check(history, level, {.clock_drift = 20});
      ASSERT_TRUE(verdict.ok());
      if (accepted(history, make_certificate(history, *verdict, 0))) {
        ASSERT_EQ(allowed(history, level), verdict->outcome == Outcome::Holds) << "seed " << seed;
      }
    }
  }
}

// Nobody but the certifier looks at the proofs of violations, so these histories have many choices.
TEST(CertifyTest, RefutationsAreAccepted) {
  std::size_t refuted = 0;
  std::size_t derived = 0;
  for (std::uint64_t seed = 1; seed <= 3'000 / kSlowdown; ++seed) {
    const RandomShape shape{.min_txns = 6,
                            .max_txns = 14,
                            .max_ops = 5,
                            .keys = 3,
                            .sessions = 6,
                            .writers_per_key = 14,
                            .rmw = 0.1,
                            .lag = 0.5,
                            .stray = 0.15,
                            .wrong = 0};
    const History history = random_history(seed, shape);
    ASSERT_EQ(complaint_about_certificates(history), "") << "seed " << seed << "\n"
                                                         << to_string(history);
    const auto verdicts = check(history, all_levels());
    for (const Verdict& verdict : *verdicts) {
      refuted += verdict.refutation.steps.empty() ? 0 : 1;
      derived += verdict.refutation.steps.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(refuted, 300u / kSlowdown);
  EXPECT_GT(derived, 100u / kSlowdown);
}

TEST(CertifyTest, VerdictsOnLargeHistoriesAreAccepted) {
  const auto options = [](WorkloadKind workload, Level store, std::vector<PlantedFault> faults) {
    GenerateOptions out;
    out.workload = workload;
    out.store = store;
    out.sessions = 20;
    out.txns = 10'000 / kSlowdown;
    out.keys = 2'000 / kSlowdown;
    out.rmw_share = 0.2;
    out.abort_share = 0.02;
    out.unknown_share = 0.02;
    out.clocks = true;
    out.faults = std::move(faults);
    return out;
  };
  const GenerateOptions kAll[] = {
      options(WorkloadKind::General, Level::Si, {}),
      options(WorkloadKind::General, Level::StrictSerializable, {}),
      options(WorkloadKind::BlindWRw, Level::Si, {}),
      options(WorkloadKind::ListAppend, Level::Si, {}),
      options(WorkloadKind::General, Level::Si, {{Fault::LongFork, 0.001}}),
      options(WorkloadKind::General, Level::StrictSerializable,
              {{Fault::CausalityViolation, 0.001}}),
      options(WorkloadKind::ListAppend, Level::StrictSerializable, {{Fault::LostUpdate, 0.001}}),
      options(WorkloadKind::General, Level::StrictSerializable,
              {{Fault::RealTimeViolation, 0.001}}),
  };
  for (const GenerateOptions& one : kAll) {
    const auto history = generate(one);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(complaint_about_certificates(*history).substr(0, 1000), "")
        << info(one.store).name << ", history " << &one - kAll;
  }
}

// ---- by timestamps ----

TEST(TimelineCertifyTest, EveryVerdictOnRandomHistoriesIsAccepted) {
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    const History history = random_timeline(seed, mixed_timeline(seed));
    for (const Level level : kSnapshotAndSerialLevels) {
      ASSERT_EQ(complaint_about_proof(history, timeline_verdict(history, level)), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(history);
    }
  }
}

TEST(TimelineCertifyTest, VerdictsOnLargeHistoriesAreAccepted) {
  for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
    for (const double rate : {0.0, 0.01}) {
      GenerateOptions options;
      options.workload = workload;
      options.store = Level::SessionSi;
      options.txns = 30'000 / kSlowdown;
      options.timestamps = options.clocks = true;
      if (rate > 0) options.faults = {{Fault::LostUpdate, rate}, {Fault::Internal, rate}};
      const History history = *generate(options);
      for (const Level level : kSnapshotAndSerialLevels)
        EXPECT_EQ(complaint_about_proof(history, timeline_verdict(history, level)), "");
    }
  }
}

}  // namespace
}  // namespace ouro::oracle
