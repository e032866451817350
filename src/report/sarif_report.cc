// Verdicts as SARIF 2.1.0, for code-scanning views: each anomaly with its places in the history
// file.

#include <fmt/format.h>

#include <algorithm>

#include "ouro/forms.h"
#include "ouro/version.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/notation.h"
#include "report/telling.h"

namespace ouro {
namespace {

// The path as a URI, with special characters percent-encoded.
std::string uri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// The address of a document as an absolute URI, which SARIF demands; empty if it is relative.
std::string help_uri(std::string_view address) {
  if (address.find("://") != std::string_view::npos) return std::string(address);
  if (!address.starts_with('/')) return {};
  const std::size_t anchor = address.find('#');
  return "file://" + uri(address.substr(0, anchor)) +
         std::string(anchor == std::string_view::npos ? "" : address.substr(anchor));
}

void write_location(JsonWriter& json, std::string_view name, const Place& place,
                    std::string_view message) {
  const std::string_view file = place.file.empty() ? name : place.file;
  json.begin_object().key("physicalLocation").begin_object();
  json.key("artifactLocation").begin_object().member("uri", uri(file)).end_object();
  if (place.unit == PlaceUnit::Line && place.position > 0) {
    json.key("region").begin_object().member("startLine", place.position).end_object();
  } else if (place.unit == PlaceUnit::Byte) {
    json.key("region").begin_object().member("byteOffset", place.position);
    json.end_object();
  }
  json.end_object();
  if (!message.empty()) {
    json.key("message").begin_object().member("text", message).end_object();
  }
  json.end_object();
}

std::string without_line_break(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The same whenever the same part of the same history is told, so that views know it again; another
// violation has another one. The name of the file does not count, nor do lines.
std::string fingerprint(const History& history, const Story& story) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a.
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;  // No text has this byte.
  };
  for (const TxnId txn : story.txns) {
    add(fmt::format("{}", txn.value));
    if (txn.valid()) add(history.text(history.session_name(history.session(txn))));
  }
  for (const OpId id : story.ops) {
    const Op op = history.op(id);
    add(fmt::format("{}", history.txn_of(id).value));
    if (op.key.valid()) add(history.text(history.key_name(op.key)));
    add(notation(history, op));
  }
  return fmt::format("{}/{}/{:016x}", info(story.level).name, id(story), hash);
}

std::string result_of(const Checked& checked, const Story& story, std::size_t rule) {
  const History& history = *checked.history;
  const Narrator narrator(history, story);
  std::string text = fmt::format("{} violated: {}.", info(story.level).name, name(story));
  text += '\n' + narrator.in_short();
  for (const std::string& line : narrator.cast()) text += '\n' + line;
  for (const std::string& line : narrator.proof()) text += '\n' + line;
  JsonWriter json;
  json.begin_object().member("ruleId", anchor(info(story.pattern).name));
  json.member("ruleIndex", rule).member("level", "error");
  json.key("message").begin_object().member("text", text).end_object();
  json.key("locations").begin_array();
  if (!story.txns.empty()) {
    write_location(json, checked.name, history.place(story.txns.front()), {});
  }
  json.end_array().key("relatedLocations").begin_array();
  for (const TxnId txn : story.txns) {
    write_location(json, checked.name, history.place(txn),
                   fmt::format("{}: {}", narrator.label(txn), whereabouts(history, txn)));
  }
  json.end_array().key("partialFingerprints").begin_object();
  json.member("ouroStory/v2", fingerprint(history, story));
  json.end_object().key("properties").begin_object();
  json.member("level", info(story.level).name).member("minimal", story.minimal);
  json.end_object().end_object();
  return without_line_break(std::move(json).finish());
}

}  // namespace

void SarifReport::add(const Checked& checked) {
  for (const Explanation& explanation : checked.explanations) {
    for (const Story& story : explanation.stories) {
      const auto at = std::find(rules_.begin(), rules_.end(), story.pattern);
      const auto rule = static_cast<std::size_t>(at - rules_.begin());
      if (at == rules_.end()) rules_.push_back(story.pattern);
      results_.push_back(result_of(checked, story, rule));
    }
  }
  for (const Verdict& verdict : checked.verdicts) {
    const bool undecided = verdict.outcome == Outcome::Undecided;
    if (!undecided && verdict.left_out.empty()) continue;
    JsonWriter json;
    json.begin_object()
        .member("ruleId", undecided ? "undecided" : "left-out")
        .member("kind", undecided ? "open" : "informational")
        .member("level", "none");
    json.key("message").begin_object();
    json.member("text", fmt::format("{} {}: {}.", info(verdict.level).name,
                                    undecided ? "undecided" : "holds as far as was checked",
                                    remark(verdict, {})));
    json.end_object().key("locations").begin_array();
    write_location(json, checked.name, {}, {});
    json.end_array().end_object();
    results_.push_back(without_line_break(std::move(json).finish()));
  }
}

void SarifReport::add(std::string_view name, const Error& error) {
  JsonWriter json;
  json.begin_object().member("level", "error").key("message").begin_object();
  json.member("text", std::string_view(error.what)).end_object().key("locations").begin_array();
  Place place{.file = error.file};
  if (error.line) {
    place.unit = PlaceUnit::Line;
    place.position = *error.line;
  }
  write_location(json, name, place, {});
  json.end_array().end_object();
  notifications_.push_back(without_line_break(std::move(json).finish()));
}

std::string SarifReport::finish() const {
  JsonWriter json;
  json.begin_object().member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.member("version", "2.1.0").key("runs").begin_array().begin_object();
  json.key("tool").begin_object().key("driver").begin_object();
  json.member("name", "ouro").member("version", version()).key("rules").begin_array();
  for (const Pattern pattern : rules_) {
    const PatternInfo& about = info(pattern);
    json.begin_object().member("id", anchor(about.name)).member("name", about.name);
    json.key("shortDescription").begin_object().member("text", about.meaning).end_object();
    const std::string address = document_address("anomalies.md", anchor(about.name));
    json.key("help").begin_object().member("text", fmt::format("See {}.", address)).end_object();
    if (const std::string help = help_uri(address); !help.empty()) json.member("helpUri", help);
    json.end_object();
  }
  json.end_array().end_object().end_object();
  json.key("invocations").begin_array().begin_object();
  json.member("executionSuccessful", notifications_.empty());
  json.key("toolExecutionNotifications").begin_array();
  for (const std::string& notification : notifications_) json.json(notification);
  json.end_array().end_object().end_array();
  json.key("results").begin_array();
  for (const std::string& result : results_) json.json(result);
  json.end_array().end_object().end_array().end_object();
  return std::move(json).finish();
}

}  // namespace ouro
