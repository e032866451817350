// Stories as graphs for Graphviz. Edges have the colours of Elle's pictures, for users who know
// those.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ouro/forms.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

std::string_view colour(EdgeKind kind) {
  constexpr std::string_view kColours[kEdgeKindCount] = {
      "#00A0A0", "#C000A5", "#C02700", "#5B00C0", "#0050C0", "#606060", "#0050C0", "#0050C0"};
  return kColours[static_cast<std::size_t>(kind)];
}

// Escapes `text` for a place between double quotes; in the label of a `record`, more characters
// need it.
std::string escaped(std::string_view text, bool record) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '"' || c == '\\' ||
                         (record && std::string_view("{}|<>").find(c) != std::string_view::npos);
    if (special) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return valid_utf8(std::move(out));
}

class Graph {
 public:
  Graph(const History& history, const Story& story, std::size_t number)
      : history_(history), story_(story), narrator_(history, story), number_(number) {}

  std::string draw() {
    std::string out = fmt::format("  subgraph cluster_{} {{\n    label=\"{} ({})\";\n", number_,
                                  escaped(name(story_), false), info(story_.level).name);
    for (const TxnId txn : narrator_.txns()) out += node(txn);
    for (const Case& each : story_.cases) {
      for (const Edge& edge : each.cycle) add(edge, each);
    }
    for (const Edge& edge : story_.support) add(edge, Case{});
    for (const auto& [line, premises] : edges_) {
      const bool always = premises.empty();
      out += fmt::format(
          "    {}{}];\n", line,
          always ? "" : fmt::format(", style=dashed, tooltip=\"{}\"", escaped(premises, false)));
    }
    return out + "  }\n";
  }

 private:
  [[nodiscard]] std::string id(TxnId txn) const {
    return txn.valid() ? fmt::format("s{}t{}", number_, txn.value)
                       : fmt::format("s{}initial", number_);
  }

  [[nodiscard]] std::string node(TxnId txn) const {
    std::string label = escaped(narrator_.label(txn) + ": " + whereabouts(history_, txn), true);
    for (const OpId op : narrator_.ops()) {
      if (history_.txn_of(op) != txn) continue;
      const bool first_too =
          op.value > 0 && info(history_.op(op).kind).second &&
          std::binary_search(narrator_.ops().begin(), narrator_.ops().end(), OpId{op.index() - 1});
      const std::string text = first_too ? place_notation(history_, history_.op(op))
                                         : notation(history_, history_.op(op));
      label += fmt::format("|<o{}> {}", op.value, escaped(text, true));
    }
    return fmt::format("    {} [label=\"{{{}}}\"];\n", id(txn), label);
  }

  [[nodiscard]] std::string end(TxnId txn, OpId op) const {
    const auto& ops = narrator_.ops();
    const bool shown =
        op.valid() && std::binary_search(ops.begin(), ops.end(), op) && history_.txn_of(op) == txn;
    return shown ? fmt::format("{}:o{}", id(txn), op.value) : id(txn);
  }

  // Adds the edge of a case. The same edge may be in several cases; it is drawn once, and dashed,
  // with a premise, unless a case has it without one.
  void add(const Edge& edge, const Case& each) {
    const std::string key = edge.key.valid() ? ' ' + history_.key_label(edge.key) : std::string();
    const std::string line =
        fmt::format("{} -> {} [label=\"{}{}\", color=\"{}\", fontcolor=\"{}\", edgetooltip=\"{}\"",
                    end(edge.from, edge.from_op), end(edge.to, edge.to_op), name(edge.kind),
                    escaped(key, false), colour(edge.kind), colour(edge.kind),
                    escaped(narrator_.because(edge), false));
    const std::string premise =
        edge.choice == Edge::kNoChoice && each.sources.empty() && each.sights.empty()
            ? std::string()
            : narrator_.premise(each);
    const auto [at, added] = edges_.try_emplace(line, premise);
    if (!added && premise.empty()) at->second.clear();
  }

  const History& history_;
  const Story& story_;
  const Narrator narrator_;
  const std::size_t number_;
  std::map<std::string, std::string> edges_;  // Premises by edge, as it is drawn; "": always.
};

}  // namespace

std::string to_dot(const History& history, std::span<const Explanation> explanations) {
  std::string out =
      "digraph ouro {\n"
      "  rankdir=LR;\n"
      "  node [shape=record, fontname=\"sans-serif\", fontsize=10];\n"
      "  edge [fontname=\"sans-serif\", fontsize=10];\n";
  std::size_t number = 0;
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) {
      out += Graph(history, story, ++number).draw();
    }
  }
  return out + "}\n";
}

}  // namespace ouro
