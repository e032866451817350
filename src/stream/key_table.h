// What the stream knows of each key.
//
// A table in parts, each of which grows by itself: with ten million keys in one, growing would stop
// the stream for half a second. Slots are in the order of the hashes, but for those that were
// taken, so that growing reads and writes memory from front to end. Parts of one size lie side by
// side, so that small ones, too, are in huge pages. Looking up is meant to be done for many keys at
// once: prefetch() all, then find_or_add() all.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "stream/fingerprint.h"
#include "stream/pool.h"
#include "stream/sequence.h"

namespace ouro::stream {

enum class KeyKind : std::uint32_t { Unknown, Register, List };

// A key with something to remember about the recent past.
struct KeyState {
  static constexpr int kEpochBits = 26;
  static constexpr std::uint32_t kMostEpochs = (1u << kEpochBits) - 1;  // One a second: two years.

  KeyState() : registers() {}

  Name name;
  union {
    Sequence<Version> registers;
    Sequence<ListVersion> lists;
  };
  Sequence<Read> reads = {};
  // Of a register: what the newest of its versions on disk holds, if there is a stub. That of a
  // list is its first version.
  std::uint64_t stub = 0;
  std::uint32_t last_epoch = 0;  // Which epochs on disk may have something of the key, or zero.
  std::uint32_t first_epoch : kEpochBits = 0;
  KeyKind kind : 2 = KeyKind::Unknown;
  bool has_stub : 1 = false;
  bool has_stored_versions : 1 = false;
  bool touched : 1 = false;  // A late transaction touched it since a sweep wrote it.
  bool leaving : 1 = false;  // It was written to a run of cold keys by the last sweep that did so.

  void prefetch_times() const {
    __builtin_prefetch(registers.tail());
    __builtin_prefetch(reads.tail());
  }
  template <class V>
  [[nodiscard]] Sequence<V>& versions();
  void clear(Pool& pool) {
    if (kind == KeyKind::List) {
      lists.clear(pool);
    } else {
      registers.clear(pool);
    }
    reads.clear(pool);
  }
};
static_assert(sizeof(KeyState) == 48);

// Two cache lines, which are fetched together: so what most of many keys have to tell costs one
// look into memory.
struct alignas(128) RoomyKeyState {
  KeyState state;
  std::array<std::byte, sizeof(Version)> version;
  std::array<std::byte, sizeof(Read)> read;

  RoomyKeyState() {
    state.registers.lend(reinterpret_cast<Version*>(version.data()));
    state.reads.lend(reinterpret_cast<Read*>(read.data()));
  }
};
static_assert(sizeof(RoomyKeyState) == 128);

template <>
inline Sequence<Version>& KeyState::versions<Version>() {
  return registers;
}
template <>
inline Sequence<ListVersion>& KeyState::versions<ListVersion>() {
  return lists;
}

class KeyTable {
 public:
  explicit KeyTable(Pool& pool) : pool_(pool), parts_(kParts) {}
  ~KeyTable() { clear(); }
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  void prefetch(std::uint64_t hash) const {
    const Part& part = parts_[part_of(hash)];
    if (part.count != 0) __builtin_prefetch(part.slots + part.home(hash));
  }
  // What find() would return in all likelihood, without a look at the state.
  [[nodiscard]] KeyState* likely(std::uint64_t hash) const {
    const Part& part = parts_[part_of(hash)];
    if (part.count == 0) return nullptr;
    for (std::size_t i = part.home(hash);; i = part.next(i)) {
      const Slot& slot = part.slots[i];
      if (slot.state == nullptr || slot.hash == hash) return slot.state;
    }
  }
  void prefetch_state(const KeyState* state) const {
    __builtin_prefetch(state, 1);
    if (!thrifty_) __builtin_prefetch(reinterpret_cast<const char*>(state) + 64, 1);
  }
  // Keys take as little as possible, and the table grows by little, however long that takes.
  // REQUIRES: there are no keys yet.
  void be_thrifty() { thrifty_ = true; }
  // New keys may have something on disk, up to this epoch.
  void set_last_epoch(std::uint32_t epoch) { last_epoch_ = epoch; }
  // `hash` is name.hash(). States stay where they are until erased.
  [[nodiscard]] KeyState* find(const Name& name, std::uint64_t hash) const;
  KeyState* find_or_add(const Name& name, std::uint64_t hash);
  // The parts are ordered by hash. So many that of a million keys all that is known of those of a
  // part fits into a core's own cache.
  static constexpr int kPartBits = 9;
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;
  static constexpr std::size_t kFirstSlots = 256;  // A page.
  // `with_times`: what is on the timelines will be looked at, too.
  template <class Visit>
  void for_each(std::size_t part, const Visit& visit, bool with_times = false) const;
  // Erases those of which `gone` says so, and gives back memory if few are left.
  template <class Gone>
  void erase_if(std::size_t part, const Gone& gone);
  void clear();

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return table_bytes_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    KeyState* state = nullptr;
  };
  struct Part {
    std::shared_ptr<Pages> memory;
    Slot* slots = nullptr;
    std::size_t count = 0;  // How many slots are taken.
    std::size_t used = 0;
    bool apart = false;  // Its memory is not shared, and never will be.
    // Where a hash should be, by the bits behind those that say which part.
    [[nodiscard]] std::size_t home(std::uint64_t hash) const {
      __extension__ using Wide = unsigned __int128;
      return static_cast<std::size_t>(static_cast<Wide>(hash << kPartBits) * count >> 64);
    }
    [[nodiscard]] std::size_t next(std::size_t slot) const { return ++slot == count ? 0 : slot; }
  };
  static std::size_t part_of(std::uint64_t hash) { return hash >> (64 - kPartBits); }
  static Slot& free_slot(const Part& part, std::uint64_t hash);
  [[nodiscard]] std::size_t state_bytes() const {
    return thrifty_ ? sizeof(KeyState) : sizeof(RoomyKeyState);
  }
  KeyState* new_state() {
    void* const place = pool_.take(state_bytes());
    return thrifty_ ? new (place) KeyState : &(new (place) RoomyKeyState)->state;
  }
  // An empty one with so many slots, in place of parts_[number].
  [[nodiscard]] Part new_part(std::size_t number, std::size_t slots);
  // Moves all to so many slots.
  void resize(std::size_t number, std::size_t slots);
  void release(KeyState* state) {
    state->clear(pool_);
    pool_.give(state, state_bytes());
    --size_;
  }

  Pool& pool_;
  std::vector<Part> parts_;
  std::map<std::size_t, std::weak_ptr<Pages>> shared_;  // By the slots of a part.
  std::size_t size_ = 0;
  std::size_t table_bytes_ = 0;
  std::uint32_t last_epoch_ = 0;
  bool thrifty_ = false;
};

template <class Visit>
void KeyTable::for_each(std::size_t number, const Visit& visit, bool with_times) const {
  constexpr std::size_t kAhead = 12;
  const Part& part = parts_[number];
  const Slot* const slots = part.slots;
  for (std::size_t i = 0; i < part.count; ++i) {
    if (i + 2 * kAhead < part.count) __builtin_prefetch(slots[i + 2 * kAhead].state);
    if (with_times && i + kAhead < part.count && slots[i + kAhead].state != nullptr) {
      slots[i + kAhead].state->prefetch_times();
    }
    if (slots[i].state != nullptr) visit(*slots[i].state, slots[i].hash);
  }
}

template <class Gone>
void KeyTable::erase_if(std::size_t number, const Gone& gone) {
  std::vector<Slot> stay;
  std::vector<Slot> erased;
  for_each(number, [&](KeyState& state, std::uint64_t hash) {
    (gone(state) ? erased : stay).push_back({hash, &state});
  });
  if (erased.empty()) return;
  Part& part = parts_[number];
  std::fill_n(part.slots, part.count, Slot{});
  for (const Slot& slot : stay) free_slot(part, slot.hash) = slot;
  for (const Slot& slot : erased) release(slot.state);
  part.used = stay.size();
  // Shrink late: where keys leave, others usually arrive.
  const std::size_t enough = part.used * 2 / kFirstSlots * kFirstSlots + kFirstSlots;
  if (enough < part.count / 3) resize(number, enough);
}

}  // namespace ouro::stream
