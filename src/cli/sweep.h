// The points that 'ouro bench' measures: every combination of the values that settings have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/generate_flags.h"

namespace ouro::cli {

// A setting of the history to generate, or of the check, and its values.
struct Setting {
  std::string name;  // Of a flag of 'ouro generate', or one of the names below.
  std::vector<std::string> values;
};

// Settings of the check; "store" is --level of 'ouro generate', "file" is a history to read.
[[nodiscard]] bool is_of_check(std::string_view name);

// Reads "txns=1000,2000". Returns what is wrong, or nothing.
[[nodiscard]] std::optional<std::string> parse_setting(const std::string& text, Setting& setting);

// Calls `visit` for every combination, the last setting changing fastest, until it returns false.
using Point = std::vector<std::pair<std::string, std::string>>;  // Names and values.
void for_each_point(const std::vector<Setting>& settings,
                    const std::function<bool(const Point&)>& visit);
[[nodiscard]] std::size_t point_count(const std::vector<Setting>& settings);
// The value of a setting at a point; empty if it is not set.
[[nodiscard]] std::string value_of(const Point& point, std::string_view name);

// The arguments that 'ouro generate' takes for the point.
[[nodiscard]] std::vector<std::string> generate_arguments(const Point& point);
// What to generate at the point. Returns what is wrong, or nothing.
[[nodiscard]] std::optional<std::string> options_at(const Point& point, GenerateOptions& options);

}  // namespace ouro::cli
