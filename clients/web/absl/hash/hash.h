// What Ouro uses of Abseil's hashes, for compilers to WebAssembly, which have no Abseil.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace absl {

class HashState {
 public:
  template <class... Parts>
  static HashState combine(HashState state, const Parts&... parts) {
    (state.add(parts), ...);
    return state;
  }
  template <class T>
  static HashState combine_contiguous(HashState state, const T* first, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) state.add(first[i]);
    return state;
  }
  [[nodiscard]] std::size_t value() const {
    return static_cast<std::size_t>(value_ ^ (value_ >> 32));
  }

 private:
  void mix(std::uint64_t bits) {
    value_ = (value_ ^ bits) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 29;
  }
  void add(std::string_view text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix(text.size());
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  template <class T>
  void add(const std::vector<T>& list) {
    for (const auto& each : list) add(each);
    mix(list.size());
  }
  template <class A, class B>
  void add(const std::pair<A, B>& pair) {
    add(pair.first);
    add(pair.second);
  }
  template <class... Parts>
  void add(const std::tuple<Parts...>& parts) {
    std::apply([this](const auto&... part) { (add(part), ...); }, parts);
  }
  template <class T>
  void add(const T& part) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      mix(static_cast<std::uint64_t>(part));
    } else if constexpr (std::is_pointer_v<T>) {
      mix(reinterpret_cast<std::uintptr_t>(part));
    } else {
      *this = AbslHashValue(std::move(*this), part);
    }
  }

  std::uint64_t value_ = 0x2545f4914f6cdd1d;
};

template <class... Parts>
std::size_t HashOf(const Parts&... parts) {
  return HashState::combine({}, parts...).value();
}

template <class T>
struct Hash {
  std::size_t operator()(const T& part) const { return HashOf(part); }
};

// Strings are found by views of them, too.
template <>
struct Hash<std::string> {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return HashOf(text); }
};

template <class T>
struct Equal : std::equal_to<T> {};
template <>
struct Equal<std::string> : std::equal_to<> {};

}  // namespace absl
