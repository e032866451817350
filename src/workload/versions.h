// The memory of the simulated store: every committed version of every key, oldest first.
//
// Versions of a key are numbered from 1, oldest first; 0 is the initial version. A list has one
// entry per element; version n of a list is its first n elements.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

namespace ouro::workload {

// A moment by the store's own clock; see timeline.h.
using Position = std::int64_t;

struct Version {
  Position at = 0;            // When its transaction committed. Later versions: not earlier.
  std::uint32_t value = 0;    // What was written, or the element that was appended.
  std::uint32_t session = 0;  // Who wrote it.
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
  // The number of the newest version.
  [[nodiscard]] std::uint32_t newest(std::uint32_t key) const {
    return static_cast<std::uint32_t>(of_key_[key].size());
  }
  // When the version was committed. The initial one: before everything else.
  [[nodiscard]] Position at(std::uint32_t key, std::uint32_t version) const {
    return version == 0 ? -1 : of_key_[key][version - 1].at;
  }
  // The newest version that was committed at `position` or before. Snapshots are young, so it looks
  // near the end first; else O(log versions).
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
  // The last version of `key` that the transaction which committed at `position` wrote; 0 if it
  // wrote none.
  [[nodiscard]] std::uint32_t written_at(std::uint32_t key, Position position) const {
    const std::uint32_t version = newest_at(key, position);
    return at(key, version) == position ? version : 0;
  }

  // A value, from 1, that was never used for `key`; and the one that fresh_value() returns next.
  std::uint32_t fresh_value(std::uint32_t key) { return ++last_value_[key]; }
  [[nodiscard]] std::uint32_t peek_value(std::uint32_t key) const { return last_value_[key] + 1; }

  // Adds the newest version of `key`. REQUIRES: no version of `key` was committed later.
  void install(std::uint32_t key, const Version& version) {
    assert(of_key_[key].empty() || of_key_[key].back().at <= version.at);
    of_key_[key].push_back(version);
  }

 private:
  std::vector<std::vector<Version>> of_key_;
  std::vector<std::uint32_t> last_value_;  // By key: what fresh_value() returned last.
};

}  // namespace ouro::workload
