// What the stream knows of each key.
//
// A table in parts, each of which grows by itself: with ten million keys in one, growing would stop
// the stream for half a second. Slots are in the order of the hashes, but for those that were
// taken, so that growing reads and writes memory from front to end. Looking up is meant to be done
// for many keys at once: prefetch() all, then find_or_add() all.
#pragma once

#include <cstdint>
#include <vector>

#include "stream/fingerprint.h"
#include "stream/pool.h"
#include "stream/sequence.h"

namespace ouro::stream {

enum class KeyKind : std::uint32_t { Unknown, Register, List };

// A key with something to remember about the recent past. One cache line.
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
  bool touched : 1 = false;  // By someone late, since a sweep wrote it.
  bool leaving : 1 = false;  // It was written to a run of cold keys by the last sweep that did so.

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
static_assert(sizeof(KeyState) == 64);

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
    if (part.count != 0) __builtin_prefetch(part.slots() + part.home(hash));
  }
  // What find() would return in all likelihood, without a look at the state.
  [[nodiscard]] KeyState* likely(std::uint64_t hash) const {
    const Part& part = parts_[part_of(hash)];
    if (part.count == 0) return nullptr;
    for (std::size_t i = part.home(hash);; i = part.next(i)) {
      const Slot& slot = part.slots()[i];
      if (slot.state == nullptr || slot.hash == hash) return slot.state;
    }
  }
  // Grows by little from here on, however long that takes.
  void be_thrifty() { thrifty_ = true; }
  // New keys may have something on disk, up to this epoch.
  void set_last_epoch(std::uint32_t epoch) { last_epoch_ = epoch; }
  // `hash` is name.hash(). States stay where they are until erased.
  [[nodiscard]] KeyState* find(const Name& name, std::uint64_t hash) const;
  KeyState* find_or_add(const Name& name, std::uint64_t hash);
  // The parts are ordered by hash.
  static constexpr int kPartBits = 7;
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;
  static constexpr std::size_t kFirstSlots = 256;  // A page.
  template <class Visit>
  void for_each(std::size_t part, const Visit& visit) const;
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
    Pages memory;
    std::size_t count = 0;  // Of slots.
    std::size_t used = 0;
    [[nodiscard]] Slot* slots() const { return reinterpret_cast<Slot*>(memory.data()); }
    // Where a hash should be, by the bits behind those that say which part.
    [[nodiscard]] std::size_t home(std::uint64_t hash) const {
      __extension__ using Wide = unsigned __int128;
      return static_cast<std::size_t>(static_cast<Wide>(hash << kPartBits) * count >> 64);
    }
    [[nodiscard]] std::size_t next(std::size_t slot) const { return ++slot == count ? 0 : slot; }
  };
  static std::size_t part_of(std::uint64_t hash) { return hash >> (64 - kPartBits); }
  static Slot& free_slot(const Part& part, std::uint64_t hash);
  // Moves all to so many slots.
  void resize(Part& part, std::size_t slots);
  void release(KeyState* state) {
    state->clear(pool_);
    pool_.give(state, sizeof(KeyState));
    --size_;
  }

  Pool& pool_;
  std::vector<Part> parts_;
  std::size_t size_ = 0;
  std::size_t table_bytes_ = 0;
  std::uint32_t last_epoch_ = 0;
  bool thrifty_ = false;
};

template <class Visit>
void KeyTable::for_each(std::size_t number, const Visit& visit) const {
  constexpr std::size_t kAhead = 8;
  const Part& part = parts_[number];
  const Slot* const slots = part.slots();
  for (std::size_t i = 0; i < part.count; ++i) {
    if (i + kAhead < part.count) __builtin_prefetch(slots[i + kAhead].state);
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
  for (std::size_t i = 0; i < part.count; ++i) part.slots()[i] = {};
  for (const Slot& slot : stay) free_slot(part, slot.hash) = slot;
  for (const Slot& slot : erased) release(slot.state);
  part.used = stay.size();
  const std::size_t enough = part.used * 2 / kFirstSlots * kFirstSlots + kFirstSlots;
  if (enough < part.count - part.count / 4) resize(part, enough);
}

}  // namespace ouro::stream
