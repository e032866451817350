// What is older than the window, on disk, and how it comes back.
//
// A sweep moves everything before some moment out of memory: versions, reads, and the batches that
// transactions came in. Of each key the newest version stays, without its details: a stub. That is
// all an on-time transaction asks for. Whoever begins before something that was moved gets it back
// first, so that the rest of the stream need not know. What came back is in memory for good: the
// next sweep moves it again, to another epoch.
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
  // of it is gone for good.
  bool prepare(KeyState& key, const Moment& begin) {
    return guard_.timestamp() < begin.timestamp() || prepare_late(key, begin);
  }
  // Brings back the details of the version that a read at `begin` should return, if possible; of a
  // list, of all that is before it.
  void detail(KeyState& key, const Moment& begin);
  [[nodiscard]] std::optional<Source> find(Arrival arrival);

  // Moves all that is before `until`, and all batches but those that came lately: begins to. The
  // errors are a disk that fails; then all is still there. `excess`: how many bytes too many are in
  // use when it is called.
  Status begin_sweep(const Moment& until, StreamTime now, std::function<std::size_t()> excess);
  [[nodiscard]] bool sweeping() const { return sweep_ != nullptr; }
  // Goes on, for about so many keys.
  Status sweep(std::size_t keys);
  Status finish_sweep();
  // Forgets epochs written before `until`. Returns the first arrival that may still be there.
  Arrival drop_before(StreamTime until);
  // Whether some epochs are gone.
  [[nodiscard]] bool has_dropped() const { return first_kept_ > 1; }

  void save(Encoder& out) const;
  // `limited`: whether there will be more sweeps.
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
  // Something went wrong on disk since the last call.
  [[nodiscard]] std::optional<Error> take_error() { return std::exchange(error_, std::nullopt); }

 private:
  struct Epoch {
    std::uint32_t number = 0;
    Moment newest;  // Of all its versions and reads.
    StreamTime written{0};
    Arrival first_txn = 0;  // Whose batches it has.
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
    std::size_t part = 0;         // Of the table, to write, let go or erase next.
    std::size_t batches = 0;      // To write.
    std::size_t batch = 0;        // Next.
    std::vector<KeyState*> keys;  // Written.
    std::size_t key = 0;          // To forget next.
    // Keys of which only the stub is left, by how many sweeps ago they were touched.
    std::array<std::uint64_t, kAges> idle{};
    bool left = false;          // Keys left, so …
    std::size_t leave_age = 0;  // … those that are older, and of this age …
    std::uint64_t share = 0;    // … so many of 2^64.
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
  // Adds what of the key is before `until`.
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
  Moment newest_;          // On disk.
  Moment guard_;           // Who begins behind this concerns nothing on disk or on the way there.
  Moment newest_dropped_;  // What is gone is not behind this.
  std::uint32_t first_kept_ = 1;
  // Chunks that came back, so the ones on disk are no longer true.
  absl::flat_hash_set<std::pair<std::uint32_t, Name>> back_;
  std::deque<std::pair<Arrival, std::shared_ptr<const History>>> recent_;  // Batches read last.
  Dropped dropped_;
  std::unique_ptr<Sweep> sweep_;
  std::vector<std::pair<std::uint64_t, KeyState*>> part_;  // Of the table, by hash.
  Encoder group_;
  std::uint64_t disk_bytes_ = 0;
  std::uint64_t spilled_ = 0;
  std::uint64_t recalled_ = 0;
  std::optional<Error> error_;
};

}  // namespace ouro::stream
