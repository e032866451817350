#include "serve/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "format/json_tree.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "ouro/report.h"
#include "report/html_data.h"
#include "report/json_writer.h"

namespace ouro::serving {
namespace {

// Limits for the text of one event.
constexpr std::size_t kMaxTransactionBytes = 256 * 1024;  // If they need more, they are left out.
constexpr std::size_t kMaxStoryBytes = 64 * 1024;         // If it needs more, it is left out.
constexpr std::size_t kNamedSessions = 4;                 // In the headline.

// The kinds of events, in the order of StreamEvent::What.
constexpr std::string_view kKindNames[] = {"violation", "withdrawal", "undecided", "input-fault"};
static_assert(std::size(kKindNames) == static_cast<std::size_t>(StreamEvent::What::Fault) + 1);
constexpr const char* kTooLate = "came too late to be judged";

double seconds(StreamTime time) { return std::chrono::duration<double>(time).count(); }

// "session a", "sessions a, b, …"
std::string sessions_of(const History& history) {
  std::string names;
  const std::size_t count = history.session_count();
  for (std::size_t i = 0; i < std::min(count, kNamedSessions); ++i) {
    if (i > 0) names += ", ";
    names += history.label(history.session_name(SessionId(i)));
  }
  if (count > kNamedSessions) names += ", …";
  return fmt::format("session{} {}", count == 1 ? "" : "s", names);
}

// Writes the transactions as an array of objects of the native text format.
void write_transactions(const History& history, JsonWriter& json) {
  std::string text;
  json.key("transactions").begin_array();
  if (print_history(history, Format::Native, text).ok() && text.size() <= kMaxTransactionBytes) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      if (line.starts_with("{\"session\":")) json.json(line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  json.end_array();
}

// The first story as the pages show it; "" if there is none, or if it is too large.
std::string story_of(const History& history, const Explanation& explanation) {
  if (explanation.stories.empty()) return {};
  const Story& story = explanation.stories.front();
  JsonWriter json;
  write_html_story(json, history, {&story, {story.level}});
  std::string text = std::move(json).finish();
  while (text.ends_with('\n')) text.pop_back();
  return text.size() <= kMaxStoryBytes ? text : std::string();
}

}  // namespace

using What = StreamEvent::What;

std::string_view kind_name(What what) { return kKindNames[static_cast<std::size_t>(what)]; }

namespace {

// The members that all events begin with.
void write_place(const EventText& told, JsonWriter& json) {
  json.begin_object().member("event", told.number);
  if (told.source_number != 0) {
    json.member("source", std::string_view(told.source));
    json.member("source_number", std::uint64_t{told.source_number});
  }
}

std::string line_of(JsonWriter& json) {
  std::string line = std::move(json.end_object()).finish();
  if (!line.ends_with('\n')) line += '\n';
  return line;
}

EventText tell_doubt(const NumberedEvent& numbered) {
  const Doubt& doubt = numbered.doubt;
  const bool whole = doubt.scope == Doubt::Scope::Everything;
  EventText told{.number = numbered.number,
                 .source_number = numbered.source_number,
                 .source = numbered.source,
                 .what = whole ? What::Undecided : What::Fault,
                 .anomaly = whole ? "not judged from here" : "input is missing",
                 .headline = {},
                 .reported = seconds(doubt.at),
                 .doubt = doubt.number,
                 .line = {}};
  told.headline = told.anomaly + ": " + doubt.reason;
  JsonWriter json;
  write_place(told, json);
  json.member("doubt", doubt.number).member("kind", kind_name(told.what));
  json.member("anomaly", std::string_view(told.anomaly));
  json.member("id", whole ? "not-judged" : "missing-input");
  if (doubt.scope != Doubt::Scope::None) json.member("voids", name(doubt.scope));
  json.member("reason", std::string_view(doubt.reason));
  json.member("headline", std::string_view(told.headline));
  json.member("arrived", told.reported).member("reported", told.reported);
  told.line = line_of(json);
  return told;
}

}  // namespace

EventText tell(const NumberedEvent& numbered, Telling telling) {
  if (numbered.doubt.number > 0) return tell_doubt(numbered);
  const StreamEvent& event = numbered.event;
  EventText told{.number = numbered.number,
                 .in_source = event.number,
                 .source_number = numbered.source_number,
                 .source = numbered.source,
                 .what = event.what,
                 .withdraws = event.withdraws,
                 .anomaly = std::string(info(event.kind).name),
                 .counted_as = std::string(info(event.kind).name),
                 .headline = {},
                 .reported = seconds(event.reported),
                 .line = {}};
  JsonWriter json;
  write_place(told, json);
  if (told.in_source != told.number) json.member("number", told.in_source);
  json.member("kind", kind_name(event.what));
  if (event.withdraws != 0) json.member("withdraws", event.withdraws);
  // It is about a transaction, not about a violation that may be none.
  const bool late = event.what == What::Undecided && event.withdraws == 0 &&
                    event.verdict.outcome != Outcome::Violated;
  if (late) told.anomaly = kTooLate;
  std::string id(late ? "too-late" : info(event.kind).id);
  std::string text;
  std::string story;
  if (event.history != nullptr && telling == Telling::Full && event.what == What::Violation) {
    const Explanation explanation = explain(*event.history, event.verdict, {.threads = 1});
    if (!explanation.stories.empty()) {
      told.anomaly = name(explanation.stories.front());
      id = ouro::id(explanation.stories.front());
    }
    story = story_of(*event.history, explanation);
    text = describe(
        *event.history, event.verdict,
        {.name = told.number > 0 ? fmt::format("event {}", told.number)
                                 : fmt::format("{}, event {}", told.source, told.in_source),
         .explanations = std::span(&explanation, 1)});
  }
  told.headline = told.anomaly;
  if (event.history != nullptr && event.history->session_count() > 0) {
    told.headline += ": " + sessions_of(*event.history);
  }
  json.member("anomaly", std::string_view(told.anomaly)).member("id", std::string_view(id));
  if (told.anomaly != told.counted_as && !late) {
    json.member("counted_as", std::string_view(told.counted_as));
  }
  json.member("level", info(event.verdict.level).name);
  json.member("headline", std::string_view(told.headline));
  json.member("arrived", seconds(event.arrived)).member("reported", told.reported);
  if (event.history != nullptr) write_transactions(*event.history, json);
  if (!text.empty()) json.member("text", std::string_view(text));
  if (!story.empty()) json.key("story").json(story);
  told.line = line_of(json);
  return told;
}

void renumber(EventText& event, std::uint64_t number) {
  constexpr std::string_view kUnnumbered = "{\"event\":0";
  event.number = number;
  if (!event.line.starts_with(kUnnumbered)) return;
  event.line.replace(kUnnumbered.size() - 1, 1, std::to_string(number));
}

bool parse_event(const std::string& line, EventText& event) {
  JsonTree tree;
  if (!tree.parse(line)) return false;
  const auto member = [&](std::string_view name) { return tree.root().member(name); };
  const auto number_of = [&](std::string_view name, std::uint64_t& out) {
    const auto number = member(name).integer();
    out = static_cast<std::uint64_t>(number.value_or(0));
    return number && *number >= 0;
  };
  const auto kind = member("kind").text();
  const auto anomaly = member("anomaly").text();
  const auto headline = member("headline").text();
  const auto reported = member("reported").number();
  if (!number_of("event", event.number) || !kind || !anomaly || !headline || !reported) {
    return false;
  }
  event.reported = *reported;
  std::uint64_t source = 0;
  static_cast<void>(number_of("source_number", source));
  event.source_number = static_cast<std::uint32_t>(source);
  event.source = member("source").text().value_or("");
  static_cast<void>(number_of("doubt", event.doubt));
  if (!number_of("number", event.in_source)) {
    event.in_source = event.doubt > 0 ? 0 : event.number;
  }
  const auto* const known = std::find(std::begin(kKindNames), std::end(kKindNames), *kind);
  if (known == std::end(kKindNames)) return false;
  event.what = static_cast<What>(known - std::begin(kKindNames));
  if (!number_of("withdraws", event.withdraws) && event.what == What::Withdrawal) return false;
  event.anomaly = *anomaly;
  event.counted_as = member("counted_as").text().value_or(*anomaly);
  event.headline = *headline;
  event.line = line;
  return true;
}

}  // namespace ouro::serving
