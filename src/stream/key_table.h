// What the stream knows of each key.
//
// A table in parts, each of which grows by itself: with ten million keys in one, growing would stop
// the stream for half a second. Looking up is meant to be done for many keys at once: prefetch()
// all, then find_or_add() all.
#pragma once

#include <cstdint>
#include <vector>

#include "stream/fingerprint.h"
#include "stream/pool.h"
#include "stream/sequence.h"

namespace ouro::stream {

enum class KeyKind : std::uint8_t { Unknown, Register, List };

// A key with something to remember about the recent past. One cache line.
struct KeyState {
  KeyState() : registers() {}

  Name name;
  union {
    Sequence<Version> registers;
    Sequence<ListVersion> lists;
  };
  Sequence<Read> reads = {};
  std::uint32_t first_epoch = 0;  // Which epochs on disk may have something of the key, …
  std::uint32_t last_epoch = 0;   // … or zero.
  KeyKind kind = KeyKind::Unknown;
  bool has_stored_versions = false;

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
    if (part.mask != 0) __builtin_prefetch(part.slots() + (hash & part.mask));
  }
  // New keys may have something on disk, up to this epoch.
  void set_last_epoch(std::uint32_t epoch) { last_epoch_ = epoch; }
  // `hash` is name.hash(). States stay where they are until erased.
  [[nodiscard]] KeyState* find(const Name& name, std::uint64_t hash) const;
  KeyState* find_or_add(const Name& name, std::uint64_t hash);
  // Forgets what `gone` says of all states it is asked about, each once; it may clear them.
  template <class Gone>
  void erase_if(const Gone& gone);
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Part& part : parts_) {
      for (std::size_t i = 0; part.mask != 0 && i <= part.mask; ++i) {
        if (part.slots()[i].state != nullptr) visit(*part.slots()[i].state);
      }
    }
  }
  void clear();

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return table_bytes_; }

 private:
  static constexpr std::size_t kParts = 64;
  struct Slot {
    std::uint64_t hash = 0;
    KeyState* state = nullptr;
  };
  struct Part {
    Pages memory;
    std::size_t mask = 0;  // Zero: no slots yet.
    std::size_t used = 0;
    [[nodiscard]] Slot* slots() const { return reinterpret_cast<Slot*>(memory.data()); }
  };
  static std::size_t part_of(std::uint64_t hash) { return hash >> 58; }
  static Slot& free_slot(const Part& part, std::uint64_t hash);
  void grow(Part& part);
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
};

template <class Gone>
void KeyTable::erase_if(const Gone& gone) {
  std::vector<Slot> stay;
  for (Part& part : parts_) {
    if (part.mask == 0) continue;
    stay.clear();
    bool any = false;
    for (std::size_t i = 0; i <= part.mask; ++i) {
      Slot& slot = part.slots()[i];
      if (slot.state == nullptr) continue;
      if (gone(*slot.state)) {
        release(slot.state);
        any = true;
      } else {
        stay.push_back(slot);
      }
    }
    if (!any) continue;
    for (std::size_t i = 0; i <= part.mask; ++i) part.slots()[i] = {};
    for (const Slot& slot : stay) free_slot(part, slot.hash) = slot;
    part.used = stay.size();
  }
}

}  // namespace ouro::stream
