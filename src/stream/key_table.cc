#include "stream/key_table.h"

#include <new>

namespace ouro::stream {
namespace {

constexpr std::size_t kFirstSlots = 256;  // A page.

}  // namespace

KeyState* KeyTable::find(const Name& name, std::uint64_t hash) const {
  const Part& part = parts_[part_of(hash)];
  if (part.mask == 0) return nullptr;
  for (std::size_t i = hash & part.mask;; i = (i + 1) & part.mask) {
    const Slot& slot = part.slots()[i];
    if (slot.state == nullptr) return nullptr;
    if (slot.hash == hash && slot.state->name == name) return slot.state;
  }
}

KeyState* KeyTable::find_or_add(const Name& name, std::uint64_t hash) {
  if (KeyState* const known = find(name, hash)) return known;
  Part& part = parts_[part_of(hash)];
  // Filled by a half to three quarters, not the same everywhere: else all parts would grow at once.
  const std::size_t full = (part.mask + 1) / 256 * (kParts + part_of(hash) / 2);
  if (part.mask == 0 || part.used >= full) grow(part);
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
  std::size_t i = hash & part.mask;
  while (part.slots()[i].state != nullptr) i = (i + 1) & part.mask;
  return part.slots()[i];
}

void KeyTable::grow(Part& part) {
  const std::size_t slots = part.mask == 0 ? kFirstSlots : (part.mask + 1) * 2;
  Part larger;
  larger.memory = Pages(slots * sizeof(Slot));
  larger.mask = slots - 1;
  larger.used = part.used;
  for (std::size_t i = 0; part.mask != 0 && i <= part.mask; ++i) {
    const Slot& slot = part.slots()[i];
    if (slot.state != nullptr) free_slot(larger, slot.hash) = slot;
  }
  table_bytes_ += larger.memory.size() - part.memory.size();
  part = std::move(larger);
}

void KeyTable::clear() {
  for (Part& part : parts_) {
    for (std::size_t i = 0; part.mask != 0 && i <= part.mask; ++i) {
      if (part.slots()[i].state != nullptr) release(part.slots()[i].state);
    }
    part = Part{};
  }
  table_bytes_ = 0;
}

}  // namespace ouro::stream
