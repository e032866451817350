#include "cli/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/flags.h"

namespace ouro::cli {
namespace {

constexpr std::array<std::string_view, 6> kOfCheck{"level",   "evidence",    "search",
                                                   "threads", "clock-drift", "file"};

// The words that a setting may have as its name.
std::vector<std::string> known_names() {
  std::vector<std::string> names(kOfCheck.begin(), kOfCheck.end());
  names.emplace_back("store");
  GenerateFlags flags;
  CLI::App app;
  declare_generate(app, flags);
  for (const Flag& flag : options_of(app)) {
    const std::string name = flag.names.empty() ? "" : flag.names.back().substr(2);
    if (!name.empty() && name != "level" && name != "help") names.push_back(name);
  }
  return names;
}

}  // namespace

bool is_of_check(std::string_view name) {
  return std::find(kOfCheck.begin(), kOfCheck.end(), name) != kOfCheck.end();
}

std::optional<std::string> parse_setting(const std::string& text, Setting& setting) {
  const std::size_t equals = text.find('=');
  setting.name = text.substr(0, equals);
  const std::vector<std::string> names = known_names();
  if (std::find(names.begin(), names.end(), setting.name) == names.end()) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string meant(closest(setting.name, views));
    return fmt::format("unknown setting '{}'; {}", setting.name,
                       meant.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                     : fmt::format("did you mean '{}'?", meant));
  }
  if (equals == std::string::npos) {
    return fmt::format("setting '{0}' has no value; write '{0}=VALUE,VALUE'", text);
  }
  for (std::size_t at = equals + 1; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    setting.values.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return std::nullopt;
}

std::size_t point_count(const std::vector<Setting>& settings) {
  std::size_t count = 1;
  for (const Setting& setting : settings) count *= setting.values.size();
  return count;
}

void for_each_point(const std::vector<Setting>& settings,
                    const std::function<bool(const Point&)>& visit) {
  for (std::size_t number = 0; number < point_count(settings); ++number) {
    Point point(settings.size());
    std::size_t rest = number;
    for (std::size_t i = settings.size(); i-- > 0;) {
      const Setting& setting = settings[i];
      point[i] = {setting.name, setting.values[rest % setting.values.size()]};
      rest /= setting.values.size();
    }
    if (!visit(point)) return;
  }
}

std::string value_of(const Point& point, std::string_view name) {
  const auto at =
      std::find_if(point.begin(), point.end(), [&](const auto& one) { return one.first == name; });
  return at == point.end() ? "" : at->second;
}

std::vector<std::string> generate_arguments(const Point& point) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : point) {
    if (is_of_check(name)) continue;
    const std::string flag = name == "store" ? "level" : name;
    arguments.push_back(value.empty() ? "--" + flag : fmt::format("--{}={}", flag, value));
  }
  return arguments;
}

std::optional<std::string> options_at(const Point& point, GenerateOptions& options) {
  GenerateFlags flags;
  CLI::App app;
  declare_generate(app, flags);
  std::vector<std::string> arguments = generate_arguments(point);
  std::reverse(arguments.begin(), arguments.end());  // As CLI11 wants them.
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    while (what.ends_with('.') || what.ends_with('\n')) what.pop_back();
    return what;
  }
  if (auto what = apply(flags)) return what;
  options = flags.options;
  return std::nullopt;
}

}  // namespace ouro::cli
