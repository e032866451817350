#include "ouro/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/elle_models.h"
#include "explain/expected.h"
#include "ouro/version.h"

namespace ouro {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != ',') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// A name, and the variant that its suffix asks for; Elle says process where we say session.
struct Wanted {
  std::string_view base;
  Variant variant = Variant::None;  // None: any.
};
Wanted parse_name(std::string_view name) {
  constexpr std::pair<std::string_view, Variant> kSuffixes[] = {
      {"-session", Variant::Session},
      {"-process", Variant::Session},
      {"-realtime", Variant::RealTime},
  };
  for (const auto& [suffix, variant] : kSuffixes) {
    if (name.ends_with(suffix)) return {name.substr(0, name.size() - suffix.size()), variant};
  }
  return {name};
}

bool is_called(const Story& story, std::string_view name) {
  const Wanted wanted = parse_name(name);
  if (wanted.variant != Variant::None && wanted.variant != story.variant) return false;
  // By timestamps a lost update is also what they show: a write conflict, or a wrong read.
  const bool by_time = info(story.kind).sign == AnomalySign::Timestamps;
  const auto patterns = find_patterns(wanted.base);
  return std::any_of(patterns.begin(), patterns.end(), [&](Pattern pattern) {
    return pattern == story.pattern || (by_time && info(pattern).name == info(story.kind).name);
  });
}

Status add_line(Expectation& out, std::string_view line) {
  const std::vector<std::string> words = words_of(line);
  if (words.empty()) return {};
  Error error;
  if (words[0] == "shows" || words[0] == "lacks") {
    auto& names = words[0] == "shows" ? out.shows : out.lacks;
    return add_names(names, line.substr(line.find(words[0]) + words[0].size()));
  }
  if (words.size() < 2 || (words.back() != "holds" && words.back() != "violated")) {
    error.what = fmt::format(
        "expected 'LEVEL… holds', 'LEVEL… violated', 'shows ANOMALY…' or 'lacks ANOMALY…', found "
        "'{}'",
        line);
    return error;
  }
  const Outcome outcome = words.back() == "holds" ? Outcome::Holds : Outcome::Violated;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto level = find_level(words[i]);
    if (!level) {
      error.what = unknown_level(words[i]);
      return error;
    }
    out.levels.emplace_back(*level, outcome);
  }
  return {};
}

}  // namespace

const Story* find_story(std::span<const Explanation> explanations, std::string_view wanted) {
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) {
      if (is_called(story, wanted)) return &story;
    }
  }
  return nullptr;
}

Status add_names(std::vector<std::string>& names, std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  Error error;
  if (words.empty()) {
    error.what = "expected the name of an anomaly, such as write-skew";
    return error;
  }
  for (const std::string& word : words) {
    if (find_patterns(parse_name(word).base).empty()) {
      error.what = fmt::format("unknown anomaly '{}'; {} lists them", word,
                               document_address("anomalies.md"));
      return error;
    }
    names.push_back(word);
  }
  return {};
}

Result<Expectation> parse_expectation(std::string_view text, std::string_view name) {
  Expectation out;
  std::uint64_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (auto status = add_line(out, line.substr(0, line.find('#'))); !status.ok()) {
      Error error = status.error();
      error.file = std::string(name);
      error.line = number;
      return error;
    }
  }
  return out;
}

Result<Expectation> read_expectation(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    Error error;
    error.file = path;
    error.what = "cannot be read; it should say what to expect, see " + document_address("ci.md");
    return error;
  }
  return parse_expectation(text.str(), path);
}

ExpectationMet judge(const Expectation& expectation, std::span<const Verdict> verdicts,
                     std::span<const Explanation> explanations) {
  ExpectationMet met;
  bool undecided = false;
  for (const auto& [level, outcome] : expectation.levels) {
    const auto at = std::find_if(verdicts.begin(), verdicts.end(),
                                 [&, level = level](const Verdict& v) { return v.level == level; });
    if (at != verdicts.end() && at->outcome == Outcome::Undecided) {
      undecided = true;
    } else if (at == verdicts.end()) {
      met.complaints.push_back(fmt::format("{} was not checked", info(level).name));
    } else if (at->outcome != outcome) {
      met.complaints.push_back(
          fmt::format("expected {} to be {}, but it {}", info(level).name,
                      outcome == Outcome::Holds ? "kept" : "violated",
                      at->outcome == Outcome::Holds ? "holds" : "is violated"));
    }
  }
  for (const Verdict& verdict : verdicts) undecided |= verdict.outcome == Outcome::Undecided;
  for (const std::string& name : expectation.shows) {
    if (find_story(explanations, name) == nullptr) {
      met.complaints.push_back(
          fmt::format("expected {}, which does not show: is the test blind?", name));
    }
  }
  for (const std::string& name : expectation.lacks) {
    if (find_story(explanations, name) != nullptr) {
      met.complaints.push_back(fmt::format("expected no {}, but it shows", name));
    }
  }
  if (!met.complaints.empty()) {
    met.outcome = Outcome::Violated;
  } else if (undecided) {
    met.outcome = Outcome::Undecided;
  }
  return met;
}

}  // namespace ouro
