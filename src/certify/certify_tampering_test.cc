// Whatever is changed in a certificate, or in the history, what is accepted is true.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/lint.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

// Whether a certificate may be accepted: what it claims is true and, if it has an order, the oracle
// agrees with that.
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
          // With another drift it claims something else, of which the oracle was not asked.
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
// Whether an element was appended to one list more than once, which allowed_levels() does not take.
bool has_elements_twice(const History& history) {
  const auto findings = lint(history);
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.rule->id == "duplicate-element" && finding.count > 0;
  });
}

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
    if (has_elements_twice(*two)) continue;
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

}  // namespace
}  // namespace ouro::oracle
