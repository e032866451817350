// Verdicts as JSON, as docs/json.md describes it.
//
// Transactions are identified by their index in the history, from 0; the initial one is null. Every
// transaction also has the label that the sentences use.

#include <algorithm>

#include "history/commuting.h"
#include "ouro/report.h"
#include "ouro/version.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/notation.h"
#include "report/story_edges.h"
#include "report/telling.h"

namespace ouro {
namespace {

void write_index(JsonWriter& json, std::string_view name, TxnId txn) {
  json.key(name);
  if (txn.valid()) {
    json.value(txn.value);
  } else {
    json.null();
  }
}

void write_place(JsonWriter& json, const Place& place) {
  if (place.unit == PlaceUnit::None) return;
  json.member("file", place.file);
  json.member(place.unit == PlaceUnit::Line ? "line" : "byte", place.position);
}

// Writes a timestamp as in the native format: a number, or a pair of them.
void write_timestamp(JsonWriter& json, std::string_view name, std::optional<Timestamp> timestamp) {
  if (timestamp) json.key(name).json(notation(*timestamp));
}

void write_txn(JsonWriter& json, const History& history, const Narrator& narrator, TxnId txn) {
  json.begin_object();
  json.member("label", narrator.label(txn));
  json.member("index", txn.value);
  if (!history.txn_name(txn).is_null()) json.member("id", history, history.txn_name(txn));
  json.member("session", history, history.session_name(history.session(txn)));
  json.member("status", name(history.status(txn)));
  write_place(json, history.place(txn));
  if (const auto clock = history.invoked(txn)) json.member("invoked", *clock);
  if (const auto clock = history.began(txn)) json.member("began", *clock);
  if (const auto clock = history.committing(txn)) json.member("committing", *clock);
  if (const auto clock = history.completed(txn)) json.member("completed", *clock);
  write_timestamp(json, "start_ts", history.start_ts(txn));
  write_timestamp(json, "commit_ts", history.commit_ts(txn));
  json.member("operations", history.end_op(txn).value - history.first_op(txn).value);
  json.end_object();
}

// A row of a counter or set has the name that users know.
void write_key(JsonWriter& json, const History& history, KeyId key) {
  const Value name = history.key_name(key);
  if (name.kind() == ValueKind::Text && is_hidden(history.string(name))) {
    json.member("key", shown_name(history.string(name)));
  } else {
    json.member("key", history, name);
  }
}

void write_op(JsonWriter& json, const History& history, OpId id) {
  const Op op = history.op(id);
  const TxnId txn = history.txn_of(id);
  json.begin_object();
  json.member("transaction", txn.value);
  json.member("index", id.value - history.first_op(txn).value);
  json.member("kind", name(op.kind));
  if (is_predicate_read(op.kind)) {
    json.member("rows", history.predicate_read(id).row_count);
  } else {
    write_key(json, history, op.key);
    json.member("value", history, op.value);
  }
  write_place(json, history.place(id));
  json.end_object();
}

// The operation with the value that an edge is about: a read, or else a write; invalid if the edge
// is about none.
OpId telling_op(const Edge& edge) {
  switch (edge.kind) {
    case EdgeKind::WriteRead:
      return edge.to_op;
    case EdgeKind::Forced:
      return edge.read;
    case EdgeKind::ReadWrite:
    case EdgeKind::WriteWrite:
      return edge.from_op.valid() ? edge.from_op : edge.to_op;
    default:
      return OpId{};
  }
}

void write_edge(JsonWriter& json, const History& history, const Narrator& narrator,
                const Edge& edge) {
  json.begin_object();
  write_index(json, "from", edge.from);
  write_index(json, "to", edge.to);
  json.member("kind", name(edge.kind));
  if (edge.key.valid()) write_key(json, history, edge.key);
  const OpId op = telling_op(edge);
  const bool tells =
      op.valid() && !is_predicate_read(history.op(op).kind) && !is_open_read(history.op(op).kind);
  if (tells) {
    json.member("value", history, history.op(op).value);
  }
  if (edge.kind == EdgeKind::Forced && edge.read.valid()) {
    write_index(json, "reader", history.txn_of(edge.read));
  }
  json.member("because", narrator.because(edge));
  json.end_object();
}

void write_levels(JsonWriter& json, std::string_view name, std::span<const Level> levels) {
  json.key(name).begin_array();
  for (const Level level : levels) json.value(info(level).name);
  json.end_array();
}

void write_edges(JsonWriter& json, std::string_view name, const History& history,
                 const Narrator& narrator, std::span<const Edge> edges) {
  json.key(name).begin_array();
  for (const Edge& edge : edges) write_edge(json, history, narrator, edge);
  json.end_array();
}

// Writes what open reads are assumed to have returned.
void write_sources(JsonWriter& json, const History& history, std::span<const ReadSource> sources) {
  json.key("sources").begin_array();
  for (const ReadSource& said : sources) {
    const TxnId reader = history.txn_of(said.read);
    json.begin_object().member("transaction", reader.value);
    json.member("index", said.read.value - history.first_op(reader).value);
    write_index(json, "writer", said.writer);
    if (said.element != 0) json.member("element", said.element);
    json.end_object();
  }
  json.end_array();
}

// Writes each case: what is assumed, and the cycle that follows.
void write_cases(JsonWriter& json, const History& history, const Narrator& narrator,
                 const Story& story) {
  json.key("cases").begin_array();
  for (const Case& each : story.cases) {
    json.begin_object().key("given").begin_array();
    for (const Assumption& given : each.given) {
      json.begin_object();
      write_key(json, history, given.key);
      json.member("first", given.first.value).member("second", given.second.value).end_object();
    }
    json.end_array();
    if (each.mirrors) json.member("mirrors", *each.mirrors);
    if (!each.sources.empty()) write_sources(json, history, each.sources);
    if (each.plain) json.member("anomaly", info(*each.plain).name);
    write_edges(json, "edges", history, narrator, each.cycle);
    json.end_object();
  }
  json.end_array();
}

void write_story(JsonWriter& json, const History& history, const Story& story) {
  const PatternInfo& about = info(story.pattern);
  const Narrator narrator(history, story);
  json.begin_object();
  json.member("name", name(story)).member("id", id(story)).member("aliases", about.aliases);
  json.member("meaning", about.meaning).member("kind", info(story.kind).name);
  json.member("summary", narrator.in_short());
  json.member("level", info(story.level).name).member("count", story.count);
  json.member("minimal", story.minimal);
  write_levels(json, "weakest_violated", story.weakest_violated);
  write_levels(json, "strongest_holding", story.strongest_holding);
  if (!story.expected.empty()) json.key("expected").json(story.expected);
  json.key("transactions").begin_array();
  for (const TxnId txn : narrator.txns()) write_txn(json, history, narrator, txn);
  json.end_array().key("operations").begin_array();
  for (const OpId op : narrator.ops()) write_op(json, history, op);
  json.end_array();
  const std::span<const Edge> none;
  write_edges(json, "edges", history, narrator,
              story.cases.empty() ? none : std::span(story.cases[0].cycle));
  write_edges(json, "support", history, narrator, story.support);
  write_edges(json, "restored", history, narrator, restored_edges(history, story, narrator));
  write_cases(json, history, narrator, story);
  json.key("story").begin_array();
  const std::vector<std::string> lines = narrator.lines();
  for (const std::string& line : narrator.others(lines)) json.value(line);
  for (const std::string& line : lines) json.value(line);
  json.end_array().end_object();
}

void write_head(JsonWriter& json, const History& history, const ReportOptions& options) {
  json.begin_object();
  json.member("history", name_or_file(history, options.name));
  if (options.whole) {
    json.member("transactions", options.whole->txns);
    json.member("operations", options.whole->operations);
    return;
  }
  json.member("transactions", history.txn_count());
  json.member("operations", history.op_count());
  json.member("sessions", history.session_count()).member("keys", named_keys(history));
}

// Writes the stages that took place, and what was counted if there was a search.
void write_effort(JsonWriter& json, const Effort& effort) {
  json.key("stages").begin_object();
  for (std::size_t i = 0; i < kStageCount; ++i) {
    if (effort.seconds[i] > 0) json.member(name(static_cast<Stage>(i)), effort.seconds[i]);
  }
  json.end_object();
  const SearchCounts& search = effort.search;
  if (search.searches == 0) return;
  json.key("search").begin_object().member("searches", search.searches);
  json.member("nodes", search.nodes).member("arcs", search.arcs);
  json.member("chains", search.chains).member("pairs", search.pairs);
  json.member("choices", search.choices).member("decisions", search.decisions);
  json.member("conflicts", search.conflicts).member("full_conflicts", search.full_conflicts);
  json.end_object();
}

std::string finish(JsonWriter&& json, const ReportOptions& options) {
  if (options.effort != nullptr) {
    Effort effort = *options.effort;
    effort.add(Stage::Load, options.load_seconds.value_or(0));
    write_effort(json, effort);
  }
  json.key("seconds").begin_object();
  if (options.load_seconds) json.member("load", *options.load_seconds);
  if (options.check_seconds) json.member("check", *options.check_seconds);
  if (options.effort != nullptr) json.member("telling", telling_seconds(*options.effort));
  json.end_object().member("schema", 1).member("version", version()).end_object();
  return std::move(json).finish();
}

// Writes the verdict of each segment, if the history was checked in segments.
void write_segments(JsonWriter& json, std::span<const SegmentVerdict> segments) {
  if (segments.empty()) return;
  json.key("segments").begin_array();
  for (const SegmentVerdict& segment : segments) {
    json.begin_object().member("first", segment.first).member("last", segment.last);
    json.member("verdict", name(segment.outcome));
    if (!segment.reason.empty()) json.member("reason", segment.reason);
    json.end_object();
  }
  json.end_array();
}

void write_counts(JsonWriter& json, const Verdict& verdict) {
  for (std::size_t i = 0; i < kAnomalyKindCount; ++i) {
    if (verdict.counts[i] == 0) continue;
    json.member(info(static_cast<AnomalyKind>(i)).name, verdict.counts[i]);
  }
}

// Writes what the levels that hold leave out.
void write_left_out(JsonWriter& json, std::span<const Verdict> known) {
  const std::vector<LeftOut> all = left_out_of(known);
  if (all.empty()) return;
  json.key("left_out").begin_array();
  for (const LeftOut& left : all) {
    std::vector<Level> concerned;
    for (const Verdict& verdict : known) {
      const auto same = [&](const LeftOut& other) { return other.kind == left.kind; };
      if (std::any_of(verdict.left_out.begin(), verdict.left_out.end(), same)) {
        concerned.push_back(verdict.level);
      }
    }
    json.begin_object().member("kind", name(left.kind)).member("what", describe({&left, 1}));
    json.member("count", left.count).member("total", left.total);
    write_levels(json, "levels", concerned);
    json.end_object();
  }
  json.end_array();
}

// Writes what the outcomes say about all levels.
void write_known_levels(JsonWriter& json, std::span<const Verdict> known) {
  write_levels(json, "strongest", strongest_holding(known));
  write_levels(json, "weakest_violated", weakest_violated(known));
  write_levels(json, "undecided", undecided(known));
  write_left_out(json, known);
}

}  // namespace

std::string to_json(const History& history, const Verdict& verdict, const ReportOptions& options) {
  JsonWriter json;
  write_head(json, history, options);
  json.member("level", info(verdict.level).name);
  json.member("evidence", name(verdict.evidence)).member("verdict", name(verdict.outcome));
  if (!verdict.reason.empty()) json.member("reason", verdict.reason);
  if (options.observed) json.member("observed", name(*options.observed));
  json.key("counts").begin_object();
  write_counts(json, verdict);
  const Explanation explanation = explanation_of(verdict, options);
  json.end_object();
  write_known_levels(json, known_levels({&verdict, 1}, options.others, {&explanation, 1}));
  json.key("anomalies").begin_array();
  for (const Story& story : explanation.stories) write_story(json, history, story);
  json.end_array();
  if (verdict.outcome == Outcome::Violated) json.member("complete", explanation.complete);
  write_segments(json, options.segments);
  return finish(std::move(json), options);
}

std::string to_json(const History& history, std::span<const Verdict> asked,
                    const ReportOptions& options) {
  const std::vector<Explanation> explanations = explanations_of_weakest(asked, options);
  const std::vector<Verdict> verdicts = settled(asked, explanations);
  JsonWriter json;
  write_head(json, history, options);
  json.member("level", "all");
  json.member("evidence", name(verdicts.empty() ? Evidence::Observed : verdicts[0].evidence));
  json.member("verdict", name(worst(verdicts)));
  if (options.observed) json.member("observed", name(*options.observed));
  json.key("levels").begin_object();
  for (const Verdict& verdict : verdicts) {
    json.member(info(verdict.level).name, name(verdict.outcome));
  }
  json.end_object().key("reasons").begin_object();
  for (const Verdict& verdict : verdicts) {
    if (!verdict.reason.empty()) json.member(info(verdict.level).name, verdict.reason);
  }
  json.end_object();
  write_known_levels(json, known_levels(verdicts, options.others, explanations));
  write_levels(json, "unsupported", options.unsupported);
  json.key("anomalies").begin_array();
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) write_story(json, history, story);
  }
  json.end_array();
  return finish(std::move(json), options);
}

std::string to_json(std::string_view history, const Error& error) {
  JsonWriter json;
  json.begin_object().member("history", history).key("error").begin_object();
  if (!error.file.empty()) json.member("file", std::string_view(error.file));
  if (error.line) json.member("line", *error.line);
  if (error.offset) json.member("byte", *error.offset);
  json.member("what", std::string_view(error.what)).end_object();
  json.member("schema", 1).member("version", version()).end_object();
  return std::move(json).finish();
}

}  // namespace ouro
