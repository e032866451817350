#include <algorithm>

#include "report/html_data.h"
#include "report/narrator.h"
#include "report/notation.h"
#include "report/story_edges.h"
#include "report/telling.h"

namespace ouro {
namespace {

// What the page shows at most.
constexpr std::size_t kMostStories = 40;
constexpr std::size_t kMostTxns = 120;   // Of a story; it has more only if it could not be shrunk.
constexpr std::size_t kMostEdges = 200;  // Of a case.
constexpr std::size_t kMostCases = 24;   // Of a story.
constexpr std::size_t kMostOps = 60;     // Of a transaction, besides those the story is about.

class StoryWriter {
 public:
  StoryWriter(JsonWriter& json, const History& history, const Story& story)
      : json_(json), history_(history), story_(story), narrator_(history, story) {
    shown_ = std::min(narrator_.txns().size(), kMostTxns);
  }

  void write_txns() {
    json_.key("txns").begin_array();
    for (std::size_t i = 0; i < shown_; ++i) write_txn(narrator_.txns()[i]);
    json_.end_array();
    json_.member("hiddenTxns", narrator_.txns().size() - shown_);
  }

  // Writes what is told, in the order in which the text tells it.
  void write_words() {
    const Narrator::ToldCases told = narrator_.told_cases(kMostCases);
    write_others();
    if (story_.cases.empty()) {
      write_plain();
      return;
    }
    write_sentences("opening", narrator_.opening());
    json_.key("cases").begin_array();
    for (const std::size_t i : told.numbers) write_case(story_.cases[i], told);
    json_.end_array();
    if (told.left > 0) json_.member("left", Narrator::left_cases(told.left));
    json_.member("closing", narrator_.closing());
    json_.member("namedBy", place(told.numbers, story_.named_by));
    write_support();
  }

 private:
  // Writes the number of the transaction among those of the story, from 0: null for the initial
  // one, and -1 for one that is not shown.
  void write_number(std::string_view name, TxnId txn) {
    json_.key(name);
    if (!txn.valid()) {
      json_.null();
      return;
    }
    const auto& txns = narrator_.txns();
    const auto at = std::find(txns.begin(), txns.end(), txn) - txns.begin();
    json_.value(static_cast<std::size_t>(at) < shown_ ? at : -1);
  }

  void write_op_number(std::string_view name, TxnId txn, OpId op) {
    if (!op.valid() || !txn.valid() || history_.txn_of(op) != txn) return;
    json_.member(name, op.value - history_.first_op(txn).value);
  }

  void write_txn(TxnId txn) {
    json_.begin_object().member("label", narrator_.label(txn));
    json_.member("index", txn.value).member("where", whereabouts(history_, txn));
    json_.member("session", history_.has_session(txn)
                                ? history_.label(history_.session_name(history_.session(txn)))
                                : "unknown");
    json_.member("status", name(history_.status(txn)));
    if (const auto clock = history_.invoked(txn)) json_.member("invoked", grouped_clock(*clock));
    if (const auto clock = history_.completed(txn)) {
      json_.member("completed", grouped_clock(*clock));
    }
    if (history_.start_ts(txn) || history_.commit_ts(txn)) {
      json_.member("timestamps", timestamps_text(history_, txn));
    }
    json_.key("ops").begin_array();
    std::size_t others = 0;
    std::size_t hidden = 0;
    for (OpId op = history_.first_op(txn); op != history_.end_op(txn); ++op.value) {
      const auto& matter = narrator_.ops();
      const bool matters = std::binary_search(matter.begin(), matter.end(), op);
      if (!matters && ++others > kMostOps) {
        ++hidden;
        continue;
      }
      json_.begin_object().member("i", op.value - history_.first_op(txn).value);
      json_.member("text", place_notation(history_, history_.op(op), narrator_.focus()))
          .member("matters", matters);
      if (history_.op(op).key.valid()) {
        json_.member("key", history_.key_label(history_.op(op).key));
      }
      json_.end_object();
    }
    json_.end_array().member("hidden", hidden).end_object();
  }

  static std::string grouped_clock(std::int64_t clock) {
    return clock < 0 ? std::to_string(clock) : grouped(static_cast<std::uint64_t>(clock));
  }

  void write_edge(std::span<const Edge> cycle, std::size_t i, const std::string& sentence,
                  bool assumed = false) {
    const Edge& edge = cycle[i];
    json_.begin_object();
    write_number("from", edge.from);
    write_number("to", edge.to);
    json_.member("kind", name(edge.kind));
    if (edge.key.valid()) json_.member("key", history_.key_label(edge.key));
    write_op_number("fromOp", edge.from, edge.from_op);
    write_op_number("toOp", edge.to, edge.to_op);
    if (edge.read.valid()) {
      write_number("reader", history_.txn_of(edge.read));
      write_op_number("read", history_.txn_of(edge.read), edge.read);
    }
    if (edge.choice != Edge::kNoChoice) json_.member("given", edge.choice);
    if (assumed) json_.member("assumed", true);
    const std::string because = narrator_.because(edge);
    json_.member("sentence", sentence.empty() ? plain_reason(edge, because) : sentence);
    json_.member("because", because).member("otherwise", narrator_.otherwise(edge));
    json_.end_object();
  }

  [[nodiscard]] std::string plain_reason(const Edge& edge, const std::string& because) const {
    return narrator_.label(edge.from) + " < " + narrator_.label(edge.to) + ", because " + because +
           ".";
  }

  void write_sentences(std::string_view name, const std::vector<std::string>& sentences) {
    json_.key(name).begin_array();
    for (const std::string& sentence : sentences) json_.value(sentence);
    json_.end_array();
  }

  // Writes what is said of those who are in no other sentence.
  void write_others() { write_sentences("others", narrator_.others(narrator_.lines())); }

  // Where a case is among those that are told.
  static std::size_t place(const std::vector<std::size_t>& told, std::size_t number) {
    const auto at = std::lower_bound(told.begin(), told.end(), number);
    return static_cast<std::size_t>(at - told.begin());
  }

  void write_case(const Case& each, const Narrator::ToldCases& told) {
    json_.begin_object();
    if (!narrator_.is_certain()) json_.member("premise", narrator_.premise(each));
    json_.key("given").begin_array();
    for (const Assumption& given : each.given) {
      json_.begin_object().member("key", history_.key_label(given.key));
      write_number("first", given.first);
      write_number("second", given.second);
      json_.end_object();
    }
    json_.end_array();
    if (told.mirrored(each)) {
      json_.member("mirrors", place(told.numbers, *each.mirrors));
      json_.member("renamed", narrator_.other_names(each));
    }
    json_.member("plain", narrator_.wrong_at_once(each)).key("edges").begin_array();
    const std::size_t shown = std::min(each.cycle.size(), kMostEdges);
    for (std::size_t i = 0; i < shown; ++i) {
      write_edge(each.cycle, i, narrator_.sentence(each.cycle, i), is_assumed(each.cycle[i], each));
    }
    json_.end_array().member("hiddenEdges", each.cycle.size() - shown);
    write_supposed(each);
    json_.end_object();
  }

  // Writes what the case assumes as edges, but for those of its cycle.
  void write_supposed(const Case& each) {
    std::vector<Edge> known(each.cycle);
    json_.key("supposed").begin_array();
    const auto suppose = [&](TxnId from, TxnId to, EdgeKind kind, KeyId key) {
      const Edge edge{.from = from, .to = to, .kind = kind, .key = key};
      const auto same = [&](const Edge& other) { return is_same_edge(edge, other); };
      if (!from.valid() || from == to || std::any_of(known.begin(), known.end(), same)) return;
      known.push_back(edge);
      write_link(edge, name(kind), narrator_.supposition(edge));
    };
    for (const Assumption& given : each.given) {
      suppose(given.first, given.second, EdgeKind::WriteWrite, given.key);
    }
    for (const ReadSource& said : each.sources) {
      suppose(said.writer, history_.txn_of(said.read), EdgeKind::WriteRead, said.key);
    }
    for (const ReadSight& sight : each.sights) {
      const TxnId reader = history_.txn_of(sight.read);
      if (sight.seen) suppose(sight.writer, reader, EdgeKind::WriteRead, sight.key);
      if (!sight.seen) suppose(reader, sight.writer, EdgeKind::ReadWrite, sight.key);
    }
    json_.end_array();
  }

  // Writes the edges that are on no cycle, but behind one.
  void write_support() {
    json_.key("support").begin_array();
    for (const Edge& edge : story_.support) write_edge({&edge, 1}, 0, "");
    for (const Case& each : story_.cases) {
      for (const Edge& edge : each.cycle) {
        if (edge.kind != EdgeKind::Forced || !edge.read.valid()) continue;
        for (const Edge& read : reads_behind(history_, edge)) write_edge({&read, 1}, 0, "");
      }
    }
    write_bystanders();
    json_.end_array();
  }

  // Writes the reads that connect transactions which are on no cycle with the others.
  void write_bystanders() {
    std::vector<TxnId> touched;
    const auto touch = [&](const Edge& edge) {
      touched.push_back(edge.from);
      touched.push_back(edge.to);
      if (edge.read.valid()) touched.push_back(history_.txn_of(edge.read));
    };
    for (const Case& each : story_.cases) {
      for (const Edge& edge : each.cycle) touch(edge);
    }
    for (const Edge& edge : story_.support) touch(edge);
    std::sort(touched.begin(), touched.end());
    for (const Edge& edge : observed_reads(history_, narrator_)) {
      const bool known = std::binary_search(touched.begin(), touched.end(), edge.from) &&
                         std::binary_search(touched.begin(), touched.end(), edge.to);
      if (!known) write_edge({&edge, 1}, 0, "");
    }
  }

  // Writes a story without cycles: one sentence, and links from writers to readers; for a lost
  // update also what each of the two overwrote.
  void write_plain() {
    const std::string sentence = narrator_.lines().front();
    json_.member("plain", sentence).key("cases").begin_array().end_array();
    json_.key("support").begin_array().end_array().key("links").begin_array();
    std::vector<TxnId> linked;
    for (const Edge& edge : restored_edges(history_, story_, narrator_)) {
      write_link(edge, name(edge.kind), narrator_.because(edge) + ".");
      linked.push_back(edge.from);
    }
    if (story_.pattern != Pattern::LostUpdate) {  // Else they are linked in both directions.
      write_unread(sentence, linked);
      write_conflict(sentence);
    }
    json_.end_array();
  }

  // Writes a link for a write that the anomaly names although no read of the story returned it.
  void write_unread(const std::string& sentence, const std::vector<TxnId>& linked) {
    OpId read, write;
    for (const OpId op : story_.shown_by) {
      if (!op.valid()) continue;
      const OpKind kind = history_.op(op).kind;
      OpId& which = is_write(kind) || is_undone(kind) ? write : read;
      if (!which.valid()) which = op;
    }
    if (!read.valid() || !write.valid()) return;
    const TxnId writer = history_.txn_of(write);
    const bool done = std::find(linked.begin(), linked.end(), writer) != linked.end();
    if (done || writer == history_.txn_of(read)) return;
    write_link({.from = writer,
                .to = history_.txn_of(read),
                .kind = EdgeKind::WriteRead,
                .key = history_.op(write).key,
                .from_op = write,
                .to_op = read},
               "", sentence);
  }

  // Writes a link between the two writes of a write conflict.
  void write_conflict(const std::string& sentence) {
    if (story_.kind != AnomalyKind::WriteConflict) return;
    if (story_.shown_by.size() != 2) return;
    const auto [first, second] = std::minmax(story_.shown_by[0], story_.shown_by[1]);
    write_link({.from = history_.txn_of(first),
                .to = history_.txn_of(second),
                .kind = EdgeKind::WriteWrite,
                .key = history_.op(second).key,
                .from_op = first,
                .to_op = second},
               "conflict", sentence);
  }

  void write_link(const Edge& edge, std::string_view kind, const std::string& sentence) {
    json_.begin_object();
    write_number("from", edge.from);
    write_number("to", edge.to);
    write_op_number("fromOp", edge.from, edge.from_op);
    write_op_number("toOp", edge.to, edge.to_op);
    json_.member("kind", kind).member("key", history_.key_label(edge.key));
    json_.member("sentence", sentence).member("because", sentence).member("otherwise", "");
    json_.end_object();
  }

  JsonWriter& json_;
  const History& history_;
  const Story& story_;
  const Narrator narrator_;
  std::size_t shown_ = 0;  // How many transactions are shown.
};

void write_names(JsonWriter& json, std::string_view key, std::span<const Level> levels) {
  json.key(key).begin_array();
  for (const Level level : levels) json.value(info(level).name);
  json.end_array();
}

}  // namespace

std::vector<SharedStory> shared_stories(std::span<const Explanation> explanations,
                                        std::size_t& total) {
  std::vector<SharedStory> out;
  total = 0;
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) {
      const auto same = std::find_if(out.begin(), out.end(), [&](const SharedStory& other) {
        return is_same(*other.story, story);
      });
      if (same != out.end()) {
        same->levels.push_back(story.level);
        continue;
      }
      if (++total <= kMostStories) out.push_back({&story, {story.level}});
    }
  }
  return out;
}

void write_html_story(JsonWriter& json, const History& history, const SharedStory& shared) {
  const Story& story = *shared.story;
  const PatternInfo& about = info(story.pattern);
  json.begin_object().member("name", name(story)).member("id", id(story));
  json.member("aliases", about.aliases).member("meaning", about.meaning);
  json.member("summary", Narrator(history, story).in_short());
  json.member("anchor", anchor(about.name)).member("kind", info(story.kind).name);
  json.member("count", story.count).member("minimal", story.minimal);
  json.member("level", info(story.level).name).member("evidence", name(story.evidence));
  write_names(json, "levels", shared.levels);
  write_names(json, "weakest", story.weakest_violated);
  write_names(json, "strongest", story.strongest_holding);
  StoryWriter writer(json, history, story);
  writer.write_txns();
  writer.write_words();
  json.end_object();
}

}  // namespace ouro
