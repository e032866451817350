#include "explain/retell.h"

#include <algorithm>
#include <utility>

#include "explain/cases.h"

namespace ouro {
namespace {

// The write of `writer` that `read` returned, or the last one of it that a list shows.
OpId write_behind(const History& history, TxnId writer, const Op& read) {
  OpId found;
  for (OpId id = history.first_op(writer); id < history.end_op(writer); ++id.value) {
    const Op op = history.op(id);
    if (op.key != read.key || !is_write(op.kind)) continue;
    const auto list = read.value.is_list() ? history.list(read.value) : std::span<const Value>();
    const bool shown = std::find(list.begin(), list.end(), op.value) != list.end();
    if (shown || op.value == read.value) found = id;
  }
  return found;
}

}  // namespace

std::vector<Case> cases_of(const Refutation& refutation) {
  std::vector<Case> cases;
  for (const RefutationStep& step : refutation.steps) {
    if (step.cycle.empty()) continue;
    Case each;
    for (const ChoiceSide& side : step.excluded) {
      const Choice& choice = refutation.choices[side.choice];
      each.given.push_back({choice.key, side.reversed ? choice.second : choice.first,
                            side.reversed ? choice.first : choice.second});
    }
    each.cycle = step.cycle;
    for (Edge& edge : each.cycle) {
      for (std::uint32_t i = 0; i < step.excluded.size(); ++i) {
        if (edge.choice == step.excluded[i].choice) {
          edge.choice = i;
          break;
        }
      }
    }
    each.cycle = rotated(std::move(each.cycle));
    cases.push_back(std::move(each));
  }
  find_mirrors(cases);
  return cases;
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
    const Op saw = history.op(forced.saw);
    plain.push_back({.from = forced.from,
                     .to = reader,
                     .kind = EdgeKind::WriteRead,
                     .key = saw.key,
                     .from_op = write_behind(history, forced.from, saw),
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
