#include "base/half_written.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

namespace ouro {
namespace {

// The names are in memory that nobody frees, since a signal handler may read them at any time.
constexpr std::size_t kSlots = 16;        // Further files at a time are not removed by a signal.
constexpr std::size_t kNameBytes = 4096;  // Nor are files with longer names.

enum class SlotState : int { Free, Changing, Named };

struct Slot {
  std::atomic<SlotState> state{SlotState::Free};
  char name[kNameBytes];
};
static_assert(std::atomic<SlotState>::is_always_lock_free, "a signal handler uses it");

Slot g_slots[kSlots];

bool claim(Slot& slot, SlotState from) {
  return slot.state.compare_exchange_strong(from, SlotState::Changing);
}

}  // namespace

HalfWritten::HalfWritten(std::string path) : path_(std::move(path)) {
  if (path_.size() >= kNameBytes) return;
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (!claim(g_slots[i], SlotState::Free)) continue;
    std::memcpy(g_slots[i].name, path_.c_str(), path_.size() + 1);
    g_slots[i].state = SlotState::Named;
    slot_ = i;
    return;
  }
}

HalfWritten::~HalfWritten() {
  if (!finished_) ::unlink(path_.c_str());
  forget();
}

void HalfWritten::abandon() {
  finished_ = true;
  forget();
}

bool HalfWritten::finish(const std::string& final_name) {
  finished_ = std::rename(path_.c_str(), final_name.c_str()) == 0;
  return finished_;
}

// A slot that a signal handler has claimed stays as it is: the process ends.
void HalfWritten::forget() {
  if (slot_ != kNoSlot && claim(g_slots[slot_], SlotState::Named)) {
    g_slots[slot_].state = SlotState::Free;
  }
}

void HalfWritten::remove_all() noexcept {
  for (Slot& slot : g_slots) {
    if (claim(slot, SlotState::Named)) ::unlink(slot.name);
  }
}

}  // namespace ouro
