// Adds versions and reads to the timelines of the keys, and finds which judgements that changes.
//
// A read has the moment at which its transaction begins, a version the moment at which its
// transaction commits, and a read is right if it returned the value of the last version before it.
// Reads and versions have no links to each other. So a late version just changes the judgement of
// the reads after it, up to the next version (of a list: of all reads after it).
#pragma once

#include <cstdint>
#include <vector>

#include "stream/batch_reader.h"
#include "stream/initials.h"
#include "stream/key_table.h"
#include "stream/moment.h"

namespace ouro::stream {

// A read whose judgement changed: whether it is wrong, or, of a wrong one, what it should have
// returned.
struct Change {
  Arrival txn = 0;
  std::uint32_t op = 0;
  Moment begin;  // Of the transaction.
  bool was_wrong = false;
  bool wrong = false;
  bool known = true;  // False: it is no longer known what it should have returned.
};

// Two writers of a key that overlap, or commit at the same timestamp.
struct Clash {
  Arrival first = 0;  // In the order of their commits.
  Arrival second = 0;
};

class Timelines {
 public:
  Timelines(Pool& pool, const Initials& initials) : pool_(pool), initials_(initials) {}

  // Adds a read. Returns whether it is wrong by what is known now.
  bool add(const OuterRead& read, const Moment& begin);
  // Adds a version, and fills changes(), overlaps(), ties() and former_ties(). `conflicts`: whether
  // the level forbids writers of a key to overlap; if not, overlaps() stays empty.
  void add(const KeyWrite& write, const Moment& begin, const Moment& commit, bool conflicts);

  // Judges the reads before the first version again, when the key's initial value has changed, the
  // key turned out to be a list, or it became unsure; then of a list all reads. Fills changes().
  // REQUIRES: all that is known of the key is in memory.
  void judge_first_reads(KeyState& key);

  // What the last call changed. Ties are neighbours on the timeline that commit at one timestamp;
  // former ties are those between which the new version came.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  [[nodiscard]] const std::vector<Clash>& overlaps() const { return overlaps_; }
  [[nodiscard]] const std::vector<Clash>& ties() const { return ties_; }
  [[nodiscard]] const std::vector<Clash>& former_ties() const { return former_ties_; }

  // The version that a read at `begin` should return; null: the stub of a register, or the initial
  // value.
  [[nodiscard]] static const Version* expected(KeyState& key, const Moment& begin);
  // The read that is operation `op` of the transaction that begins at `begin`; null: there is none.
  [[nodiscard]] static Read* find_read(KeyState& key, const Moment& begin, std::uint32_t op);

 private:
  template <class V>
  void add_version(KeyState& key, V version, bool conflicts);
  template <class V>
  void find_overlaps(Sequence<V>& versions, typename Sequence<V>::Cursor added);
  template <class V>
  void find_ties(Sequence<V>& versions, typename Sequence<V>::Cursor added);
  // `known`: whether it is known what the read should return; if not, it does not count as wrong.
  void judge(Read& read, std::uint64_t expected, bool known);
  // Fingerprint of what a read before all versions in memory should return.
  [[nodiscard]] std::uint64_t first_value(const KeyState& key) const {
    if (key.kind == KeyKind::List) return Value::null().bits();
    return key.has_stub ? key.stub : initials_.of(key.name).print;
  }
  template <class V>
  void judge_until_first(KeyState& key);
  void rejudge(KeyState& key, Sequence<Version>::Cursor added);
  void rejudge(KeyState& key, Sequence<ListVersion>::Cursor added);

  Pool& pool_;
  const Initials& initials_;
  std::vector<Change> changes_;
  std::vector<Clash> overlaps_;
  std::vector<Clash> ties_;
  std::vector<Clash> former_ties_;
};

}  // namespace ouro::stream
