// Moves keys that nobody touched for a while to disk, and brings them back.
//
// Of a key whose versions and reads have all gone to disk (archive.h), its KeyState still has a
// stub and the epochs to look in for the rest. If memory is still short, this leaves memory, too:
// the states of keys that were touched longest ago are written to a file, a run (cold_run.h), and
// freed. When a batch names such a key, its state is brought back as it was before anything else is
// done, so the rest of the stream sees a table that knows all keys. Filters of the runs tell nearly
// always without reading the disk whether a key that is not in memory is new or was there before.
//
// A state in memory counts more than those in runs, and a newer run more than older ones. So a key
// that comes back need not be removed from its run, and runs never change. They are merged in a
// thread of their own (cold_merge.h), so that there are few: those of similar sizes, and all into
// the oldest when the others together have half as many keys as it. Each key that ever left takes
// 32 bytes on disk (a list 64), about half as much again for copies that are out of date, and ten
// bits of filters in memory, or fewer when the filters would take more than an eighth of the
// memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stream/aside.h"
#include "stream/codec.h"
#include "stream/cold_merge.h"
#include "stream/cold_run.h"
#include "stream/dropped.h"
#include "stream/key_table.h"

namespace ouro::stream {

class ColdKeys {
 public:
  ColdKeys(Pool& pool, KeyTable& keys) : pool_(pool), keys_(keys) {}

  // `memory`: the limit of the stream; zero: no more keys will leave. Removes all runs in the
  // folder but those that were restored.
  Status open(const std::string& folder, std::size_t memory);

  // Whether all keys are in memory.
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // Brings back the keys among `names` that are on disk only. `hashes` are those of the names.
  // Unless empty(), sets `states` to the states of all these keys, null for new ones. The error is
  // a disk that fails; then some keys may be back, which does no harm. REQUIRES: three spans of one
  // size.
  Status bring_back(std::span<const Name> names, std::span<const std::uint64_t> hashes,
                    std::span<KeyState*> states) {
    return runs_.empty() ? Status() : look_up(names, hashes, states);
  }
  // The state of a key, brought back if it is on disk only; null if the key is new.
  [[nodiscard]] KeyState* find(const Name& name);
  KeyState* find_or_add(const Name& name);

  // To move keys to disk, call begin() with about how many there are, leave() for each, and end().
  // Then the caller may erase their states, except for those that were touched since leave(). The
  // errors are a disk that fails; then no state may be erased.
  Status begin(std::uint64_t keys);
  // Whether all that is known of the key fits into a run: it has no reads, and no version but a
  // stub.
  [[nodiscard]] static bool may_leave(const KeyState& key);
  // REQUIRES: calls are in ascending order of hash, then name; may_leave(key).
  Status leave(const KeyState& key, std::uint64_t hash);
  Status end();
  void abandon();  // Gives up, instead of end(); then no state may be erased.

  // Goes on merging runs, for about `keys` keys; begins a merge if one is needed.
  Status merge(std::size_t keys);

  void save(Encoder& out) const;
  Status restore(Decoder& in, const std::string& folder, std::size_t memory);
  // See Dropped.
  void begin_checkpoint() { dropped_.begin_checkpoint(); }
  void end_checkpoint() {
    dropped_.end_checkpoint([this](std::uint32_t run) { drop(run); });
  }

  // How many keys left memory and came back so far, each as often as it did.
  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[nodiscard]] std::uint64_t came_back() const { return came_back_; }
  [[nodiscard]] std::uint64_t disk_bytes() const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::optional<Error> take_error() { return std::exchange(error_, std::nullopt); }

 private:
  // What each of the two threads that look for keys uses alone.
  struct Searcher {
    Run::Search search;
    std::vector<FoundKey> found;
    Status status;
  };
  struct Merge {
    std::size_t first = 0;     // Index of the first run that is merged.
    std::size_t count = 0;     // How many runs are merged.
    std::uint32_t number = 0;  // The number of the run they become.
    // For how many keys merge() must still be called before the result is used.
    std::uint64_t keys = 0;
    std::unique_ptr<RunMerge> work;
  };

  Status look_up(std::span<const Name> names, std::span<const std::uint64_t> hashes,
                 std::span<KeyState*> states);
  // Looks for the kPiece keys of wanted_ that make up this piece, in all runs.
  void search(std::size_t piece, Searcher& searcher);
  // Puts a key that was found on disk back into the table, unless it is there already.
  KeyState* revive(const ColdKey& cold, std::uint64_t hash);
  [[nodiscard]] std::string path(std::uint32_t number) const;
  // How many bits of filter each key gets in a run of `keys` keys with `older` runs before it.
  [[nodiscard]] double filter_bits(std::uint64_t keys, std::size_t older) const;
  Result<std::unique_ptr<RunWriter>> new_run(std::uint32_t number, std::uint64_t keys,
                                             std::size_t older);
  // The index of the run to merge with all newer ones, if a merge is needed.
  [[nodiscard]] std::optional<std::size_t> first_to_merge() const;
  Status begin_merge(std::size_t first);
  Status end_merge();
  void drop(std::uint32_t number);

  Pool& pool_;
  KeyTable& keys_;
  std::string folder_;
  std::size_t filter_bytes_ = 0;            // The most that all filters together may take.
  std::vector<std::unique_ptr<Run>> runs_;  // The oldest first.
  std::uint32_t next_run_ = 1;
  std::unique_ptr<RunWriter> leaving_;  // The run being written, between begin() and end().
  std::uint32_t leaving_number_ = 0;
  std::unique_ptr<Merge> merge_;
  bool may_merge_ = false;      // A run was added since first_to_merge() was asked last.
  Dropped dropped_;             // Runs that were merged into others.
  std::vector<Wanted> wanted_;  // Sorted by hash.
  std::array<Searcher, 2> searchers_;
  Aside aside_;
  std::uint64_t left_ = 0;
  std::uint64_t came_back_ = 0;
  std::optional<Error> error_;
};

}  // namespace ouro::stream
