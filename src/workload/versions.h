// The memory of the simulated store: every committed version of every key, oldest first.
//
// A version is named by how many versions its key has up to and including it, so 0 is the
// initial one. Lists keep one entry per element; version n of a list is its first n elements.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

namespace ouro::workload {

// A point on the store's own time line; see timeline.h.
using Position = std::int64_t;

struct Version {
  Position at = 0;  // When its transaction committed. Never falls along a key's versions.
  std::uint32_t value = 0;
  std::uint32_t session = 0;
};

class Versions {
 public:
  explicit Versions(std::size_t keys) : of_key_(keys), last_value_(keys, 0) {}

  [[nodiscard]] std::size_t key_count() const { return of_key_.size(); }
  void grow(std::size_t keys) {
    if (keys <= of_key_.size()) return;
    of_key_.resize(keys);
    last_value_.resize(keys, 0);
  }

  [[nodiscard]] std::span<const Version> of(std::uint32_t key) const { return of_key_[key]; }
  // The name of the newest version.
  [[nodiscard]] std::uint32_t newest(std::uint32_t key) const {
    return static_cast<std::uint32_t>(of_key_[key].size());
  }
  // When the version was committed; before everything for the initial one.
  [[nodiscard]] Position at(std::uint32_t key, std::uint32_t version) const {
    return version == 0 ? -1 : of_key_[key][version - 1].at;
  }
  // The newest version that was there at `position`. Snapshots are young, so look near the end.
  [[nodiscard]] std::uint32_t newest_at(std::uint32_t key, Position position) const {
    constexpr std::size_t kNear = 8;
    const std::vector<Version>& versions = of_key_[key];
    std::size_t count = versions.size();
    const std::size_t near = count > kNear ? count - kNear : 0;
    while (count > near && versions[count - 1].at > position) --count;
    if (count == near && count > 0 && versions[count - 1].at > position) {
      const auto later = [](Position p, const Version& version) { return p < version.at; };
      const auto end = versions.begin() + static_cast<std::ptrdiff_t>(count);
      count = static_cast<std::size_t>(std::upper_bound(versions.begin(), end, position, later) -
                                       versions.begin());
    }
    return static_cast<std::uint32_t>(count);
  }
  // The newest version that a transaction committed at `position` wrote; 0 if it wrote none.
  [[nodiscard]] std::uint32_t written_at(std::uint32_t key, Position position) const {
    const std::uint32_t version = newest_at(key, position);
    return at(key, version) == position ? version : 0;
  }

  // A value that no operation on `key` has used.
  std::uint32_t fresh_value(std::uint32_t key) { return ++last_value_[key]; }
  [[nodiscard]] std::uint32_t peek_value(std::uint32_t key) const { return last_value_[key] + 1; }

  // REQUIRES: no version of `key` is younger.
  void install(std::uint32_t key, const Version& version) {
    assert(of_key_[key].empty() || of_key_[key].back().at <= version.at);
    of_key_[key].push_back(version);
  }

 private:
  std::vector<std::vector<Version>> of_key_;
  std::vector<std::uint32_t> last_value_;
};

}  // namespace ouro::workload
