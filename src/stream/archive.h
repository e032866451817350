// What is older than the window, on disk, and how it comes back.
//
// A sweep moves everything before some moment out of memory: versions, reads, and the batches that
// transactions came in. Of each key the newest version stays, without its details: a stub. That is
// all an on-time transaction asks for. If a transaction begins before something that was moved,
// that is brought back first, so that the rest of the stream need not know. What came back counts
// as never moved: the next sweep writes it again, to another epoch.
//
// A sweep goes in small steps, so that nobody has to wait: first all is written, then it is taken
// out of memory, but for keys that someone late touched in between. If that is not enough, keys of
// which only the stub is left go, too, those first that were touched longest ago: cold_keys.h.
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

  Status open(const std::string& folder);
  [[nodiscard]] bool is_open() const { return store_ != nullptr; }

  // Brings back what a transaction that begins at `begin` needs to know of the key. False if some
  // of it was dropped.
  bool prepare(KeyState& key, const Moment& begin) {
    return guard_.timestamp() < begin.timestamp() || prepare_late(key, begin);
  }
  // Brings back the details of the version that a read at `begin` should return, if possible; of a
  // list, of all that is before it.
  void detail(KeyState& key, const Moment& begin);
  [[nodiscard]] std::optional<Source> find(Arrival arrival);

  // Begins to move all that is before `until`, and all batches but the recent ones. The errors are
  // a disk that fails; then everything is still in memory. `excess` returns by how many bytes
  // memory exceeds its limit.
  Status begin_sweep(const Moment& until, StreamTime now, std::function<std::size_t()> excess);
  [[nodiscard]] bool sweeping() const { return sweep_ != nullptr; }
  // Goes on with the sweep, for about `keys` keys.
  Status sweep(std::size_t keys);
  Status finish_sweep();
  // Forgets epochs written before `until`. Returns the first arrival that may still be there.
  Arrival drop_before(StreamTime until);
  // Whether some epochs are gone.
  [[nodiscard]] bool has_dropped() const { return first_kept_ > 1; }

  void save(Encoder& out) const;
  // `limited`: the stream has a memory limit, so there will be more sweeps.
  Status restore(Decoder& in, const std::string& folder, bool limited);
  // See Dropped.
  void begin_checkpoint() { dropped_.begin_checkpoint(); }
  void end_checkpoint() {
    dropped_.end_checkpoint([this](std::uint32_t epoch) { store_->drop(epoch); });
  }

  [[nodiscard]] std::uint64_t disk_bytes() const { return disk_bytes_; }
  [[nodiscard]] std::uint64_t spilled() const { return spilled_; }
  [[nodiscard]] std::uint64_t recalled() const { return recalled_; }
  [[nodiscard]] std::size_t bytes() const {
    return back_.capacity() * 33 + epochs_.size() * sizeof(Epoch) +
           (sweep_ == nullptr ? 0 : sweep_->keys.capacity() * sizeof(KeyState*));
  }
  void set_error(Error error) { error_ = std::move(error); }
  // What went wrong on disk since the last call, if anything.
  [[nodiscard]] std::optional<Error> take_error() { return std::exchange(error_, std::nullopt); }

 private:
  struct Epoch {
    std::uint32_t number = 0;
    Moment newest;  // Of all its versions and reads.
    StreamTime written{0};
    Arrival first_txn = 0;  // It has the batches of first_txn to end_txn - 1.
    Arrival end_txn = 0;
    std::uint64_t bytes = 0;
  };
  enum class Phase { WriteKeys, WriteBatches, Forget, Leave, Erase };
  static constexpr std::size_t kAges = 16;
  struct Sweep {
    Phase phase = Phase::WriteKeys;
    Epoch epoch;
    Moment until;
    std::function<std::size_t()> excess;
    std::unique_ptr<VersionStore::Writer> writer;
    std::size_t part = 0;         // Of the table: the one to write, let leave or erase next.
    std::size_t batches = 0;      // How many batches are to be written.
    std::size_t batch = 0;        // The batch to write next.
    std::vector<KeyState*> keys;  // Those that were written.
    std::size_t key = 0;          // Index of the one to forget next.
    // Keys of which only the stub is left, by how many sweeps ago they were touched.
    std::array<std::uint64_t, kAges> idle{};
    bool left = false;          // Some keys leave: …
    std::size_t leave_age = 0;  // … all that were touched longer ago, and of this age …
    std::uint64_t share = 0;    // … those whose mixed hash is at most this.
  };

  bool prepare_late(KeyState& key, const Moment& begin);
  bool recall(KeyState& key, const Moment& begin);
  [[nodiscard]] std::vector<const Epoch*> epochs_with(const KeyState& key) const;
  bool load(KeyState& key, const Epoch& epoch);
  template <class V>
  void take_in(KeyState& key, Decoder& in);
  template <class V>
  bool load_version_before(KeyState& key, const Moment& begin,
                           const std::vector<const Epoch*>& left);
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
  // Adds what of the key is before `until` to the group.
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
  // A transaction that begins after this needs nothing that is on disk or being written.
  Moment guard_;
  Moment newest_dropped_;  // No later moment was dropped.
  std::uint32_t first_kept_ = 1;
  // What came back: in this epoch, what it has of this key no longer counts.
  absl::flat_hash_set<std::pair<std::uint32_t, Name>> back_;
  // The batches that were read from disk last.
  std::deque<std::pair<Arrival, std::shared_ptr<const History>>> recent_;
  Dropped dropped_;
  std::unique_ptr<Sweep> sweep_;
  // The keys of a part of the table, sorted by hash.
  std::vector<std::pair<std::uint64_t, KeyState*>> part_;
  Encoder group_;
  std::uint64_t disk_bytes_ = 0;
  std::uint64_t spilled_ = 0;
  std::uint64_t recalled_ = 0;
  std::optional<Error> error_;
};

}  // namespace ouro::stream
