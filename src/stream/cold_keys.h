// Keys that nobody touched for a while, on disk.
//
// Of a key whose versions and reads have all gone to disk (archive.h) a stub is left, and where to
// look for the rest. If memory is still short, that leaves, too: the keys that were touched longest
// ago, with what is left of them, make a run (cold_run.h), and their states are freed. When a batch
// names such a key, the state comes back as it was before anything else is done, so the rest of the
// stream sees a table that knows all keys. Whether a key that is not in memory is new, or was there
// before, the runs' filters know nearly always.
//
// What is in memory counts, else what the newest run says; so what comes back need not be taken out
// of its run, and runs never change. They are merged, in a thread of its own (cold_merge.h), so
// that there are few: those of similar sizes, and all into the oldest when they have half as many
// keys as it. Each key that ever left takes 32 bytes on disk (a list 64), about half as much again
// for copies that are out of date, and a place in the filters: ten bits, or fewer when the filters
// would take more than an eighth of the memory.
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

  // Whether no key is on disk only.
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // Brings back those that are on disk only. `hashes` are those of the names. Unless empty(),
  // `states` are theirs then, null for those that nobody knows. The error is a disk that fails;
  // then some may be back, which does no harm.
  Status bring_back(std::span<const Name> names, std::span<const std::uint64_t> hashes,
                    std::span<KeyState*> states) {
    return runs_.empty() ? Status() : look_up(names, hashes, states);
  }
  // The key, brought back from disk if it is there only; null if nobody knows it.
  [[nodiscard]] KeyState* find(const Name& name);
  KeyState* find_or_add(const Name& name);

  // Keys leave: begin(), leave() for each, end(); then they may be erased, but for those that were
  // touched since leave(). The errors are a disk that fails; then none may.
  Status begin(std::uint64_t keys);
  // Whether there is nothing to remember of the key but what fits into a run.
  [[nodiscard]] static bool may_leave(const KeyState& key);
  // REQUIRES: ascending by hash, then name; may_leave().
  Status leave(const KeyState& key, std::uint64_t hash);
  Status end();
  void abandon();  // Call it instead of end() to give up; the keys stay in memory.

  // Goes on merging runs, for about `keys` keys.
  Status merge(std::size_t keys);

  void save(Encoder& out) const;
  Status restore(Decoder& in, const std::string& folder, std::size_t memory);
  // See Dropped.
  void begin_checkpoint() { dropped_.begin_checkpoint(); }
  void end_checkpoint() {
    dropped_.end_checkpoint([this](std::uint32_t run) { drop(run); });
  }

  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[nodiscard]] std::uint64_t came_back() const { return came_back_; }
  [[nodiscard]] std::uint64_t disk_bytes() const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::optional<Error> take_error() { return std::exchange(error_, std::nullopt); }

 private:
  // What each of the two threads that look for keys has for itself.
  struct Searcher {
    Run::Search search;
    std::vector<FoundKey> found;
    Status status;
  };
  struct Merge {
    std::size_t first = 0;  // Index of the first run that is merged.
    std::size_t count = 0;
    std::uint32_t number = 0;
    // How many merge() has still to be called for before the result is used.
    std::uint64_t keys = 0;
    std::unique_ptr<RunMerge> work;
  };

  Status look_up(std::span<const Name> names, std::span<const std::uint64_t> hashes,
                 std::span<KeyState*> states);
  // Looks for some of wanted_ in all runs.
  void search(std::size_t piece, Searcher& searcher);
  KeyState* revive(const ColdKey& cold, std::uint64_t hash);
  [[nodiscard]] std::string path(std::uint32_t number) const;
  // How many bits of filter each key gets in a run of `keys` keys with `older` runs before it.
  [[nodiscard]] double filter_bits(std::uint64_t keys, std::size_t older) const;
  Result<std::unique_ptr<RunWriter>> new_run(std::uint32_t number, std::uint64_t keys,
                                             std::size_t older);
  // The first run to merge with all behind it.
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
  std::unique_ptr<RunWriter> leaving_;
  std::uint32_t leaving_number_ = 0;
  std::unique_ptr<Merge> merge_;
  bool may_merge_ = false;  // A run was added since first_to_merge() was asked last.
  Dropped dropped_;
  std::vector<Wanted> wanted_;
  std::array<Searcher, 2> searchers_;
  Aside aside_;
  std::uint64_t left_ = 0;
  std::uint64_t came_back_ = 0;
  std::optional<Error> error_;
};

}  // namespace ouro::stream
