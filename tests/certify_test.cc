// Certificates: those of the engines are accepted, whatever is changed in them is noticed.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/generate.h"
#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

const std::vector<Level>& all_levels() {
  static const std::vector<Level> kLevels(kDecidableLevels.begin(), kDecidableLevels.end());
  return kLevels;
}

// Why the certificates of the engines' verdicts, written and read again, are not all accepted.
std::string complaint_about_certificates(const History& history, std::int64_t clock_drift = 0) {
  const auto verdicts = check(history, all_levels(), {.clock_drift = clock_drift});
  if (!verdicts.ok()) return verdicts.error().to_string();
  for (const Verdict& verdict : *verdicts) {
    const std::string text = print_certificate(make_certificate(history, verdict, clock_drift));
    const std::string name(info(verdict.level).name);
    const auto certificate = parse_certificate(text);
    if (!certificate.ok()) return name + ": " + certificate.error().to_string() + "\n" + text;
    const auto checked = certify(history, *certificate);
    if (!checked.ok()) return name + ": " + checked.error().to_string();
    if (!checked->accepted) return name + ": " + checked->reason + "\n" + text;
    if (print_certificate(*certificate) != text) return name + ": prints differently\n" + text;
  }
  return "";
}

bool accepted(const History& history, const Certificate& certificate) {
  const auto checked = certify(history, certificate);
  return checked.ok() && checked->accepted;
}

// ---- verdicts of the engines ----

TEST(CertifyTest, EveryVerdictOnSmallHistoriesIsAccepted) {
  const Shape kShapes[] = {
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 3, .stride = 7 * kSlowdown},
      {.txns = 2, .ops = 3, .keys = 2, .sessions = 2, .stride = 3 * kSlowdown},
      {.txns = 4, .ops = 2, .keys = 2, .sessions = 2, .stride = 501 * kSlowdown},
  };
  for (const Shape& shape : kShapes) {
    const std::size_t count = for_each_history(shape, [](const History& history) {
      if (HasFatalFailure()) return;
      ASSERT_EQ(complaint_about_certificates(history), "") << to_string(history);
    });
    EXPECT_GT(count, 10'000 / kSlowdown);
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

// ---- tampering ----

// What an accepted certificate claims must be true, so a wrong claim must be rejected whatever
// the certificate says, and an order must pass the oracle.
bool is_proof(const History& history, const LevelSet& allowed, const Certificate& certificate) {
  const Verdict& verdict = certificate.verdict;
  const bool holds = verdict.outcome == Outcome::Holds;
  if (holds != allowed.has(verdict.level)) return false;
  return !holds || order_proves(history, verdict.level, verdict.order);
}

class Tamper {
 public:
  explicit Tamper(std::uint64_t seed) : random_(seed) {}

  // Changes one digit, or a whole line, of the text.
  std::string text(std::string text) {
    std::vector<std::size_t> digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] >= '0' && text[i] <= '9') digits.push_back(i);
    }
    switch (below(4)) {
      case 0: {
        const std::size_t at = digits[below(digits.size())];
        text[at] = static_cast<char>('0' + below(10));
        break;
      }
      case 1: {
        const std::size_t a = digits[below(digits.size())];
        const std::size_t b = digits[below(digits.size())];
        std::swap(text[a], text[b]);
        break;
      }
      case 2: {
        const std::size_t at = digits[below(digits.size())];
        if (at > 0 && text[at - 1] == '-') {
          text.erase(at - 1, 1);
        } else {
          text.insert(at, "-");
        }
        break;
      }
      default:
        text.resize(below(text.size()));
    }
    return text;
  }

  void certificate(Certificate& certificate) {
    Verdict& v = certificate.verdict;
    switch (below(9)) {
      case 0:
        v.level = all_levels()[below(all_levels().size())];
        break;
      case 1:
        v.outcome = v.outcome == Outcome::Holds ? Outcome::Violated : Outcome::Holds;
        break;
      case 2:
        swap_two(v.order);
        swap_two(v.schedule);
        v.order.clear();
        for (const Event& event : v.schedule) {
          if (event.commit) v.order.push_back(event.txn);
        }
        break;
      case 3:
        erase_one(v.order);
        erase_one(v.schedule);
        break;
      case 4:
        erase_one(v.refutation.steps);
        break;
      case 5:
        if (!v.refutation.steps.empty()) step(pick(v.refutation.steps));
        break;
      case 6:
        if (!v.refutation.choices.empty()) {
          Choice& choice = pick(v.refutation.choices);
          std::swap(choice.first, choice.second);
        }
        break;
      default:
        if (!v.anomalies.empty()) anomaly(pick(v.anomalies));
    }
  }

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  template <class T>
  T& pick(std::vector<T>& list) {
    return list[below(list.size())];
  }
  template <class T>
  void swap_two(std::vector<T>& list) {
    if (!list.empty()) std::swap(pick(list), pick(list));
  }
  template <class T>
  void erase_one(std::vector<T>& list) {
    if (!list.empty()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(below(list.size())));
  }

  void anomaly(Anomaly& anomaly) {
    if (!anomaly.edges.empty()) return cycle(anomaly.edges);
    if (!anomaly.ops.empty()) pick(anomaly.ops).value ^= 1;
    if (below(2) == 0) anomaly.kind = static_cast<AnomalyKind>(below(kAnomalyKindCount - 1));
  }

  void cycle(std::vector<Edge>& edges) {
    Edge& edge = pick(edges);
    switch (below(6)) {
      case 0:
        edge.kind = static_cast<EdgeKind>(below(6));
        break;
      case 1:
        std::swap(edge.from, edge.to);
        break;
      case 2:
        edge.to_op = OpId{below(20)};
        break;
      case 3:
        edge.from_op = OpId{below(20)};
        break;
      case 4:
        edge.key = KeyId{below(3)};
        break;
      default:
        erase_one(edges);
    }
  }

  void step(RefutationStep& step) {
    switch (below(4)) {
      case 0:
        if (!step.excluded.empty()) pick(step.excluded).reversed ^= true;
        break;
      case 1:
        erase_one(step.excluded);
        break;
      case 2:
        erase_one(step.premises);
        break;
      default:
        if (!step.cycle.empty()) cycle(step.cycle);
    }
  }

  std::mt19937_64 random_;
};

TEST(CertifyTest, AcceptedAfterTamperingMeansStillTrue) {
  std::size_t tried = 0;
  std::size_t rejected = 0;
  for (std::uint64_t seed = 1; seed <= 1'500 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    const auto verdicts = check(history, all_levels());
    ASSERT_TRUE(verdicts.ok());
    Tamper tamper(seed);
    for (const Verdict& verdict : *verdicts) {
      const Certificate good = make_certificate(history, verdict);
      const std::string text = print_certificate(good);
      for (int i = 0; i < 6; ++i) {
        ++tried;
        Certificate bad = good;
        std::string shown;
        if (i % 2 == 0) {
          tamper.certificate(bad);
          shown = print_certificate(bad);
        } else {
          shown = tamper.text(text);
          auto parsed = parse_certificate(shown);
          if (!parsed.ok()) {
            ++rejected;
            continue;
          }
          bad = *std::move(parsed);
          // Another drift is another claim, which the oracle was not asked.
          if (bad.clock_drift != 0) continue;
        }
        if (!accepted(history, bad)) {
          ++rejected;
          continue;
        }
        ASSERT_TRUE(is_proof(history, allowed, bad)) << "seed " << seed << "\n"
                                                     << to_string(history) << "\n"
                                                     << shown;
      }
    }
  }
  EXPECT_GT(rejected, tried / 2);
}

// Whatever is claimed of a level that the oracle allows, no violation may pass; and vice versa.
TEST(CertifyTest, CertificatesOfOneLevelProveNoFalsehoodAtAnother) {
  for (std::uint64_t seed = 1; seed <= 2'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    const auto verdicts = check(history, all_levels());
    ASSERT_TRUE(verdicts.ok());
    for (const Verdict& verdict : *verdicts) {
      Certificate certificate = make_certificate(history, verdict);
      for (const Level level : all_levels()) {
        certificate.verdict.level = level;
        if (!accepted(history, certificate)) continue;
        ASSERT_EQ(allowed.has(level), verdict.outcome == Outcome::Holds)
            << "seed " << seed << ", " << info(verdict.level).name << " as " << info(level).name
            << "\n"
            << to_string(history) << "\n"
            << print_certificate(certificate);
      }
    }
  }
}

TEST(CertifyTest, CertificatesOfAnotherHistoryAreRejected) {
  const History one = history_of("T1: w x 1\nT2: r x 1");
  const History two = history_of("T1: w x 2\nT2: r x 2");
  const Certificate certificate = make_certificate(one, *check(one, Level::Serializable));
  EXPECT_TRUE(accepted(one, certificate));
  EXPECT_FALSE(accepted(two, certificate));
}

// The fingerprint would catch a changed history; here it is made to agree, so that the proof must.
TEST(CertifyTest, AChangedReadOrWriteIsNoticedWithoutTheFingerprint) {
  std::size_t tried = 0;
  std::size_t rejected = 0;
  for (std::uint64_t seed = 1; seed <= 2'000 / kSlowdown; ++seed) {
    const History one = random_history(seed, mixed_shape(seed));
    std::string text;
    ASSERT_TRUE(print_history(one, Format::Native, text).ok());
    std::mt19937_64 random(seed);
    std::vector<std::size_t> digits;
    for (std::size_t i = text.find("\"ops\""); i < text.size(); ++i) {
      if (text[i] >= '0' && text[i] <= '9') digits.push_back(i);
    }
    if (digits.empty()) continue;
    text[digits[random() % digits.size()]] = static_cast<char>('0' + random() % 10);
    const auto two = parse_history(text, {.format = Format::Native, .threads = 1});
    if (!two.ok()) continue;
    const auto verdicts = check(one, all_levels());
    if (!check(*two, Level::ReadCommitted).ok()) continue;
    const LevelSet allowed = allowed_levels(*two);
    for (const Verdict& verdict : *verdicts) {
      Certificate certificate = make_certificate(*two, verdict);
      ++tried;
      if (!accepted(*two, certificate)) {
        ++rejected;
        continue;
      }
      ASSERT_TRUE(is_proof(*two, allowed, certificate)) << "seed " << seed << "\n"
                                                        << to_string(*two) << "\n"
                                                        << print_certificate(certificate);
    }
  }
  EXPECT_GT(rejected, tried / 10);
}

TEST(CertifyTest, ATruncatedCertificateIsAnError) {
  const History history = history_of("T1: r x nil, w x 1\nT2: r x nil, w x 2");
  const std::string text = print_certificate(make_certificate(history, *check(history, Level::Si)));
  ASSERT_TRUE(parse_certificate(text).ok());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(parse_certificate(text.substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace ouro::oracle
