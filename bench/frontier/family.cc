#include "bench/frontier/family.h"

#include <array>
#include <charconv>
#include <vector>

#include "bench/frontier/formulas.h"
#include "bench/frontier/frontier.h"

namespace ouro::bench {
namespace {

constexpr auto kHardCases = std::to_array<HardCase>({
    {"stale-500-900-1", Level::SessionSerializable},
    {"stale-1000-1900-1", Level::SessionSerializable},
    {"stale-1000-1700-2", Level::SessionSerializable},
    {"stale-2000-4000-1", Level::SessionSerializable},
    {"stale-4000-8000-1", Level::SessionSerializable},
    {"stale-8000-17000-1", Level::SessionSerializable},
    {"stale-1000-400-1", Level::SessionSi},
    {"stale-1000-300-1", Level::SessionSi},
    {"stale-1000-300-2", Level::SessionSi},
    {"stale-1000-250-1", Level::SessionSi},
    {"stale-1000-250-2", Level::SessionSi},
    {"stale-2000-600-1", Level::SessionSi},
    {"stale-2000-600-2", Level::SessionSi},
    {"stale-4000-1400-1", Level::SessionSi},
    {"stale-4000-1400-2", Level::SessionSi},
    {"stale-8000-2800-1", Level::SessionSi},
    {"stale-500-150-1", Level::Prefix},
    {"stale-1000-250-1", Level::Prefix},
    {"stale-1000-200-1", Level::Prefix},
    {"stale-2000-500-1", Level::Prefix},
    {"stale-500-100-1", Level::ParallelSi},
    {"stale-500-50-1", Level::ParallelSi},
    {"stale-1000-150-1", Level::ParallelSi},
    {"stale-2000-300-1", Level::ParallelSi},
    {"blind-200-10-1", Level::SessionSerializable},
    {"blind-200-10-1", Level::SessionSi},
    {"blind-400-10-2", Level::SessionSi},
    {"sat-120-1", Level::SessionSerializable},
    {"sat-120-2", Level::SessionSerializable},
    {"sat-120-3", Level::SessionSerializable},
    {"sat-150-1", Level::SessionSerializable},
    {"sat-150-2", Level::SessionSerializable},
    {"sat-150-1", Level::SessionSi},
    {"sat-200-1", Level::SessionSi},
    {"colour-80-1", Level::SessionSerializable},
    {"colour-80-2", Level::SessionSerializable},
    {"colour-80-1", Level::SessionSi},
    {"colour-150-1", Level::SessionSi},
});

// The numbers behind the word that the name begins with; empty if something else is there.
std::vector<std::uint32_t> numbers_of(std::string_view name) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t at = name.find('-'); at != std::string_view::npos;) {
    const std::size_t end = name.find('-', at + 1);
    const std::string_view digits = name.substr(at + 1, end == name.npos ? end : end - at - 1);
    std::uint32_t number = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || stop != digits.data() + digits.size()) return {};
    numbers.push_back(number);
    at = end;
  }
  return numbers;
}

}  // namespace

std::optional<History> hard_history(std::string_view name) {
  const std::vector<std::uint32_t> numbers = numbers_of(name);
  const std::string_view kind = name.substr(0, name.find('-'));
  const bool of_txns = kind == "stale" || kind == "blind";
  if (numbers.size() != (of_txns ? 3 : 2)) return std::nullopt;
  const std::uint32_t size = numbers[0];
  if (of_txns) {
    if (numbers[1] < 3) return std::nullopt;
    FrontierOptions options{.txns = size, .keys = numbers[1], .seed = numbers[2]};
    if (kind == "blind") options.stale_permille = 30;
    return frontier(options);
  }
  if (kind == "sat" && size >= 3)
    return history_of(random_3sat(size, size * 426 / 100, numbers[1]));
  if (kind == "colour" && size >= 2) {
    return history_of(random_colouring(size, size * 23 / 10, numbers[1]));
  }
  return std::nullopt;
}

std::span<const HardCase> hard_cases() { return kHardCases; }

}  // namespace ouro::bench
