// What is known of the order in which the versions of a key were installed.
//
// A version may be known to follow another *immediately*: a transaction that read x and wrote x
// follows what it read (not at the levels that let updates be lost), and so do neighbours in a
// list. Those links form trees, one of which has the initial version as its root. What follows:
//
//   - a version precedes whatever is below it in its tree;
//   - those on the way from the initial version to v are the first ones of all, in that order, so v
//     precedes everything that is not on that way;
//   - if a precedes b, what is below a precedes what is below b, unless it is below b, too.
//
// Orders that the history states, or its lists reveal, add to that: neighbours in a complete one
// have such links, and in a fragment each version precedes those behind it.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "certify/reading.h"
#include "certify/rules.h"

namespace ouro::recheck {

class Versions {
 public:
  Versions(const Reading& reading, Level level);

  // A version is the access of a last write, of a transaction that counts; or this number, for the
  // initial version of a key.
  [[nodiscard]] std::uint32_t initial(KeyId key) const {
    return static_cast<std::uint32_t>(reading_.access_count() + key.index());
  }
  // The version that an external read returned.
  [[nodiscard]] std::uint32_t returned(AccessId read) const {
    const AccessId source = reading_.source(read);
    return source == kNoAccess ? initial(reading_.access(read).key) : source;
  }

  // Whether `early` precedes `late` in every order of the key's versions that the level allows.
  // REQUIRES: versions of the same key.
  [[nodiscard]] bool precedes(std::uint32_t early, std::uint32_t late) const;
  // The same for those orders in which `first` precedes `second`.
  [[nodiscard]] bool precedes_if(std::uint32_t first, std::uint32_t second, std::uint32_t early,
                                 std::uint32_t late) const;

 private:
  void link_lists();
  void link_stated();
  void link_updates(Level level);
  void number_trees();
  // Whether `version` is `root` or below it in its tree.
  [[nodiscard]] bool below(std::uint32_t version, std::uint32_t root) const {
    return entered_[root] != 0 && entered_[root] <= entered_[version] &&
           entered_[version] <= left_[root];
  }
  [[nodiscard]] bool is_stated(std::uint32_t early, std::uint32_t late) const;
  [[nodiscard]] bool list_shows(std::uint32_t early, std::uint32_t late) const;
  [[nodiscard]] bool read_and_overwrote(std::uint32_t early, std::uint32_t late) const;

  static constexpr std::uint32_t kNone = 0xffffffff;
  const Reading& reading_;
  // By version: the one that it follows immediately; kNone if that is not known.
  std::vector<std::uint32_t> parent_;
  // By version: when a walk through the trees entered it, from 1; zero: never.
  std::vector<std::uint32_t> entered_;
  std::vector<std::uint32_t> left_;  // By version: when the last one below it was entered.
  std::vector<AccessId> longest_;    // By key: the longest read, if it is a list.
  // By append: its position in the key's longest read, or kNone.
  std::vector<std::uint32_t> shown_at_;
  absl::flat_hash_set<std::pair<KeyId, Value>> open_;  // Open elements of longest reads.

  // The position of a version, or of an earlier write of its transaction, in a stated order.
  struct Mention {
    std::uint32_t version = 0;
    std::uint32_t order = 0;
    std::uint32_t position = 0;
    constexpr auto operator<=>(const Mention&) const = default;
  };
  std::vector<Mention> mentions_;  // Sorted.
};

}  // namespace ouro::recheck
