// The functions of command.h: flags, messages and loops that several commands share.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

#include "cli/command.h"
#include "cli/limits.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

const FormatInfo* format_by_name(const std::string& name) {
  if (const FormatInfo* found = find_format(name)) return found;
  // The names that elle-cli uses.
  const auto wanted = name == "edn"    ? Format::JepsenEdn
                      : name == "json" ? Format::JepsenJson
                                       : Format::Detect;
  static const std::vector<FormatInfo> all = formats();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const FormatInfo& known) { return known.format == wanted; });
  return at == all.end() ? nullptr : &*at;
}

std::optional<double> parse_number(const std::string& text) {
  double number = 0;
  const char* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, number);
  if (problem != std::errc() || end != last || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

CLI::Validator whole_number() {
  return CLI::Validator(
      [](const std::string& text) {
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
        return digits && text.size() < 20 ? std::string()
                                          : fmt::format("'{}' is not a whole number", text);
      },
      "");
}

CLI::Validator number_at_least_zero() {
  return CLI::Validator(
      [](const std::string& text) {
        const auto number = parse_number(text);
        return number && *number >= 0 ? std::string()
                                      : fmt::format("'{}' is not a number from 0 up", text);
      },
      "");
}

void add_limits(CLI::App& app, double& seconds, double& megabytes) {
  app.add_option("-t,--time-limit", seconds, "give up after SEC, all included [0: never]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app.add_option("--memory-limit", megabytes, "give up if it takes MB memory [0: never]")
      ->type_name("MB")
      ->check(number_at_least_zero());
}

CLI::Option* add_clock_drift(CLI::App& app, std::int64_t& clock_drift) {
  const auto check = [](const std::string& text) {
    std::int64_t number = 0;
    const char* last = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), last, number);
    const bool whole = problem == std::errc() && end == last && number >= 0;
    return whole ? std::string()
                 : fmt::format("'{}' is not a whole number from 0 to {}", text,
                               std::numeric_limits<std::int64_t>::max());
  };
  return app.add_option("--clock-drift", clock_drift, "by how much clocks may differ [0]")
      ->type_name("D")
      ->check(CLI::Validator(check, ""));
}

CLI::Validator share() {
  return CLI::Validator(
      [](const std::string& text) {
        const auto number = parse_number(text);
        return number && *number >= 0 && *number <= 1
                   ? std::string()
                   : fmt::format("'{}' is not a number from 0 to 1", text);
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(
      [words = std::move(words)](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return fmt::format("'{}' is none of {}", text, fmt::join(words, ", "));
      },
      "");
}

int worse(int one, int other) {
  for (const int status : {int{kInternalError}, int{kViolated}}) {
    if (one == status || other == status) return status;
  }
  return std::max(one, other);
}

int fail(std::string_view what) {
  print_error(fmt::format("ouro: {}\n", what));
  return kBadInput;
}

int fail(const Error& error) { return fail(error.to_string()); }

void add_input_flags(CLI::App& app, InputFlags& flags) {
  app.add_option("HISTORY", flags.paths, "histories to read; - is standard input")
      ->required()
      ->type_name("FILE");
  app.add_option("-f,--format", flags.format, "format of the histories [detected]")
      ->type_name("FORMAT");
  app.add_option("--threads", flags.threads, "threads to use [one per core]")
      ->type_name("N")
      ->check(whole_number());
}

std::optional<Format> parse_format(const std::string& name) {
  if (name.empty()) return Format::Detect;
  if (const FormatInfo* found = format_by_name(name)) return found->format;
  std::string known;
  for (const FormatInfo& candidate : formats()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
  }
  fail(fmt::format("unknown format '{}'; known are {}", name, known));
  return std::nullopt;
}

std::optional<Level> parse_level(const std::string& name) {
  if (const auto level = find_level(name)) return level;
  const auto levels = parse_levels(name, Evidence::Observed);
  fail(levels.ok() ? fmt::format("'{}' is not one level; give one", name)
                   : levels.error().to_string());
  return std::nullopt;
}

std::optional<Evidence> parse_evidence(const std::string& name) {
  const auto evidence = find_evidence(name);
  if (!evidence) {
    fail(fmt::format("evidence '{}' is unknown; there are: observed, versions, timestamps", name));
  }
  return evidence;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9) * 1000)));
}

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

int for_each_history(const InputFlags& flags, bool json, const Visit& visit) {
  const auto format = parse_format(flags.format);
  if (!format) return kBadInput;
  const Limits limits(flags.time_limit, flags.memory_limit);
  int status = kHolds;
  for (const std::string& path : flags.paths) {
    const std::string name = display_name(path);
    // Given up, the work goes on; so what it uses outlives this function.
    const auto read_in = std::make_shared<std::optional<Result<History>>>();
    const auto visited = std::make_shared<Visited>();
    std::string limit;
    const auto stop = [&] {
      limit = limits.reached();
      return !limit.empty();
    };
    const bool finished =
        watched("reading " + name, stop,
                [=, how = ReadOptions{.format = *format, .threads = flags.threads}] {
                  *read_in = read_history(path, how);
                  if ((*read_in)->ok()) *visited = visit(path, ***read_in);
                });
    const Error problem = !finished          ? Error{.file = name, .what = limit}
                          : (*read_in)->ok() ? Error()
                                             : (*read_in)->error();
    if (problem.what.empty()) {
      print(visited->text);
      status = worse(status, visited->status);
    } else {
      fail(problem);
      status = worse(status, finished ? kBadInput : kUndecided);
      if (json) print(to_json(name, problem));
    }
    if (output_closed() || !finished) break;
    if (path == flags.paths.back()) keep_until_exit(read_in);
  }
  return status;
}

}  // namespace ouro::cli
