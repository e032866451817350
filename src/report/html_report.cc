// The page of the HTML report: a frame with the styles and scripts of src/report/html/, the report
// as text, and the report as data (JSON).
//
// The scripts make everything else from the data, as text nodes; nothing of a history is ever
// parsed as markup. The content security policy allows only the style and the script that were
// built in, by their hashes.

#include <fmt/format.h>

#include <algorithm>

#include "base/level_rules.h"
#include "ouro/forms.h"
#include "ouro/report.h"
#include "ouro/stats.h"
#include "ouro/version.h"
#include "report/html_assets.h"
#include "report/html_data.h"
#include "report/notation.h"
#include "report/telling.h"

namespace ouro {
namespace {

// In bytes. When the data of all histories exceeds the first limit, further histories are only
// listed; when the text exceeds the second, that of further histories is left out.
constexpr std::size_t kMostBytes = 6'000'000;
constexpr std::size_t kMostText = 1'000'000;

std::string markup_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\0':
        out += "\xef\xbf\xbd";
        break;
      default:
        out += c;
    }
  }
  return valid_utf8(std::move(out));
}

// Escapes characters of JSON that could end the script element it is in. They occur in strings
// only.
std::string script_escaped(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

// Converts bytes from hexadecimal digits to base 64.
std::string base64(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : hex) {
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    bits = bits << 4 | digit;
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += kDigits[bits >> count & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

void write_levels(JsonWriter& json, const Checked& checked, std::span<const Verdict> known) {
  json.key("levels").begin_array();
  for (const Verdict& verdict : settled(checked.verdicts, checked.explanations)) {
    const auto explained =
        std::find_if(checked.explanations.begin(), checked.explanations.end(),
                     [&](const Explanation& each) { return each.level == verdict.level; });
    const bool told = explained != checked.explanations.end();
    json.begin_object().member("name", info(verdict.level).name);
    json.member("outcome", name(verdict.outcome)).member("asked", true);
    json.member("remark", remark(verdict, told ? *explained : Explanation{})).end_object();
  }
  for (const Verdict& verdict : known) {
    const bool asked =
        std::any_of(checked.verdicts.begin(), checked.verdicts.end(),
                    [&](const Verdict& other) { return other.level == verdict.level; });
    if (asked) continue;
    json.begin_object().member("name", info(verdict.level).name);
    json.member("outcome", name(verdict.outcome)).member("asked", false);
    json.member("remark", remark(verdict, {})).end_object();
  }
  json.end_array();
}

// Writes the levels that this evidence cannot decide, but other evidence can.
void write_undecidable(JsonWriter& json, Evidence evidence) {
  json.key("undecidable").begin_object();
  for (const LevelInfo& level : levels()) {
    if (const auto other = other_evidence(level.level, evidence)) {
      json.member(level.name, fmt::format("needs --evidence {}", name(*other)));
    }
  }
  json.end_object();
}

void write_facts(JsonWriter& json, const Checked& checked) {
  json.key("facts").begin_array();
  for (const auto& [label, text] : stats_lines(*checked.history, count(*checked.history))) {
    json.begin_array().value(label).value(text).end_array();
  }
  json.begin_array().value("checked in").value(duration(checked.seconds)).end_array();
  json.end_array().key("remarks").begin_array();
  for (const Remark& remark : checked.history->remarks()) {
    constexpr std::size_t kLongRemark = 400;
    if (remark.text.size() > kLongRemark || remark.name == "nemesis") continue;
    json.begin_array().value(remark.name).value(remark.text).end_array();
  }
  json.end_array();
}

std::string document(const Checked& checked, bool brief) {
  JsonWriter json;
  const Evidence evidence =
      checked.verdicts.empty() ? Evidence::Observed : checked.verdicts.front().evidence;
  json.begin_object().member("name", name_or_file(*checked.history, checked.name));
  json.member("outcome", name(worst(checked.verdicts))).member("evidence", name(evidence));
  const std::vector<Verdict> known =
      known_levels(checked.verdicts, checked.others, checked.explanations);
  write_levels(json, checked, known);
  write_undecidable(json, evidence);
  json.member("strongest", level_list(strongest_holding(known)));
  json.member("weakest", level_list(weakest_violated(known)));
  // Whether some outcomes follow from others as the lattice has it.
  json.member("implies", evidence == Evidence::Observed && !checked.history->has_inner_clocks());
  json.member("leftOut", describe(left_out_of(known)));
  json.member("brief", brief);
  if (!brief) {
    std::size_t total = 0;
    const std::vector<SharedStory> stories = shared_stories(checked.explanations, total);
    const bool complete = std::all_of(checked.explanations.begin(), checked.explanations.end(),
                                      [](const Explanation& each) { return each.complete; });
    json.member("complete", complete).member("hiddenStories", total - stories.size());
    json.key("stories").begin_array();
    for (const SharedStory& story : stories) write_html_story(json, *checked.history, story);
    json.end_array().key("timelines");
    write_html_timelines(json, *checked.history, stories);
    write_facts(json, checked);
  }
  json.end_object();
  return std::move(json).finish();
}

std::string lattice() {
  JsonWriter json;
  json.begin_array();
  for (const LevelInfo& level : levels()) {
    json.begin_object().member("name", level.name).member("alias", level.alias);
    json.member("definition", level.definition).key("below").begin_array();
    for (const Level below : directly_below(level.level)) json.value(info(below).name);
    const LevelPlace& drawn = row_of(level.level).drawn;
    json.end_array().member("x", drawn.x).member("row", drawn.row).end_object();
  }
  json.end_array();
  return std::move(json).finish();
}

}  // namespace

void HtmlReport::add(const Checked& checked) {
  std::string json = document(checked, bytes_ > kMostBytes);
  if (bytes_ + json.size() > kMostBytes) json = document(checked, true);
  bytes_ += json.size();
  histories_.push_back(std::move(json));
  if (text_.size() > kMostText) return;
  ReportOptions options;
  options.name = checked.name;
  options.explanations = checked.explanations;
  options.others = checked.others;
  options.check_seconds = checked.seconds;
  if (!text_.empty()) text_ += '\n';
  text_ += checked.verdicts.size() == 1
               ? describe(*checked.history, checked.verdicts.front(), options)
               : describe(*checked.history, checked.verdicts, options);
  if (text_.size() > kMostText) text_ += "\nThe text of further histories is left out.\n";
}

void HtmlReport::add(std::string_view name, const Error& error) {
  JsonWriter json;
  json.begin_object().member("name", name).member("outcome", "unreadable");
  json.member("error", std::string_view(error.to_string())).end_object();
  histories_.push_back(std::move(json).finish());
  text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", error.to_string());
}

std::string HtmlReport::finish() const {
  const std::string policy = fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; "
      "form-action 'none'; require-trusted-types-for 'script'",
      base64(kStyleHash), base64(kScriptHash));
  std::string out = fmt::format(
      "<!doctype html>\n"
      "<html lang=\"en\">\n"
      "<head>\n"
      "<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"ouro {}\">\n"
      "<title>Ouro report</title>\n"
      "<style>{}</style>\n"
      "</head>\n"
      "<body>\n"
      "<main id=\"report\"></main>\n"
      "<details id=\"text\" open><summary>The report as text</summary><pre>{}</pre></details>\n"
      "<script type=\"application/json\" id=\"data\">",
      policy, version(), kStyle, markup_escaped(text_));
  out += fmt::format("{{\"version\":\"{}\",\"lattice\":{},\"histories\":[", version(),
                     script_escaped(lattice()));
  for (std::size_t i = 0; i < histories_.size(); ++i) {
    if (i != 0) out += ',';
    out += script_escaped(histories_[i]);
  }
  return out + fmt::format("]}}</script>\n<script>{}</script>\n</body>\n</html>\n", kScript);
}

}  // namespace ouro
