// Predicate reads by version orders: which versions they saw, and which ones change what they
// match.
//
// A version changes the matches of a read if it matches and the version before it does not, or the
// other way round. The read follows the writers of such versions up to the one it saw, and precedes
// those of the later ones; so it follows and precedes whoever the version order has beyond these.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
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
  // Without version orders as evidence there is nothing to say about any read.
  PredicateReads(const Reading& reading, Seeing seeing);

  // Whether it matters which.
  [[nodiscard]] bool depend_on_time() const;

  // The selects and aggregates whose snapshot is known, in order.
  [[nodiscard]] std::span<const OpId> reads() const { return reads_; }

  // Whether, from the version written by `write` up to the one the read saw, one changes the
  // matches or was returned.
  [[nodiscard]] bool follows(OpId read, AccessId write) const;
  // Whether, behind the version that the read saw and up to that of `write`, one changes the
  // matches.
  [[nodiscard]] bool precedes(OpId read, AccessId write) const;

  // For every row, the last change that the read saw and the first that it did not; by key.
  struct Link {
    AccessId write = kNoAccess;
    bool seen = false;
  };
  // Cost: the versions within the cover of the read.
  [[nodiscard]] std::vector<Link> links(OpId read) const;

  enum class Unseen : bool { DoNotMatter, Matter };
  // When transactions begin and commit, as an order has it.
  struct Moments {
    std::vector<std::size_t> begun;
    std::vector<std::size_t> committed;
  };
  // The first link that such an order is against: it has the writer of one that was seen commit
  // after the reader began, or that of one that was not, if these matter, before. REQUIRES: the
  // order has the versions of each key in their order.
  // Cost: per read, the versions on which its snapshot and the order differ or, if that is less,
  // that of links().
  struct Broken {
    OpId read;
    Link link;
  };
  [[nodiscard]] std::optional<Broken> first_broken(const Moments& moments, Unseen unseen) const;

  // What is wrong with what a read saw, or with what it made of it.
  struct Fault {
    AnomalyKind kind = AnomalyKind::ResultSetMismatch;
    OpId write;
  };
  // Of a read with a version set, what is wrong with that.
  [[nodiscard]] std::vector<Fault> faults(OpId read) const;
  // Those without that did not return what their transaction's snapshot, with its own writes,
  // gives. Cost: a walk through all commits.
  [[nodiscard]] std::vector<OpId> wrong_results() const;

 private:
  // The versions of a key, oldest first; kNoAccess for the initial one.
  [[nodiscard]] std::span<const AccessId> versions(KeyId key) const {
    return versions_[key.index()];
  }
  [[nodiscard]] bool is_alive(KeyId key, std::uint32_t position) const;
  [[nodiscard]] Value value(KeyId key, std::uint32_t position) const;
  [[nodiscard]] bool matches(const PredicateRead& read, KeyId key, std::uint32_t position) const;
  // If reads see what is committed when they commit, everybody begins and commits at once.
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
    // The position of the version; nothing if it saw its own write.
    [[nodiscard]] std::optional<std::uint32_t> seen(KeyId key) const;

   private:
    const PredicateReads& reads_;
    std::optional<Clock::Moment> snapshot_;          // Nothing: it has a version set.
    absl::flat_hash_map<KeyId, Value> version_set_;  // Of several versions of a key the first.
    absl::flat_hash_set<KeyId> own_;                 // What its transaction had written by then.
  };
  void order_versions();
  void note_places(KeyId key);
  [[nodiscard]] RowIndex::Version row_version(KeyId key, std::uint32_t position) const;
  // A version: which one of its key, oldest first.
  struct KeyPosition {
    KeyId key;
    std::uint32_t position = 0;
    constexpr auto operator<=>(const KeyPosition&) const = default;
  };
  // The versions that the read matches, in the order of their keys.
  [[nodiscard]] std::vector<KeyPosition> matching(OpId read) const;
  void apply_own(OpId read, Table& table) const;
  void link(std::span<const KeyPosition> matching, std::uint32_t seen,
            std::vector<Link>& out) const;
  class Comparison;
  // Where the read and the version stand among those of the key; nothing if the read does not
  // depend on it.
  struct Places {
    std::uint32_t seen = 0;
    std::uint32_t written = 0;
  };
  [[nodiscard]] std::optional<Places> places(OpId read, AccessId write) const;
  // Whether one of the versions behind `first` and up to `last` changes the matches.
  [[nodiscard]] bool changes(OpId read, KeyId key, std::uint32_t first, std::uint32_t last) const;
  void add_fault(OpId read, const KeyVersion& version, std::vector<Fault>& out) const;
  void add_absence_fault(OpId read, KeyId key, std::vector<Fault>& out) const;
  [[nodiscard]] std::vector<KeyId> never_absent(OpId read) const;

  const Reading& reading_;
  const History& h_;
  const Seeing seeing_;
  std::vector<OpId> reads_;
  std::vector<std::vector<AccessId>> versions_;  // By key; empty: a list.
  // By key, beside its versions: the last commit up to here.
  std::vector<std::vector<Clock::Moment>> latest_;
  bool has_sets_ = false;  // Whether a read has a version set; only then there is:
  absl::flat_hash_map<std::pair<KeyId, Value>, std::uint32_t> place_;  // The first with the value.
  std::vector<std::uint32_t> position_;  // By operation; kNone: it wrote no version.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::optional<RowIndex> index_;
};

}  // namespace ouro::recheck
