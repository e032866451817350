// Stories as graphs for Graphviz. Edges have the colours of Elle's pictures, for users who know
// those.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "ouro/forms.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/notation.h"
#include "report/story_edges.h"

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

// The picture of a story: a cluster with everybody, what they saw of each other and the cycle that
// the story is named by; and beside it, dashed, a cluster for each other way in which the writes
// may have been ordered, with the cycle that refutes it.
class Graph {
 public:
  Graph(const History& history, const Story& story, std::size_t number)
      : history_(history),
        story_(story),
        narrator_(history, story),
        prefix_(fmt::format("s{}", number)) {}

  std::string draw() {
    const bool several = story_.cases.size() > 1;
    std::string out = fmt::format("  subgraph cluster_{} {{\n    label=\"{} ({})\";\n", prefix_,
                                  escaped(name(story_), false), info(story_.level).name);
    if (!several) {
      out += cluster_of(story_.cases.empty() ? Case{} : story_.cases[0], "", true);
      return out + "  }\n";
    }
    std::vector<std::size_t> shown(std::min(story_.cases.size(), kMostCases));
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    std::stable_partition(shown.begin(), shown.end(),
                          [&](std::size_t i) { return i == story_.named_by; });
    for (const std::size_t i : shown) {
      const bool named_by = i == story_.named_by;
      const std::string id = fmt::format("{}c{}", prefix_, i + 1);
      out += fmt::format("    subgraph cluster_{} {{\n      label=\"{}\";\n{}", id,
                         escaped(title(story_.cases[i]), false),
                         named_by ? "" : "      style=dashed; color=\"#909090\";\n");
      out += cluster_of(story_.cases[i], named_by ? "" : fmt::format("c{}", i + 1), named_by);
      out += "    }\n";
    }
    if (shown.size() < story_.cases.size()) {
      out += fmt::format("    {}more [shape=plaintext, label=\"and {} more cases\"];\n", prefix_,
                         story_.cases.size() - shown.size());
    }
    return out + "  }\n";
  }

 private:
  static constexpr std::size_t kMostCases = 24;

  // "If T1 wrote x first: T1 < T2 …" as a title: what is assumed, and what follows.
  [[nodiscard]] std::string title(const Case& each) const {
    std::string out = narrator_.premise(each);
    if (out.ends_with(':')) out.pop_back();
    if (each.mirrors) {
      out += fmt::format(": the same, with {}", narrator_.other_names(each));
    } else if (each.plain) {
      out += ": " + with_article(info(*each.plain).name);
    } else {
      out += ": a contradiction";
    }
    return out;
  }

  // The nodes and edges of a case: of `everybody`, with all that is known of them, or only of those
  // whom it takes. `part` tells the nodes from those of the other cases.
  std::string cluster_of(const Case& each, const std::string& part, bool everybody) {
    part_ = part;
    edges_.clear();
    shown_.clear();
    for (const Edge& edge : each.cycle) add(edge, each);
    for (const Assumption& given : each.given) suppose(given, each);
    if (everybody) {
      for (const Edge& edge : restored_edges(history_, story_, narrator_)) {
        const auto same = [&](const Edge& other) { return is_same_edge(edge, other); };
        if (std::none_of(each.cycle.begin(), each.cycle.end(), same)) restore(edge);
      }
      shown_.insert(narrator_.txns().begin(), narrator_.txns().end());
    }
    std::string out;
    if (shown_.contains(kInitialTxn)) {
      out += fmt::format("    {} [label=\"{}\"];\n", id(kInitialTxn), "the initial state");
    }
    for (const TxnId txn : narrator_.txns()) {
      if (shown_.contains(txn)) out += node(txn);
    }
    for (const std::string& line : edges_) out += line;
    return out;
  }

  [[nodiscard]] std::string id(TxnId txn) const {
    return txn.valid() ? fmt::format("{}{}t{}", prefix_, part_, txn.value)
                       : fmt::format("{}{}initial", prefix_, part_);
  }

  [[nodiscard]] std::string node(TxnId txn) const {
    std::string label = escaped(narrator_.label(txn) + ": " + whereabouts(history_, txn), true);
    for (const OpId op : narrator_.ops()) {
      if (history_.txn_of(op) != txn) continue;
      const bool first_too =
          op.value > 0 && info(history_.op(op).kind).second &&
          std::binary_search(narrator_.ops().begin(), narrator_.ops().end(), OpId{op.index() - 1});
      const Focus focus = narrator_.focus();
      const std::string text = first_too ? place_notation(history_, history_.op(op), focus)
                                         : notation(history_, history_.op(op), focus);
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

  // Adds an edge of the cycle; dashed, with the premise, if it rests on what the case assumes.
  void add(const Edge& edge, const Case& each) {
    const std::string premise = escaped(narrator_.premise(each), false);
    draw(edge, colour(edge.kind),
         is_assumed(edge, each) ? fmt::format(", style=dashed, tooltip=\"{}\"", premise)
                                : std::string(", penwidth=2"));
    if (edge.read.valid()) shown_.insert(history_.txn_of(edge.read));
  }

  // Adds an edge that is not on the cycle but holds in any case.
  void restore(const Edge& edge) { draw(edge, "#909090", ", weight=0"); }

  // Whether a case refutes the opposite of an assumption all by itself, so that it is certain.
  [[nodiscard]] bool is_certain(const Assumption& given) const {
    const Assumption opposite{given.key, given.second, given.first};
    return std::any_of(story_.cases.begin(), story_.cases.end(), [&](const Case& other) {
      return other.given.size() == 1 && other.given[0] == opposite && other.sources.empty() &&
             other.sights.empty();
    });
  }

  // Adds the order of two writes that the case assumes, unless it is on the cycle.
  void suppose(const Assumption& given, const Case& each) {
    const bool told = std::any_of(each.cycle.begin(), each.cycle.end(), [&](const Edge& edge) {
      return edge.kind == EdgeKind::WriteWrite && edge.from == given.first &&
             edge.to == given.second && edge.key == given.key;
    });
    if (told) return;
    shown_.insert(given.first);
    shown_.insert(given.second);
    const bool certain = each.given.size() > 1 && is_certain(given);
    edges_.push_back(fmt::format(
        "    {} -> {} [label=\"ww {}{}\", color=\"#909090\", fontcolor=\"#606060\", "
        "style={}];\n",
        id(given.first), id(given.second), escaped(history_.key_label(given.key), false),
        certain ? ", as the other order is refuted" : ", supposed", certain ? "solid" : "dotted"));
  }

  void draw(const Edge& edge, std::string_view colour, std::string_view how) {
    const std::string key = edge.key.valid() ? ' ' + history_.key_label(edge.key) : std::string();
    shown_.insert(edge.from);
    shown_.insert(edge.to);
    edges_.push_back(fmt::format(
        "    {} -> {} [label=\"{}{}\", color=\"{}\", fontcolor=\"{}\", edgetooltip=\"{}\"{}];\n",
        end(edge.from, edge.from_op), end(edge.to, edge.to_op), name(edge.kind),
        escaped(key, false), colour, colour, escaped(narrator_.because(edge), false), how));
  }

  const History& history_;
  const Story& story_;
  const Narrator narrator_;
  const std::string prefix_;        // Of the names of all nodes.
  std::string part_;                // Of the names of the nodes of the case that is drawn.
  std::set<TxnId> shown_;           // Those who are in that case.
  std::vector<std::string> edges_;  // Its edges.
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
