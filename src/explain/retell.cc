#include "explain/retell.h"

#include <algorithm>
#include <utility>

#include "explain/cases.h"
#include "explain/mirrors.h"
#include "explain/source.h"

namespace ouro {

namespace {

// What a step supposes of open reads and of predicate reads.
void add_suppositions(const History& history, const Refutation& refutation,
                      const RefutationStep& step, Case& out) {
  for (const ChoiceSide& side : step.excluded) {
    const Choice& choice = refutation.choices[side.choice];
    if (choice.kind == ChoiceKind::Source && !side.reversed) {
      out.sources.push_back({choice.read, choice.key, choice.first});
    }
    const bool sees = choice.kind == ChoiceKind::Sees && choice.read.valid();
    if (sees && is_predicate_read(history.op(choice.read).kind)) {
      out.sights.push_back({choice.read, choice.key, choice.first, !side.reversed});
    }
  }
}

}  // namespace

std::vector<Case> cases_of(const History& history, const Refutation& refutation) {
  std::vector<Case> cases;
  for (const RefutationStep& step : refutation.steps) {
    if (!step.premises.empty()) continue;
    Case each;
    add_suppositions(history, refutation, step, each);
    if (step.cycle.empty()) {
      if (each.sights.empty()) continue;
      each.plain = AnomalyKind::ResultSetMismatch;
      cases.push_back(std::move(each));
      continue;
    }
    std::vector<std::uint32_t> given;  // The choices that each.given is about.
    for (const ChoiceSide& side : step.excluded) {
      const Choice& choice = refutation.choices[side.choice];
      if (choice.kind != ChoiceKind::Order) continue;
      given.push_back(side.choice);
      each.given.push_back({choice.key, side.reversed ? choice.second : choice.first,
                            side.reversed ? choice.first : choice.second});
    }
    each.cycle = step.cycle;
    for (Edge& edge : each.cycle) {
      const auto at = std::find(given.begin(), given.end(), edge.choice);
      edge.choice =
          at == given.end() ? Edge::kNoChoice : static_cast<std::uint32_t>(at - given.begin());
    }
    each.cycle = rotated(std::move(each.cycle));
    cases.push_back(std::move(each));
  }
  find_mirrors(cases, history);
  return cases;
}

std::vector<Case> cases_of(const History& history, std::span<const SourceCase> sources) {
  std::vector<Case> out;
  for (const SourceCase& each : sources) {
    std::vector<Case> cases = cases_of(history, each.refutation);
    if (cases.empty()) cases.emplace_back();
    if (cases[0].cycle.empty() && !each.anomalies.empty()) {
      const Anomaly& anomaly = each.anomalies[0];
      if (anomaly.edges.empty()) cases[0].plain = anomaly.kind;
      cases[0].cycle = rotated(anomaly.edges);
    }
    for (Case& one : cases) {
      one.sources.insert(one.sources.begin(), each.sources.begin(), each.sources.end());
      one.sights.insert(one.sights.begin(), each.sights.begin(), each.sights.end());
      out.push_back(std::move(one));
    }
  }
  find_mirrors(out, history);
  return out;
}

void avoid_initial(Story& story, const History& history) {
  std::vector<Edge>& cycle = story.cases.front().cycle;
  const auto at = std::find_if(cycle.begin(), cycle.end(), [](const Edge& edge) {
    return edge.kind == EdgeKind::Forced && edge.to == kInitialTxn && edge.read.valid();
  });
  if (at == cycle.end()) return;
  const Edge forced = *at;
  const TxnId reader = history.txn_of(forced.read);
  std::vector<Edge> plain;
  if (forced.saw.valid()) {
    const OpId seen = write_behind(history, forced.from, forced.saw);
    if (!seen.valid()) return;
    plain.push_back({.from = forced.from,
                     .to = reader,
                     .kind = EdgeKind::WriteRead,
                     .key = history.op(seen).key,
                     .from_op = seen,
                     .to_op = forced.saw});
  } else if (history.session(forced.from) == history.session(reader)) {
    plain.push_back({.from = forced.from, .to = reader, .kind = EdgeKind::Session});
  } else {
    plain = std::exchange(story.support, {});
  }
  plain.push_back({.from = reader,
                   .to = forced.from,
                   .kind = EdgeKind::ReadWrite,
                   .key = forced.key,
                   .from_op = forced.read,
                   .to_op = forced.from_op});
  if (plain.size() > 1 && plain.front().from == forced.from &&
      plain[plain.size() - 2].to == reader) {
    cycle = std::move(plain);
  }
}

}  // namespace ouro
