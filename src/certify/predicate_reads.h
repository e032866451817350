// Predicate reads by version orders: which versions they saw, and which ones change what they
// match.
//
// A version changes the matches of a read if it matches and the version before it does not, or the
// other way round; and of an aggregate of a column also if both match and differ there. The read
// follows the writers of such versions up to the one it saw, and precedes those of the later ones;
// by the version order it then also follows the writers before the former, and precedes those
// behind the latter.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "certify/clock.h"
#include "certify/reading.h"
#include "certify/row_index.h"

namespace ouro::recheck {

class Table;

class PredicateReads {
 public:
  // What a read without a version set saw: what was committed when its transaction started, or
  // when it committed.
  enum class Seeing : bool { Start, Commit };
  // By observation the history says of no read what it saw. `sights` say something about reads
  // of which the history does not say what they saw.
  // Keys without a complete version order have theirs from the commit order `order`; without one,
  // nothing is said about the order of their versions.
  PredicateReads(const Reading& reading, Seeing seeing, std::span<const ReadSight> sights = {},
                 std::span<const TxnId> order = {});

  // Whether some read has no version set, so that it matters what it is taken to have seen.
  [[nodiscard]] bool depend_on_time() const;

  // The selects and aggregates whose snapshot is known, in order.
  [[nodiscard]] std::span<const OpId> reads() const { return reads_; }

  // Whether, from the version written by `write` up to the one the read saw, one changes the
  // matches or was returned.
  [[nodiscard]] bool follows(OpId read, AccessId write) const;
  // Whether, behind the version that the read saw and up to that of `write`, one changes the
  // matches.
  [[nodiscard]] bool precedes(OpId read, AccessId write) const;

  // A change of what a read matches, and whether the read saw it.
  struct Link {
    AccessId write = kNoAccess;
    bool seen = false;
  };
  // For every row, by key: the last change that the read saw and the first that it did not see.
  // Cost: the versions within the cover of the read (row_index.h).
  [[nodiscard]] std::vector<Link> links(OpId read) const;

  // Whether a read must precede the changes that it did not see; or only if it is of a set.
  enum class Unseen : unsigned char { DoNotMatter, MatterInSets, Matter };
  // By transaction: the positions of its begin and its commit in an order.
  struct Moments {
    std::vector<std::size_t> begun;
    std::vector<std::size_t> committed;
  };
  // The first link that an order does not keep: the writer of a change that was seen commits after
  // the reader begins; or, if unseen ones matter, that of one that was not seen commits before.
  // REQUIRES: the order has the versions of each key in their order.
  // Cost: per read, the versions on which its snapshot and the order differ or, if that is less,
  // that of links().
  struct Broken {
    OpId read;
    Link link;
  };
  [[nodiscard]] std::optional<Broken> first_broken(const Moments& moments, Unseen unseen) const;

  // Something wrong with the version set of a read; `write` is invalid if nobody wrote the version.
  struct Fault {
    AnomalyKind kind = AnomalyKind::ResultSetMismatch;
    OpId write;
  };
  // The selects and aggregates of which the history does not say what they saw, in order, also if
  // their version set does not tell versions with the same value apart; and by observation the
  // scans. Of these follows() and precedes() say what is so whatever it was.
  [[nodiscard]] std::span<const OpId> unplaced() const { return unplaced_; }
  // Whether a sight is about such a read and a version of a row.
  [[nodiscard]] bool makes_sense(const ReadSight& sight) const {
    return place_of(sight).has_value();
  }
  // Whether no versions give what such a read returned; or none of those that it may see. kNoAccess
  // stands for the initial version.
  using MaySee = std::function<bool(KeyId key, AccessId write)>;
  [[nodiscard]] bool is_impossible(OpId read) const;
  [[nodiscard]] bool is_impossible(OpId read, const MaySee& may_see) const;
  // The first such read to which an order does not give what it returned; invalid if there is none.
  // REQUIRES: as first_broken(). If unseen changes matter, the read sees what is there when its
  // transaction begins; otherwise any versions that are committed by then. With MatterInSets the
  // order has moments, and so a set has one state at a time, but rows that were left out do not
  // matter.
  [[nodiscard]] OpId first_misplaced(const Moments& moments, Unseen unseen) const;
  // The first such read that does not return what the sources of its keys give, or that has keys
  // without; invalid if there is none.
  [[nodiscard]] OpId first_untold() const;
  // Whether its result settles what such a read saw; and then, as links().
  [[nodiscard]] bool is_settled_read(OpId read) const;
  [[nodiscard]] std::vector<Link> settled_links(OpId read) const;

  // What is wrong with the version set of a read; nothing if it has none.
  [[nodiscard]] std::vector<Fault> faults(OpId read) const;
  // The reads without a version set that did not return what their transaction's snapshot, with its
  // own writes, gives; sorted.
  // Cost: a walk through all commits.
  [[nodiscard]] std::vector<OpId> wrong_results() const;

 private:
  // The versions of a key, oldest first; kNoAccess for the initial one.
  [[nodiscard]] std::span<const AccessId> versions(KeyId key) const {
    return versions_[key.index()];
  }
  [[nodiscard]] bool is_alive(KeyId key, std::uint32_t position) const;
  [[nodiscard]] Value value(KeyId key, std::uint32_t position) const;
  [[nodiscard]] bool matches(OpId read, KeyId key, std::uint32_t position) const;
  // Whether a read asks for a version that somebody left.
  [[nodiscard]] bool asks_for(OpId read, KeyId key, Value value, bool deleted) const;
  // What the read gets from a version: nothing if it does not match, or if the column that is
  // aggregated is null there; null if it matters only that it matches; otherwise that column.
  [[nodiscard]] std::optional<Value> share(OpId read, KeyId key, std::uint32_t position) const;
  // When a transaction commits, and when it takes its snapshot. With Seeing::Commit every
  // transaction begins and commits at one moment.
  [[nodiscard]] Clock::Moment commit(TxnId writer) const;
  [[nodiscard]] Clock::Moment snapshot(TxnId reader) const;
  // What one read saw, of any key.
  class Sight {
   public:
    Sight(const PredicateReads& reads, OpId read);
    [[nodiscard]] bool wrote_before(KeyId key) const { return own_.contains(key); }
    // Whether its version set has a version of the key; null is none.
    [[nodiscard]] bool lists(KeyId key) const {
      const auto at = version_set_.find(key);
      return at != version_set_.end() && !at->second.is_null();
    }
    // The position of the version of `key` that it saw; nothing if it saw its own write.
    [[nodiscard]] std::optional<std::uint32_t> seen(KeyId key) const;

   private:
    const PredicateReads& reads_;
    const OpId read_;
    std::optional<Clock::Moment> snapshot_;          // Nothing if it has a version set.
    absl::flat_hash_map<KeyId, Value> version_set_;  // Of several versions of a key the first.
    absl::flat_hash_set<KeyId> own_;                 // What its transaction had written by then.
  };
  void order_versions(std::span<const TxnId> order);
  void note_places(KeyId key);
  [[nodiscard]] RowIndex::Version row_version(KeyId key, std::uint32_t position) const;
  // A version, by its key and its position there.
  struct KeyPosition {
    KeyId key;
    std::uint32_t position = 0;
    constexpr auto operator<=>(const KeyPosition&) const = default;
  };
  // The versions that have a share in what the read returns, in the order of their keys.
  [[nodiscard]] std::vector<KeyPosition> matching(OpId read) const;
  void apply_own(OpId read, Table& table) const;
  void link(OpId read, std::span<const KeyPosition> matching, std::uint32_t seen,
            std::vector<Link>& out) const;
  class Comparison;
  // The positions, among the versions of a key, of the one that a read saw and of the one that a
  // write installed.
  struct Places {
    std::uint32_t seen = 0;
    std::uint32_t written = 0;
  };
  // Nothing if the read does not depend on the write.
  [[nodiscard]] std::optional<Places> places(OpId read, AccessId write) const;
  [[nodiscard]] std::uint32_t own_place(OpId read, KeyId key) const;
  // Whether one of the versions behind `first` and up to `last` changes the matches.
  [[nodiscard]] bool changes(OpId read, KeyId key, std::uint32_t first, std::uint32_t last) const;
  // Versions of a key, by position, from `first` up to, not including, `end`.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };
  using Narrowed = std::function<Range(KeyId, Range)>;
  // Whether some versions, one of each row, give what a read returned. `narrowed` says which ones
  // of a key are meant, out of those that are not ruled out by sights. `may_see` may be null.
  [[nodiscard]] bool is_possible(OpId read, const Narrowed& narrowed,
                                 const MaySee& may_see = nullptr) const;
  [[nodiscard]] bool rules_out(OpId read, AccessId write, bool seen) const;
  [[nodiscard]] bool is_unplaced(OpId read) const;
  // By position, whether a read with a version set may have seen that version of `key`: it has the
  // value that is listed (null, if none is), or stands beside such a version and has the same share
  // in the result. Its own transaction wrote none of these.
  [[nodiscard]] std::vector<bool> listed(OpId read, KeyId key) const;
  // Whether these do not all stand together, for some row, so that the version set does not say
  // which version the read saw.
  [[nodiscard]] bool is_unclear(OpId read) const;
  [[nodiscard]] Range whole(KeyId key) const;
  [[nodiscard]] Range possible_range(OpId read, KeyId key) const;
  [[nodiscard]] std::vector<KeyId> open_keys(OpId read) const;
  [[nodiscard]] absl::flat_hash_map<KeyId, OpId> own_before(OpId read) const;
  [[nodiscard]] std::optional<std::uint32_t> place_of(const ReadSight& sight) const;
  void assume(std::span<const ReadSight> sights);
  void add_fault(OpId read, const KeyVersion& version, std::vector<Fault>& out) const;
  void add_absence_fault(OpId read, KeyId key, std::vector<Fault>& out) const;
  [[nodiscard]] std::vector<KeyId> never_absent(OpId read) const;

  const Reading& reading_;
  const History& h_;
  const Seeing seeing_;
  std::vector<OpId> reads_;
  std::vector<OpId> unplaced_;
  absl::flat_hash_map<std::pair<OpId, KeyId>, Range> assumed_;  // By sights.
  std::vector<std::vector<AccessId>> versions_;                 // By key; empty: a list.
  std::vector<bool> ordered_;  // By key: whether they are in their order.
  // By key, one per version at the same index: the latest commit of the versions up to it.
  std::vector<std::vector<Clock::Moment>> latest_;
  bool has_sets_ = false;  // Whether any read has a version set; place_ is empty if not.
  // The position of the first version with a value; and by key, whether some value has several.
  absl::flat_hash_map<std::pair<KeyId, Value>, std::uint32_t> place_;
  std::vector<bool> repeats_;
  std::vector<std::uint32_t> position_;  // By operation: that of its version; kNone: it wrote none.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::optional<RowIndex> index_;
  std::vector<KeyId> sorted_keys_;  // By name, if some scan is unplaced.
};

}  // namespace ouro::recheck
