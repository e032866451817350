// A hash table of what the stream knows of each key.
//
// The table has kParts parts, each of which grows by itself: with ten million keys in one part,
// growing would stop the stream for half a second. Within a part keys are in the order of their
// hashes, except where a slot was already taken, so that growing reads and writes memory from front
// to end. The slots of all parts of one size lie side by side, so that small parts, too, are in
// huge pages. Keys are best looked up many at once: first prefetch() for all, then find_or_add().
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

// What is known of a key: its versions and reads that are in memory, and where to look on disk for
// the others. See archive.h for stubs and epochs.
struct KeyState {
  static constexpr int kEpochBits = 26;
  static constexpr std::uint32_t kMostEpochs = (1u << kEpochBits) - 1;  // One a second: two years.

  KeyState() : registers() {}

  Name name;
  union {  // By `kind`; registers if it is unknown.
    Sequence<Version> registers;
    Sequence<ListVersion> lists;
  };
  Sequence<Read> reads = {};
  // Of a register with has_stub: the value of the newest version that was moved to disk. The stub
  // of a list is the first of its versions instead. Without a stub all versions are in memory.
  std::uint64_t stub = 0;
  // The epochs from first_epoch to last_epoch may have something of the key; both zero: none has.
  std::uint32_t last_epoch = 0;
  std::uint32_t first_epoch : kEpochBits = 0;
  KeyKind kind : 2 = KeyKind::Unknown;
  bool has_stub : 1 = false;
  // A version came so late that its place is not known. So what a read before all versions in
  // memory should return is not known, and of a list what any read should return.
  bool unsure : 1 = false;
  // A late transaction touched the key since a sweep wrote it.
  bool touched : 1 = false;
  // The last sweep that moved keys to a run of cold keys wrote this one, too.
  bool leaving : 1 = false;

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

// A KeyState with room for its first version and its first read. It fills two cache lines that are
// fetched together, so that looking at a key with one version and one read is one access to memory.
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
  // What find() most likely returns: the first key with this hash, whose name is not compared.
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
  // Saves memory at the expense of time: keys are KeyStates without spare room, and large parts
  // grow by a quarter instead of doubling.
  // REQUIRES: there are no keys yet.
  void be_thrifty() { thrifty_ = true; }
  // Keys that are added from now on may have something on disk, in epochs up to this one.
  void set_last_epoch(std::uint32_t epoch) { last_epoch_ = epoch; }
  // `hash` is name.hash(). Pointers to states are valid until these are erased.
  [[nodiscard]] KeyState* find(const Name& name, std::uint64_t hash) const;
  KeyState* find_or_add(const Name& name, std::uint64_t hash);
  // Parts are ordered by hash. There are so many that with a million keys, all states of a part fit
  // into a core's own cache.
  static constexpr int kPartBits = 9;
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;
  static constexpr std::size_t kFirstSlots = 256;  // The slots of the smallest part: one page.
  // Visits all keys of a part. `with_times`: prefetch their newest versions and reads, too.
  template <class Visit>
  void for_each(std::size_t part, const Visit& visit, bool with_times = false) const;
  // Erases the keys of a part for which `gone` returns true, and shrinks the part if few are left.
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
    std::size_t count = 0;  // How many slots there are.
    std::size_t used = 0;   // How many of them are taken.
    bool apart = false;     // Its memory is not shared with other parts, and never will be.
    // The slot where a hash should be, by the bits after those that select the part.
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
  // An empty part with `slots` slots, to replace parts_[number].
  [[nodiscard]] Part new_part(std::size_t number, std::size_t slots);
  // Moves all keys of the part to one with `slots` slots.
  void resize(std::size_t number, std::size_t slots);
  void release(KeyState* state) {
    state->clear(pool_);
    pool_.give(state, state_bytes());
    --size_;
  }

  Pool& pool_;
  std::vector<Part> parts_;
  // The slots of all parts of one size, by that size; see Part::memory.
  std::map<std::size_t, std::weak_ptr<Pages>> shared_;
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
