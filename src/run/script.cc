#include "run/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

namespace ouro::running {
namespace {

constexpr std::string_view kKeyNames = "xyzu";

struct ActInfo {
  std::string_view word;
  Act act;
  std::size_t keys;     // How many keys follow the word.
  std::size_t numbers;  // How many numbers follow these.
};
constexpr std::array<ActInfo, 9> kActs{{{"b", Act::Begin, 0, 0},
                                        {"r", Act::Read, 1, 0},
                                        {"w", Act::Write, 1, 1},
                                        {"d", Act::Delete, 1, 0},
                                        {"scan", Act::Scan, 2, 0},
                                        {"sel", Act::Select, 0, 2},
                                        {"del", Act::DeleteWhere, 0, 2},
                                        {"c", Act::Commit, 0, 0},
                                        {"a", Act::Abort, 0, 0}}};

// Takes the next word off `rest`.
std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

db::Number number_of(std::string_view word) {
  db::Number number = 0;
  [[maybe_unused]] const auto end =
      std::from_chars(word.data(), word.data() + word.size(), number).ptr;
  assert(!word.empty() && end == word.data() + word.size());
  return number;
}

db::Key key_of(std::string_view word) {
  assert(word.size() == 1 && kKeyNames.find(word[0]) != std::string_view::npos);
  return static_cast<db::Key>(kKeyNames.find(word[0]));
}

ScriptStep parse_step(std::string_view text) {
  ScriptStep step;
  step.client = static_cast<std::size_t>(number_of(next_word(text)) - 1);
  const std::string_view word = next_word(text);
  [[maybe_unused]] bool known = false;
  for (const ActInfo& act : kActs) {
    if (act.word != word) continue;
    known = true;
    step.act = act.act;
    if (act.keys > 0) step.key = key_of(next_word(text));
    if (act.keys > 1) step.upper = key_of(next_word(text));
    if (act.numbers > 0) step.low = number_of(next_word(text));
    if (act.numbers > 1) step.high = number_of(next_word(text));
  }
  assert(known && next_word(text).empty());
  return step;
}

}  // namespace

std::vector<ScriptStep> parse_script(std::string_view text) {
  std::vector<ScriptStep> steps;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    steps.push_back(parse_step(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<ScriptStep> begins;
  for (std::size_t client = 0;; ++client) {
    const auto first = std::find_if(steps.begin(), steps.end(),
                                    [&](const ScriptStep& step) { return step.client == client; });
    if (first == steps.end()) break;
    if (first->act != Act::Begin) begins.push_back({.client = client});
  }
  steps.insert(steps.begin(), begins.begin(), begins.end());
  return steps;
}

std::string text_of(const ScriptStep& step) {
  const char key = kKeyNames[static_cast<std::size_t>(step.key)];
  for (const ActInfo& act : kActs) {
    if (act.act != step.act) continue;
    if (act.act == Act::Begin) return "begin";
    std::string text(act.word);
    if (act.keys > 0) text += fmt::format(" {}", key);
    if (act.keys > 1) text += fmt::format(" {}", kKeyNames[static_cast<std::size_t>(step.upper)]);
    if (act.numbers > 0) text += fmt::format(" {}", step.low);
    if (act.numbers > 1) text += fmt::format(" {}", step.high);
    return text;
  }
  return {};
}

}  // namespace ouro::running
