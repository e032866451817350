#include "report/refutation_story.h"

#include <fmt/format.h>

#include <vector>

#include "report/notation.h"
#include "report/story.h"

namespace ouro {
namespace {

constexpr std::size_t kCasesTold = 6;

// "If T1 wrote x before T2 and T2 wrote y before T3:"
std::string premise(const History& history, const Story& story, const Refutation& refutation,
                    const RefutationStep& step) {
  if (step.excluded.empty()) return "In any case:";
  std::string out = "If ";
  for (std::size_t i = 0; i < step.excluded.size(); ++i) {
    const Choice& choice = refutation.choices[step.excluded[i].choice];
    const bool reversed = step.excluded[i].reversed;
    if (i != 0) out += " and ";
    out += fmt::format(
        "{} wrote {} before {}", story.label(reversed ? choice.second : choice.first),
        history.key_label(choice.key), story.label(reversed ? choice.first : choice.second));
  }
  return out + ":";
}

}  // namespace

void append_refutation(std::string& out, const History& history, const Refutation& refutation) {
  std::vector<const RefutationStep*> cases;
  for (const RefutationStep& step : refutation.steps) {
    if (!step.cycle.empty()) cases.push_back(&step);
  }
  const std::size_t told = std::min(cases.size(), kCasesTold);
  Anomaly all{.kind = AnomalyKind::ContradictoryOrder, .txns = {}, .ops = {}, .edges = {}};
  for (std::size_t i = 0; i < told; ++i) {
    for (const ChoiceSide& side : cases[i]->excluded) {
      all.txns.push_back(refutation.choices[side.choice].first);
      all.txns.push_back(refutation.choices[side.choice].second);
    }
    all.edges.insert(all.edges.end(), cases[i]->cycle.begin(), cases[i]->cycle.end());
  }
  const Story story(history, all);
  for (const std::string& line : story.cast()) out += fmt::format("  {}\n", line);
  for (std::size_t i = 0; i < told; ++i) {
    out += fmt::format("\n  {}\n", premise(history, story, refutation, *cases[i]));
    for (const std::string& line : story.sentences(cases[i]->cycle)) {
      out += fmt::format("    {}\n", line);
    }
  }
  if (cases.size() > told) {
    out += fmt::format("\n  … and {} more cases, until no order of the writes is left.\n",
                       grouped(cases.size() - told));
  }
}

}  // namespace ouro
