// Options: a table of names, each with what its value does.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <type_traits>

#include "base/double_text.h"
#include "c/handles.h"
#include "ouro/asked_levels.h"
#include "ouro/closest.h"

namespace ouro::c {
namespace {

Status bad_value(std::string_view name, std::string_view value, std::string_view expected) {
  return error_saying(fmt::format("{} '{}' is not {}", name, value, expected));
}

template <class Number>
Status number(std::string_view name, std::string_view value, Number least, Number most,
              Number& out) {
  Number read{};
  bool whole = false;
  if constexpr (std::is_floating_point_v<Number>) {
    whole = parse_double(value, read);
  } else {
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), read);
    whole = status == std::errc() && end == value.data() + value.size();
  }
  if (!whole || !(read >= least && read <= most)) {
    return bad_value(name, value, fmt::format("a number from {} to {}", least, most));
  }
  out = read;
  return {};
}

Status set_level(ouro_options& options, std::string_view value) {
  // Whether the evidence can decide it is seen when it is known, too.
  for (std::string_view rest = value; value != "all";) {
    const std::size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    if (!find_level(name)) return parse_levels(name, Evidence::Observed).error();
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  options.levels = value;
  return {};
}

Status set_evidence(ouro_options& options, std::string_view value) {
  const auto evidence = find_evidence(value);
  if (!evidence) return bad_value("evidence", value, "one of observed, versions, timestamps");
  options.check.evidence = *evidence;
  return {};
}

Status set_time_limit(ouro_options& options, std::string_view value) {
  double seconds = 0;
  auto status = number("time-limit", value, 0.0, 1e9, seconds);
  if (!status.ok()) return status;
  options.check.time_limit = std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
  return status;
}

Status set_memory_limit(ouro_options& options, std::string_view value) {
  double megabytes = 0;
  auto status = number("memory-limit", value, 0.0, 1e12, megabytes);
  if (!status.ok()) return status;
  options.check.memory_limit = static_cast<std::uint64_t>(megabytes * 1e6);
  return status;
}

Status set_threads(ouro_options& options, std::string_view value) {
  auto status = number("threads", value, 0u, 1024u, options.check.threads);
  if (!status.ok()) return status;
  options.read.threads = options.check.threads;
  return status;
}

Status set_clock_drift(ouro_options& options, std::string_view value) {
  return number("clock-drift", value, std::int64_t{0}, INT64_MAX, options.check.clock_drift);
}

Status set_examples(ouro_options& options, std::string_view value) {
  return number("examples", value, std::size_t{1}, std::size_t{1'000'000}, options.examples);
}

Status set_title(ouro_options& options, std::string_view value) {
  options.title = value;
  return {};
}

Status set_format(ouro_options& options, std::string_view value) {
  const FormatInfo* format = find_format(value);
  if (format == nullptr && value != "detect") {
    return bad_value("format", value, "a format; 'ouro formats' lists them");
  }
  options.read.format = format == nullptr ? Format::Detect : format->format;
  return {};
}

Status set_model(ouro_options& options, std::string_view value) {
  const auto models = jepsen_models();
  if (std::find(models.begin(), models.end(), value) == models.end()) {
    return bad_value("model", value, fmt::format("one of {}", fmt::join(models, ", ")));
  }
  options.read.model = value;
  return {};
}

Status set_expect(ouro_options& options, std::string_view value) {
  auto expectation = parse_expectation(value);
  if (!expectation.ok()) return expectation.error();
  options.expectation = *std::move(expectation);
  return {};
}

Status set_explain(ouro_options& options, std::string_view value) {
  using Explain = ExamineOptions::Explain;
  if (value == "nothing") {
    options.explain = Explain::Nothing;
  } else if (value == "weakest") {
    options.explain = Explain::WeakestLevels;
  } else if (value == "all") {
    options.explain = Explain::AllLevels;
  } else {
    return bad_value("explain", value, "one of nothing, weakest, all");
  }
  return {};
}

struct Option {
  std::string_view name;
  Status (*set)(ouro_options& options, std::string_view value);
};

constexpr Option kOptions[] = {
    {"level", set_level},           {"evidence", set_evidence},
    {"time-limit", set_time_limit}, {"memory-limit", set_memory_limit},
    {"threads", set_threads},       {"clock-drift", set_clock_drift},
    {"examples", set_examples},     {"title", set_title},
    {"format", set_format},         {"model", set_model},
    {"expect", set_expect},         {"explain", set_explain},
};

Status set_option(ouro_options& options, std::string_view name, std::string_view value) {
  std::vector<std::string_view> names;
  for (const Option& option : kOptions) {
    if (option.name == name) return option.set(options, value);
    names.push_back(option.name);
  }
  const std::string_view guess = closest(name, names);
  return error_saying(fmt::format("unknown option '{}'; {}", name,
                                  guess.empty()
                                      ? fmt::format("there are: {}", fmt::join(names, ", "))
                                      : fmt::format("did you mean '{}'?", guess)));
}

}  // namespace

const ouro_options& or_defaults(const ouro_options* given) {
  static const ouro_options defaults;
  return given == nullptr ? defaults : *given;
}

}  // namespace ouro::c

extern "C" {

ouro_options* ouro_options_new(ouro_error** error) {
  return ouro::c::guarded(error, static_cast<ouro_options*>(nullptr),
                          [] { return new ouro_options; });
}

void ouro_options_free(ouro_options* options) { delete options; }

int ouro_options_set(ouro_options* options, const char* name, const char* value,
                     ouro_error** error) {
  if (options == nullptr || name == nullptr || value == nullptr) return -1;
  return ouro::c::guarded(error, -1, [&] {
    const ouro::Status status = ouro::c::set_option(*options, name, value);
    if (status.ok()) return 0;
    ouro::c::tell(error, OURO_ERROR_INPUT, status.error());
    return -1;
  });
}

void ouro_options_cancel(ouro_options* options) {
  if (options != nullptr) options->cancelled.store(true, std::memory_order_relaxed);
}

void ouro_options_resume(ouro_options* options) {
  if (options != nullptr) options->cancelled.store(false, std::memory_order_relaxed);
}
}
