// Verdicts in the form of Elle's results (EDN), for tools that read those.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/level_rules.h"
#include "check/implied.h"
#include "history/access.h"
#include "history/commuting.h"
#include "history/json_text.h"
#include "ouro/forms.h"
#include "ouro/report.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/telling.h"

namespace ouro {
namespace {

// Elle says process where we say session.
std::string elle_id(const Story& story) {
  std::string out(info(story.pattern).id);
  if (story.variant == Variant::Session) out += "-process";
  if (story.variant == Variant::RealTime) out += "-realtime";
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + '"';
}

// A value: scalars as in JSON, lists as vectors, rows as maps.
std::string edn(const History& history, Value value) {
  switch (value.kind()) {
    case ValueKind::Null:
    case ValueKind::Unobserved:
      return "nil";
    case ValueKind::Text:
      return quoted(shown_name(history.string(value)));
    case ValueKind::Decimal:
    case ValueKind::Float:
      return edn_number(value.kind(), history.string(value));
    case ValueKind::List: {
      std::string out = "[";
      for (const Value element : history.list(value)) {
        out += (out.size() > 1 ? " " : "") + edn(history, element);
      }
      return out + ']';
    }
    case ValueKind::Row: {
      std::string out = "{";
      for (const Cell& cell : history.row(value)) {
        out += fmt::format("{}{} {}", out.size() > 1 ? ", " : "",
                           quoted(history.column_name(cell.column)), edn(history, cell.value));
      }
      return out + '}';
    }
    default:
      return history.text(value);
  }
}

std::string edn(const History& history, const Op& op) {
  if (is_predicate_read(op.kind)) return fmt::format("[:{} nil nil]", name(op.kind));
  if (op.kind == OpKind::Inc || op.kind == OpKind::IncMark || op.kind == OpKind::Add) {
    return fmt::format("[:{} nil nil]", info(op.kind).word);
  }
  if (info(op.kind).first || info(op.kind).second) {
    const OpId first{info(op.kind).first ? op.id.index() : op.id.index() - 1};
    return fmt::format("[:cas {} [{} {}]]", edn(history, history.key_name(op.key)),
                       edn(history, history.op(first).value),
                       edn(history, history.op(OpId{first.index() + 1}).value));
  }
  const std::string_view word = is_read(op.kind) ? "r" : is_append(op.kind) ? "append" : "w";
  return fmt::format("[:{} {} {}]", word, edn(history, history.key_name(op.key)),
                     edn(history, op.value));
}

// The transaction with those of its operations that the story is about.
std::string edn(const History& history, const Story& story, TxnId txn) {
  if (!txn.valid()) return "nil";
  std::string ops;
  for (const OpId op : story.ops) {
    if (history.txn_of(op) != txn) continue;
    ops += (ops.empty() ? "" : " ") + edn(history, history.op(op));
  }
  constexpr std::string_view kTypes[] = {"ok", "fail", "info"};
  return fmt::format("{{:index {}, :process {}, :type :{}, :f :txn, :value [{}]}}", txn.value,
                     edn(history, history.session_name(history.session(txn))),
                     kTypes[static_cast<std::size_t>(history.status(txn))], ops);
}

std::string edn_step(const History& history, const Narrator& narrator, const Edge& edge) {
  constexpr std::string_view kTypes[] = {"process",  "wr",     "ww",       "rw",
                                         "realtime", "forced", "realtime", "realtime"};
  std::string out = fmt::format("{{:type :{}", kTypes[static_cast<std::size_t>(edge.kind)]);
  if (edge.key.valid()) out += fmt::format(", :key {}", edn(history, history.key_name(edge.key)));
  const auto value = [&](std::string_view name, OpId op) {
    if (!op.valid() || is_predicate_read(history.op(op).kind)) return;
    if (is_open_read(history.op(op).kind)) return;  // Its value is what it did not return.
    out += fmt::format(", :{} {}", name, edn(history, history.op(op).value));
  };
  value("value", edge.from_op);
  value("value'", edge.to_op);
  return out + fmt::format(", :because {}}}", quoted(narrator.because(edge)));
}

std::string edn(const History& history, const Story& story) {
  const Narrator narrator(history, story);
  std::string txns, steps, sentences;
  if (story.cases.empty()) {
    for (const TxnId txn : story.txns) {
      txns += (txns.empty() ? "" : " ") + edn(history, story, txn);
    }
  } else {
    const std::vector<Edge>& cycle = story.cases.front().cycle;
    for (const Edge& edge : cycle) {
      txns += edn(history, story, edge.from) + ' ';
      steps += (steps.empty() ? "" : " ") + edn_step(history, narrator, edge);
    }
    if (!cycle.empty())
      txns += edn(history, story, cycle.back().to);  // Elle repeats the first at the end.
  }
  for (const std::string& line : narrator.lines()) {
    sentences += (sentences.empty() ? "" : " ") + quoted(line);
  }
  return fmt::format("{{:type :{}, :name {}, :{} [{}], :steps [{}], :story [{}]}}", elle_id(story),
                     quoted(name(story)), story.cases.empty() ? "ops" : "cycle", txns, steps,
                     sentences);
}

std::string level_set(std::span<const Level> levels) {
  std::string out = "#{";
  for (const Level level : levels) {
    out += fmt::format("{}:{}", out.size() > 2 ? " " : "", row_of(level).elle);
  }
  return out + '}';
}

}  // namespace

std::string to_edn(const History& history, std::span<const Verdict> verdicts,
                   std::span<const Explanation> explanations) {
  constexpr std::string_view kValid[] = {"true", "false", ":unknown"};
  std::map<std::string, std::string> anomalies;
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) {
      std::string& examples = anomalies[elle_id(story)];
      examples += (examples.empty() ? "" : " ") + edn(history, story);
    }
  }
  std::string types, maps;
  for (const auto& [type, examples] : anomalies) {
    types += fmt::format("{}:{}", types.empty() ? "" : " ", type);
    maps += fmt::format("{}:{} [{}]", maps.empty() ? "" : ", ", type, examples);
  }
  const std::vector<Level> weakest = weakest_violated(verdicts);
  std::vector<Level> stronger;
  for (const LevelInfo& level : levels()) {
    const bool named = std::find(weakest.begin(), weakest.end(), level.level) != weakest.end();
    const bool implied = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return verdict.outcome == Outcome::Violated &&
             implied_in(history, level.level, verdict.level, verdict.evidence);
    });
    if (implied && !named) stronger.push_back(level.level);
  }
  const std::string left = describe(left_out_of(verdicts));
  return valid_utf8(fmt::format(
      "{{:valid? {}, :anomaly-types ({}), :anomalies {{{}}}, :not {}, :also-not {}{}}}\n",
      kValid[static_cast<std::size_t>(worst(verdicts))], types, maps, level_set(weakest),
      level_set(stronger), left.empty() ? "" : fmt::format(", :left-out {}", quoted(left))));
}

}  // namespace ouro
