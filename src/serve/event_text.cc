#include "serve/event_text.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "format/json_tree.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "ouro/report.h"
#include "report/json_writer.h"

namespace ouro::serving {
namespace {

// Limits for the text of one event.
constexpr std::size_t kMaxTransactionBytes = 256 * 1024;  // If they need more, they are left out.
constexpr std::size_t kNamedSessions = 4;                 // In the headline.

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

}  // namespace

EventText tell(const StreamEvent& event, Telling telling) {
  EventText told{.number = event.number,
                 .withdrawn = event.withdrawn,
                 .withdraws = event.withdraws,
                 .anomaly = std::string(info(event.kind).name),
                 .headline = {},
                 .reported = seconds(event.reported),
                 .line = {}};
  JsonWriter json;
  json.begin_object().member("event", event.number);
  json.member("kind", event.withdrawn ? "withdrawal" : "violation");
  if (event.withdrawn) json.member("withdraws", event.withdraws);
  std::string id(info(event.kind).id);
  std::string text;
  if (event.history != nullptr && telling == Telling::Full && !event.withdrawn) {
    const Explanation explanation = explain(*event.history, event.verdict, {.threads = 1});
    if (!explanation.stories.empty()) {
      told.anomaly = name(explanation.stories.front());
      id = ouro::id(explanation.stories.front());
    }
    text = describe(*event.history, event.verdict,
                    {.name = fmt::format("event {}", event.number),
                     .explanations = std::span(&explanation, 1)});
  }
  told.headline = told.anomaly;
  if (event.history != nullptr && event.history->session_count() > 0) {
    told.headline += ": " + sessions_of(*event.history);
  }
  json.member("anomaly", std::string_view(told.anomaly)).member("id", std::string_view(id));
  json.member("level", info(event.verdict.level).name);
  json.member("headline", std::string_view(told.headline));
  json.member("arrived", seconds(event.arrived)).member("reported", told.reported);
  if (event.history != nullptr) write_transactions(*event.history, json);
  if (!text.empty()) json.member("text", std::string_view(text));
  told.line = std::move(json.end_object()).finish();
  if (!told.line.ends_with('\n')) told.line += '\n';
  return told;
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
  event.withdrawn = *kind == "withdrawal";
  if (event.withdrawn && !number_of("withdraws", event.withdraws)) return false;
  event.anomaly = *anomaly;
  event.headline = *headline;
  event.line = line;
  return true;
}

}  // namespace ouro::serving
