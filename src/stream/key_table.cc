#include "stream/key_table.h"

namespace ouro::stream {
namespace {

// How many slots a part that is full should have. Doubling costs least time. If memory is short,
// large parts grow by a quarter, since after doubling the slots take as much memory as the keys.
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
    const Slot& slot = part.slots[i];
    if (slot.state == nullptr) return nullptr;
    if (slot.hash == hash && slot.state->name == name) return slot.state;
  }
}

KeyState* KeyTable::find_or_add(const Name& name, std::uint64_t hash) {
  if (KeyState* const known = find(name, hash)) return known;
  Part& part = parts_[part_of(hash)];
  // A part grows when it is filled by a half to three quarters, depending on its number: otherwise
  // all parts would grow at the same time.
  const std::size_t full = part.count / 256 * (128 + part_of(hash) * 64 / kParts);
  if (part.used >= full) resize(part_of(hash), grown(part.count, thrifty_));
  KeyState* const state = new_state();
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
  while (part.slots[i].state != nullptr) i = part.next(i);
  return part.slots[i];
}

KeyTable::Part KeyTable::new_part(std::size_t number, std::size_t slots) {
  const std::size_t bytes = slots * sizeof(Slot);
  Part part;
  part.count = slots;
  // Shared memory is not cleared when a part leaves it. A part that shrank might come back to
  // memory it had before and find its old slots there; so it gets memory of its own.
  part.apart = thrifty_ || parts_[number].apart || slots < parts_[number].count;
  if (part.apart) {
    part.memory = std::make_shared<Pages>(bytes);
    part.slots = reinterpret_cast<Slot*>(part.memory->data());
    return part;
  }
  std::weak_ptr<Pages>& known = shared_[slots];
  part.memory = known.lock();
  if (part.memory == nullptr) {
    part.memory = std::make_shared<Pages>(bytes * kParts);
    known = part.memory;
  }
  part.slots = reinterpret_cast<Slot*>(part.memory->data() + bytes * number);
  return part;
}

void KeyTable::resize(std::size_t number, std::size_t slots) {
  Part& part = parts_[number];
  Part other = new_part(number, slots);
  other.used = part.used;
  for (std::size_t i = 0; i < part.count; ++i) {
    const Slot& slot = part.slots[i];
    if (slot.state != nullptr) free_slot(other, slot.hash) = slot;
  }
  table_bytes_ += (other.count - part.count) * sizeof(Slot);
  part = std::move(other);
}

void KeyTable::clear() {
  for (Part& part : parts_) {
    for (std::size_t i = 0; i < part.count; ++i) {
      if (part.slots[i].state != nullptr) release(part.slots[i].state);
    }
    part = Part{};
  }
  table_bytes_ = 0;
}

}  // namespace ouro::stream
