#include "report/story_edges.h"

#include <algorithm>

#include "explain/lost_update.h"
#include "explain/source.h"

namespace ouro {
namespace {

// Of a lost update by timestamps: each read what the other overwrote.
std::vector<Edge> mutual_overwriting(const History& history, const Story& story,
                                     const Narrator& narrator) {
  if (!story.cases.empty() || story.pattern != Pattern::LostUpdate) return {};
  const auto lost = lost_update_among(history, narrator.ops(), story.shown_by.front());
  if (!lost) return {};
  const auto missed = [&](const Update& update, const Update& other) {
    return Edge{.from = history.txn_of(update.read),
                .to = history.txn_of(other.write),
                .kind = EdgeKind::ReadWrite,
                .key = history.op(update.read).key,
                .from_op = update.read,
                .to_op = other.write};
  };
  return {missed(lost->one, lost->other), missed(lost->other, lost->one)};
}

}  // namespace

bool is_assumed(const Edge& edge, const Case& each) {
  return edge.choice != Edge::kNoChoice || !each.sources.empty() || !each.sights.empty();
}

bool is_same_edge(const Edge& one, const Edge& other) {
  return one.from == other.from && one.to == other.to && one.kind == other.kind &&
         one.key == other.key;
}

std::vector<Edge> observed_reads(const History& history, const Narrator& narrator) {
  std::vector<Edge> out;
  for (const OpId id : narrator.ops()) {
    const Op read = history.op(id);
    for (const TxnId writer : narrator.txns()) {
      if (!is_read(read.kind) || writer == history.txn_of(id)) continue;
      const OpId write = write_behind(history, writer, id);
      if (!write.valid()) continue;
      out.push_back({.from = writer,
                     .to = history.txn_of(id),
                     .kind = EdgeKind::WriteRead,
                     .key = read.key,
                     .from_op = write,
                     .to_op = id});
    }
  }
  return out;
}

std::vector<Edge> reads_behind(const History& history, const Edge& forced) {
  std::vector<Edge> out;
  const TxnId reader = history.txn_of(forced.read);
  const auto add = [&](TxnId writer, OpId read) {
    const OpId source = writer.valid() ? write_behind(history, writer, read) : OpId{};
    if (writer.valid() && !source.valid()) return;
    out.push_back({.from = writer,
                   .to = reader,
                   .kind = EdgeKind::WriteRead,
                   .key = writer.valid() ? history.op(source).key : forced.key,
                   .from_op = source,
                   .to_op = read});
  };
  if (!is_predicate_read(history.op(forced.read).kind)) add(forced.to, forced.read);
  if (forced.saw.valid()) add(forced.from, forced.saw);
  const bool before = !forced.saw.valid() && forced.from.valid() &&
                      history.session(forced.from) == history.session(reader);
  if (before) out.push_back({.from = forced.from, .to = reader, .kind = EdgeKind::Session});
  return out;
}

std::vector<Edge> restored_edges(const History& history, const Story& story,
                                 const Narrator& narrator) {
  std::vector<Edge> out;
  const auto add = [&](const std::vector<Edge>& edges) {
    for (const Edge& edge : edges) {
      const bool known = std::any_of(out.begin(), out.end(),
                                     [&](const Edge& other) { return is_same_edge(edge, other); });
      if (!known) out.push_back(edge);
    }
  };
  for (const Case& each : story.cases) {
    for (const Edge& edge : each.cycle) {
      if (!is_assumed(edge, each)) add({edge});
    }
  }
  add(story.support);
  for (const Case& each : story.cases) {
    for (const Edge& edge : each.cycle) {
      if (edge.kind == EdgeKind::Forced && edge.read.valid()) add(reads_behind(history, edge));
    }
  }
  add(mutual_overwriting(history, story, narrator));
  add(observed_reads(history, narrator));
  return out;
}

}  // namespace ouro
