// Versions and reads on the timelines of the keys, and what changes when one is added.
//
// Nothing is attached to anything: a read stands where its transaction begins, a version where its
// transaction commits, and a read is right if it returned what the version before it holds. So a
// late version concerns the reads behind it, up to the next version (of a list: all reads behind
// it), and moves nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "stream/batch_reader.h"
#include "stream/initials.h"
#include "stream/key_table.h"
#include "stream/moment.h"

namespace ouro::stream {

// A read to be reported: whether it is wrong has changed, or what it should have returned.
struct Change {
  Arrival txn = 0;
  std::uint32_t op = 0;
  bool was_wrong = false;
  bool wrong = false;
};

// Two writers of a key that overlap, or commit at the same time.
struct Clash {
  Arrival first = 0;  // In the order of their commits.
  Arrival second = 0;
};

class Timelines {
 public:
  Timelines(Pool& pool, const Initials& initials) : pool_(pool), initials_(initials) {}

  // Adds a read; whether it is wrong, as far as we know.
  bool add(const OuterRead& read, const Moment& begin);
  // Adds a version, and fills what is below. `conflicts`: whether writers may not overlap.
  void add(const KeyWrite& write, const Moment& begin, const Moment& commit, bool conflicts);

  // The key turns out to hold something else at the start, or to be a list, which is empty then.
  // Fills changes(). REQUIRES: all that is known of the key is in memory.
  void judge_first_reads(KeyState& key);

  // What the version added last changed.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  [[nodiscard]] const std::vector<Clash>& overlaps() const { return overlaps_; }
  [[nodiscard]] const std::vector<Clash>& ties() const { return ties_; }
  [[nodiscard]] const std::vector<Clash>& former_ties() const { return former_ties_; }

  // The version that a read at `begin` should return; null: the stub, or the initial one.
  [[nodiscard]] static const Version* expected(KeyState& key, const Moment& begin);
  // Operation `op` of the transaction that begins then, if it is a read that stands there; or null.
  [[nodiscard]] static Read* find_read(KeyState& key, const Moment& begin, std::uint32_t op);

 private:
  template <class V>
  void add_version(KeyState& key, V version, bool conflicts);
  template <class V>
  void find_overlaps(Sequence<V>& versions, typename Sequence<V>::Cursor added);
  template <class V>
  void find_ties(Sequence<V>& versions, typename Sequence<V>::Cursor added);
  void judge(Read& read, std::uint64_t expected);
  // What a read before all versions should return.
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
