// Moves what is older than the window to disk, and brings it back when a late transaction needs it.
//
// A sweep writes everything before some moment to one file, an epoch, and frees its memory:
// versions, reads, and the batches that transactions came in. Of each key the newest version that
// was moved leaves a stub in memory: its value without its details. That is all a transaction on
// time asks for. If a transaction begins before something that was moved, prepare() first brings
// back what it needs of the key, so that the rest of the stream need not know of the disk. What
// came back counts as never moved: the next sweep writes it again, to another epoch.
//
// An epoch also says what each of its keys held before, its base: that is the stub that the key had
// until then. So epochs can be dropped by their age, although a version that was written long ago
// may have been the newest until a moment ago: the base of the next one stands for it. A
// transaction needs what the keys held when it began, and all that happened since. If nothing of a
// later moment had arrived before the retention began, all of that is in epochs that are kept.
//
// Invariant: all that is on disk of a key and is not back in memory is before all that is in memory
// of it, and what is in a later epoch is after what is in an earlier one.
//
// A sweep goes in small steps, so that nobody has to wait: first all is written, then it is freed,
// except for keys that a late transaction touched in between. If that does not free enough, keys of
// which only the stub is left leave memory, too, those first that were touched longest ago; see
// cold_keys.h.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ouro/stream.h"
#include "stream/codec.h"
#include "stream/cold_keys.h"
#include "stream/dropped.h"
#include "stream/key_table.h"
#include "stream/moment.h"
#include "stream/version_store.h"
#include "stream/window.h"

namespace ouro::stream {

class Archive {
 public:
  Archive(Pool& pool, KeyTable& keys, ColdKeys& cold, Window& window)
      : pool_(pool), keys_(keys), cold_(cold), window_(window) {}

  // Uses `folder` for epochs; removes those in it that this archive does not know. The error is a
  // folder that cannot be used.
  Status open(const std::string& folder);
  [[nodiscard]] bool is_open() const { return store_ != nullptr; }

  // Brings back what a transaction that begins at `begin` needs to know of the key: its versions
  // and reads since then, and the value before. False if some of that was dropped or cannot be
  // read. Cost: O(1) for a transaction on time.
  bool prepare(KeyState& key, const Moment& begin) {
    return guard_.timestamp() < begin.timestamp() || prepare_late(key, begin);
  }
  // Whether it is known which version of the key is the last before `moment`, although prepare()
  // was false.
  [[nodiscard]] bool can_place(KeyState& key, const Moment& moment) const;
  // Brings back the details of the version that a read at `begin` should return, if they are still
  // on disk; for a list the details of all versions.
  void detail(KeyState& key, const Moment& begin);
  // A transaction whose batch is on disk; nothing if it is not there.
  [[nodiscard]] std::optional<Source> find(Arrival arrival);

  // Begins to move all versions and reads before `until`, and all batches but the recent ones.
  // `excess` returns by how many bytes the memory in use exceeds what should be left after the
  // sweep. The errors, here and below, are a disk that fails; then what was not yet freed stays in
  // memory. REQUIRES: is_open(), !sweeping().
  Status begin_sweep(const Moment& until, std::function<std::size_t()> excess);
  [[nodiscard]] bool sweeping() const { return sweep_ != nullptr; }
  // Goes on with the sweep, if there is one, for about `keys` keys.
  Status sweep(std::size_t keys, StreamTime now);
  Status finish_sweep(StreamTime now);
  // Forgets epochs written before `until`. Returns the first transaction that may still be found
  // after that, or 0 if no epoch was forgotten.
  Arrival drop_before(StreamTime until);
  // Whether drop_before() has forgotten an epoch.
  [[nodiscard]] bool has_dropped() const { return first_kept_ > 1; }

  void save(Encoder& out) const;
  // `limited`: the stream has a memory limit, so there will be more sweeps. `based`: whether the
  // version that saved it wrote bases.
  Status restore(Decoder& in, const std::string& folder, bool limited, bool based);
  // See Dropped.
  void begin_checkpoint() { dropped_.begin_checkpoint(); }
  void end_checkpoint() {
    dropped_.end_checkpoint([this](std::uint32_t epoch) { store_->drop(epoch); });
  }

  [[nodiscard]] std::uint64_t disk_bytes() const { return disk_bytes_; }
  // How many versions and reads were moved to disk, and how often a key's part of an epoch came
  // back.
  [[nodiscard]] std::uint64_t spilled() const { return spilled_; }
  [[nodiscard]] std::uint64_t recalled() const { return recalled_; }
  // Memory in use.
  [[nodiscard]] std::size_t bytes() const {
    return back_.capacity() * 33 + epochs_.size() * sizeof(Epoch) +
           (sweep_ == nullptr ? 0 : sweep_->keys.capacity() * sizeof(KeyState*));
  }
  void set_error(Error error) { error_ = std::move(error); }
  // What went wrong on disk since the last call, if anything.
  [[nodiscard]] std::optional<Error> take_error() { return std::exchange(error_, std::nullopt); }

 private:
  // What one sweep wrote.
  struct Epoch {
    std::uint32_t number = 0;
    Moment newest;          // The newest moment of all its versions and reads.
    StreamTime written{0};  // When writing it ended: it has nothing that arrived later.
    Arrival first_txn = 0;  // It has the batches with transactions first_txn to end_txn - 1.
    Arrival end_txn = 0;
    std::uint64_t bytes = 0;
  };
  // What a key held before its part of an epoch.
  struct Base {
    enum class Kind : std::uint8_t {
      Initial,  // Its initial value: no version came before.
      Stub,     // `value`, or the list that `stub` stands for.
      Unknown,  // See KeyState::unsure.
    };
    Kind kind = Kind::Unknown;
    std::uint64_t value = 0;
    ListVersion stub;
  };
  // The phases of a sweep, in their order. The first two write the epoch; Forget frees what they
  // wrote; Leave writes keys of which only a stub is left to a run of cold keys; Erase frees those.
  enum class Phase { WriteKeys, WriteBatches, Forget, Leave, Erase };
  static constexpr std::size_t kAges = 16;
  struct Sweep {
    Phase phase = Phase::WriteKeys;
    Epoch epoch;
    Moment until;
    std::function<std::size_t()> excess;
    std::unique_ptr<VersionStore::Writer> writer;
    std::size_t part = 0;         // The part of the key table to write, let leave or erase next.
    std::size_t batches = 0;      // How many batches are to be written.
    std::size_t batch = 0;        // The batch to write next.
    std::vector<KeyState*> keys;  // Those that were written.
    std::size_t key = 0;          // Index of the one to forget next.
    // Keys of which only the stub is left, by how many sweeps ago they were touched.
    std::array<std::uint64_t, kAges> idle{};
    // Which keys leave, if `left` is set: all that are older than leave_age, and of those of that
    // age the ones whose mixed hash is at most `share`; see leaves().
    bool left = false;
    std::size_t leave_age = 0;
    std::uint64_t share = 0;
  };

  bool prepare_late(KeyState& key, const Moment& begin);
  bool recall(KeyState& key, const Moment& begin);
  [[nodiscard]] std::vector<const Epoch*> epochs_with(const KeyState& key) const;
  // Brings back all that the epoch has of the key, and makes the key hold before it what it held
  // then. False if it cannot be read. REQUIRES: what later epochs have of the key is back.
  bool load(KeyState& key, const Epoch& epoch);
  template <class V>
  void take_in(KeyState& key, Decoder& in);
  template <class V>
  void encode_base(KeyState& key);
  [[nodiscard]] Base decode_base(KeyKind kind, Decoder& in) const;
  void set_base(KeyState& key, const Base& base);
  [[nodiscard]] static bool has_stub(KeyState& key) {
    return key.kind == KeyKind::List ? has_stub<ListVersion>(key) : has_stub<Version>(key);
  }
  template <class V>
  static bool has_stub(KeyState& key);
  template <class V>
  void remove_stub(KeyState& key);

  Status step(std::size_t& keys);
  std::size_t gather_part();
  Status write_part();
  Status write_batches();
  template <class V>
  static bool has_before(KeyState& key, const Moment& until);
  // Encodes the versions and reads of the key before `until` into group_.
  template <class V>
  void encode_before(KeyState& key, const Moment& until, Epoch& epoch);
  template <class V>
  void forget_before(KeyState& key, const Moment& until, std::uint32_t epoch);
  void forget_some(std::size_t count);
  [[nodiscard]] std::size_t age_of(const KeyState& key) const;
  [[nodiscard]] bool leaves(const KeyState& key, std::uint64_t hash) const;
  Status begin_leaving();
  Status leave_part();
  void erase_part();
  void sort_part();

  Pool& pool_;
  KeyTable& keys_;
  ColdKeys& cold_;
  Window& window_;
  std::unique_ptr<VersionStore> store_;
  std::deque<Epoch> epochs_;
  std::uint32_t next_epoch_ = 1;
  Moment newest_;  // The newest moment of anything on disk.
  // A transaction that begins after this timestamp needs nothing that is on disk or being written.
  Moment guard_;
  Moment newest_dropped_;         // The newest moment in any epoch that was forgotten.
  std::uint32_t first_kept_ = 1;  // Epochs before this one were forgotten.
  // Epochs before this one were written by a version of this program that did not write bases.
  std::uint32_t first_based_ = 1;
  // What came back to memory: what this epoch has of this key no longer counts.
  absl::flat_hash_set<std::pair<std::uint32_t, Name>> back_;
  // The batches that were read from disk last.
  std::deque<std::pair<Arrival, std::shared_ptr<const History>>> recent_;
  Dropped dropped_;
  std::unique_ptr<Sweep> sweep_;
  // The keys of a part of the table that are being written, sorted by hash, then name.
  std::vector<std::pair<std::uint64_t, KeyState*>> part_;
  Encoder group_;  // The entry being made.
  std::uint64_t disk_bytes_ = 0;
  std::uint64_t spilled_ = 0;
  std::uint64_t recalled_ = 0;
  std::optional<Error> error_;
};

}  // namespace ouro::stream
