// What is expected of a history besides levels and anomalies: models of Elle's that are none of our
// levels, and what the accounts of a bank hold.

#include <fmt/format.h>

#include <algorithm>

#include "ouro/elle.h"

namespace ouro {
namespace {

void expect_models(const History& history, std::span<const std::string_view> models,
                   Examination& examination) {
  if (models.empty()) return;
  const ElleReport report{.verdicts = examination.verdicts,
                          .explanations = examination.explanations,
                          .others = examination.others};
  ExpectationMet met = examination.met.value_or(ExpectationMet{});
  for (const std::string_view model : models) {
    const Outcome outcome = outcome_of_model(history, report, model);
    if (outcome == Outcome::Holds) continue;
    met.complaints.push_back(
        fmt::format("{} is {}", model,
                    outcome == Outcome::Violated
                        ? "violated"
                        : "undecided: no level that implies it holds, and nothing that was found "
                          "rules it out"));
    if (met.outcome != Outcome::Violated) met.outcome = outcome;
  }
  examination.met = std::move(met);
}

void allow_negative_balances(Examination& examination) {
  for (auto* verdicts : {&examination.verdicts, &examination.others}) {
    for (Verdict& verdict : *verdicts) {
      std::erase_if(verdict.left_out,
                    [](const LeftOut& left) { return left.kind == LeftOutKind::Balances; });
    }
  }
}

void expect_total(const History& history, std::int64_t expected, Examination& examination) {
  const auto total = total_of_accounts(history);
  if (!total || *total == expected) return;
  const Outcome before = outcome(examination);
  if (!examination.met) examination.met.emplace();
  ExpectationMet& met = *examination.met;
  met.outcome = Outcome::Violated;
  if (before == Outcome::Violated && met.complaints.empty()) {
    met.complaints.emplace_back("a level is violated");
  }
  met.complaints.push_back(
      fmt::format("the accounts hold {} together, expected {}", *total, expected));
}

}  // namespace

Result<LevelsAndModels> parse_levels_and_models(std::string_view names, Evidence evidence) {
  AskedModels taken = take_models(names);
  LevelsAndModels out;
  out.models = std::move(taken.models);
  if (out.models.empty() || !taken.others.empty()) {
    auto named = parse_levels(taken.others, evidence);
    if (!named.ok()) return std::move(named).error();
    out.asked = *std::move(named);
    out.named = out.asked.levels;
  }
  if (out.models.empty()) return out;
  std::vector<Level>& all = out.asked.levels;
  for (const Level level : taken.levels) {
    const bool there = std::find(all.begin(), all.end(), level) != all.end();
    if (!there && decidable(level, evidence)) all.push_back(level);
  }
  return out;
}

void expect_more(const History& history, const MoreExpected& expected, Examination& examination) {
  expect_models(history, expected.models, examination);
  if (expected.negative_balances) allow_negative_balances(examination);
  if (expected.total_amount) expect_total(history, *expected.total_amount, examination);
}

}  // namespace ouro
