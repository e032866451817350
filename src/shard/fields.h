// The members of a JSON object in a file, each of which must be there.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "format/input.h"
#include "format/json_tree.h"
#include "ouro/result.h"

namespace ouro::shard {

// What is missing, or of another kind, is noted in `wrong`, and is zero or empty.
class Fields {
 public:
  using Json = JsonTree::Node;
  Fields(Json json, std::string& wrong) : json_(json), wrong_(wrong) {}

  [[nodiscard]] std::int64_t integer(std::string_view name) const {
    const auto number = json_.member(name).integer();
    if (!number) note(name);
    return number.value_or(0);
  }
  static constexpr std::int64_t kMany = std::int64_t{1} << 60;
  // From 0 to `most`.
  [[nodiscard]] std::uint64_t whole(std::string_view name, std::int64_t most = kMany) const {
    const std::int64_t number = integer(name);
    if (number < 0 || number > most) note(name);
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(number, 0, most));
  }
  [[nodiscard]] bool truth(std::string_view name) const {
    const Json truth = json_.member(name);
    if (!truth.is_true() && !truth.is_false()) note(name);
    return truth.is_true();
  }
  [[nodiscard]] double number(std::string_view name) const {
    const auto number = json_.member(name).number();
    if (!number) note(name);
    return number.value_or(0);
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const auto text = json_.member(name).text();
    if (!text) note(name);
    return std::string(text.value_or(""));
  }
  // As hexadecimal() writes it.
  [[nodiscard]] std::uint64_t fingerprint(std::string_view name) const {
    const std::string digits = text(name);
    const char* end = digits.data() + digits.size();
    std::uint64_t out = 0;
    if (digits.empty() || std::from_chars(digits.data(), end, out, 16).ptr != end) note(name);
    return out;
  }
  // Calls f(Json) with each element of a list.
  template <class F>
  void each(std::string_view name, const F& f) const {
    const Json list = json_.member(name);
    if (!list.is_list()) return note(name);
    list.for_each(f);
  }
  [[nodiscard]] Fields member(std::string_view name) const {
    if (!json_.member(name).is_map()) note(name);
    return {json_.member(name), wrong_};
  }
  [[nodiscard]] Fields of(Json json) const { return {json, wrong_}; }
  [[nodiscard]] bool has(std::string_view name) const { return json_.member(name).exists(); }
  void note(std::string_view name) const {
    if (wrong_.empty()) wrong_ = fmt::format("\"{}\" is missing or wrong", name);
  }

 private:
  Json json_;
  std::string& wrong_;
};

[[nodiscard]] inline std::string hexadecimal(std::uint64_t number) {
  return fmt::format("{:016x}", number);
}

// Parses the file at `path`, one JSON object, and calls `take` with its fields.
template <class Take>
[[nodiscard]] Status read_object(const std::string& path, const Take& take) {
  auto input = Input::open(path);
  if (!input.ok()) return std::move(input).error();
  const auto bytes = input->read_all();
  if (!bytes.ok()) return bytes.error();
  JsonTree json;
  if (!json.parse(*bytes) || !json.root().is_map()) {
    return error_in(path, "expected one JSON object, as 'ouro shard' writes it");
  }
  std::string wrong;
  take(Fields(json.root(), wrong));
  if (!wrong.empty()) return error_in(path, wrong);
  return {};
}

}  // namespace ouro::shard
