#include "ouro/search_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>

#include "ouro/closest.h"

namespace ouro {
namespace {

struct Switch {
  std::string_view name;
  bool SearchOptions::*member;
};
constexpr std::array kSwitches{
    Switch{"chains", &SearchOptions::chains},
    Switch{"on-demand", &SearchOptions::on_demand},
    Switch{"saturation", &SearchOptions::saturation},
    Switch{"full", &SearchOptions::full},
    Switch{"guess", &SearchOptions::guess},
    Switch{"turns", &SearchOptions::turns},
};

struct Number {
  std::string_view name;
  std::uint64_t SearchOptions::*member;
};
constexpr std::array kNumbers{Number{"many", &SearchOptions::many},
                              Number{"first-turn", &SearchOptions::first_turn}};

// What is not as it is without any setting.
constexpr std::array<std::string_view, 13> kSettings{
    "no-chains",          "no-on-demand",  "no-saturation",  "no-full",     "no-guess",
    "no-turns",           "many=N",        "first-turn=N",   "phase=saved", "phase=fixed",
    "branching=activity", "sources=cases", "sources=choices"};

bool set_switch(std::string_view setting, SearchOptions& out) {
  const bool on = !setting.starts_with("no-");
  if (!on) setting.remove_prefix(3);
  for (const Switch& each : kSwitches) {
    if (each.name == setting) return out.*each.member = on, true;
  }
  return false;
}

bool set_number(std::string_view name, std::string_view value, SearchOptions& out) {
  for (const Number& each : kNumbers) {
    if (each.name != name) continue;
    const char* end = value.data() + value.size();
    const auto [stop, problem] = std::from_chars(value.data(), end, out.*each.member);
    return problem == std::errc() && stop == end;
  }
  return false;
}

// Sets `target` to the number of `value` in `words`.
template <class Enum>
bool set_word(std::string_view value, std::span<const std::string_view> words, Enum& target) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == value) return target = static_cast<Enum>(i), true;
  }
  return false;
}

bool set(std::string_view setting, SearchOptions& out) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) return set_switch(setting, out);
  const std::string_view name = setting.substr(0, equals);
  const std::string_view value = setting.substr(equals + 1);
  constexpr std::array<std::string_view, 3> kPhases{"order", "saved", "fixed"};
  constexpr std::array<std::string_view, 2> kBranching{"earliest", "activity"};
  constexpr std::array<std::string_view, 3> kSources{"few", "cases", "choices"};
  if (name == "phase") return set_word(value, kPhases, out.phase);
  if (name == "branching") return set_word(value, kBranching, out.branching);
  if (name == "sources") return set_word(value, kSources, out.sources);
  return set_number(name, value, out);
}

}  // namespace

Result<SearchOptions> parse_search_options(std::string_view settings) {
  SearchOptions out;
  while (!settings.empty()) {
    const std::string_view setting = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(setting.size() + 1, settings.size()));
    if (set(setting, out)) continue;
    Error error;
    const std::string_view meant = closest(setting, kSettings);
    const std::string help = meant.empty() ? fmt::format("there are {}", fmt::join(kSettings, ", "))
                                           : fmt::format("did you mean '{}'?", meant);
    error.what = fmt::format("unknown search setting '{}'; {}", setting, help);
    return error;
  }
  return out;
}

}  // namespace ouro
