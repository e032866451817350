#include "stream/key_table.h"

#include <new>

namespace ouro::stream {
namespace {

// Twice as large, which costs least time; if memory is short, large ones by a quarter, since the
// slots of a table that has just doubled take as much as the keys themselves.
std::size_t grown(std::size_t slots, bool thrifty) {
  constexpr std::size_t kFirst = KeyTable::kFirstSlots;
  if (!thrifty || slots < 16 * kFirst) return slots == 0 ? kFirst : slots * 2;
  return (slots + slots / 4) / kFirst * kFirst;
}

}  // namespace

KeyState* KeyTable::find(const Name& name, std::uint64_t hash) const {
  const Part& part = parts_[part_of(hash)];
  if (part.count == 0) return nullptr;
  for (std::size_t i = part.home(hash);; i = part.next(i)) {
    const Slot& slot = part.slots()[i];
    if (slot.state == nullptr) return nullptr;
    if (slot.hash == hash && slot.state->name == name) return slot.state;
  }
}

KeyState* KeyTable::find_or_add(const Name& name, std::uint64_t hash) {
  if (KeyState* const known = find(name, hash)) return known;
  Part& part = parts_[part_of(hash)];
  // Filled by a half to three quarters, not the same everywhere: else all parts would grow at once.
  const std::size_t full = part.count / 256 * (kParts + part_of(hash) / 2);
  if (part.used >= full) resize(part, grown(part.count, thrifty_));
  auto* const state = new (pool_.take(sizeof(KeyState))) KeyState;
  state->name = name;
  state->last_epoch = last_epoch_;
  state->first_epoch = last_epoch_ == 0 ? 0 : 1;
  free_slot(part, hash) = {hash, state};
  ++part.used;
  ++size_;
  return state;
}

KeyTable::Slot& KeyTable::free_slot(const Part& part, std::uint64_t hash) {
  std::size_t i = part.home(hash);
  while (part.slots()[i].state != nullptr) i = part.next(i);
  return part.slots()[i];
}

void KeyTable::resize(Part& part, std::size_t slots) {
  Part other;
  other.memory = Pages(slots * sizeof(Slot));
  other.count = slots;
  other.used = part.used;
  for (std::size_t i = 0; i < part.count; ++i) {
    const Slot& slot = part.slots()[i];
    if (slot.state != nullptr) free_slot(other, slot.hash) = slot;
  }
  table_bytes_ += other.memory.size() - part.memory.size();
  part = std::move(other);
}

void KeyTable::clear() {
  for (Part& part : parts_) {
    for (std::size_t i = 0; i < part.count; ++i) {
      if (part.slots()[i].state != nullptr) release(part.slots()[i].state);
    }
    part = Part{};
  }
  table_bytes_ = 0;
}

}  // namespace ouro::stream
