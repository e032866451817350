#include "tests/hermitage_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ouro {
namespace {

// Whether each transaction committed and read nothing of the others.
bool all_read_the_initial_state(const HermitageCell& cell) {
  std::set<std::string> clients;
  std::set<std::string> committed;
  for (const HermitageStep& step : cell.steps) {
    clients.insert(step.client);
    if (step.what == "c" && step.answer == "committed") committed.insert(step.client);
    if (step.what == "r x" && step.answer != "10") return false;
    if (step.what == "r y" && step.answer != "20") return false;
    const bool finds = step.what.starts_with("sel") || step.what.starts_with("scan");
    if (finds && step.answer != "0 found") return false;
  }
  return clients == committed;
}

}  // namespace

Table occurring(const HermitageOptions& options) {
  const std::set<std::string_view> plain{"P4", "P4-delete", "G2-item", "G2"};
  const auto report = hermitage(options);
  EXPECT_TRUE(report.ok()) << report.error().to_string();
  if (!report.ok()) return {};
  Table table;
  for (const HermitageRow& row : report->rows) {
    std::string& names = table[row.options];
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const HermitageCell& cell = row.cells[i];
      const std::string_view name = report->tests[i].name;
      EXPECT_NE(cell.outcome, HermitageOutcome::Unclear) << row.options << ", " << name;
      const bool occurs = cell.outcome == HermitageOutcome::Occurs;
      if (plain.contains(name) && cell.outcome != HermitageOutcome::Impossible) {
        EXPECT_EQ(occurs, all_read_the_initial_state(cell)) << row.options << ", " << name;
      }
      EXPECT_EQ(occurs, !cell.anomaly.empty());
      if (occurs) names += (names.empty() ? "" : " ") + std::string(name);
    }
  }
  return table;
}

}  // namespace ouro
