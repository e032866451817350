// What is known of each key between two segments of a history (check_segments.cc): its newest
// version, or which segment has to say what that is.
//
// Values are kept outside of any history, so that none of those that went by stays in memory.
// Equality is that of the values themselves, not of hashes.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "ouro/history_builder.h"

namespace ouro::segments {

// A value that needs no history. Not a list.
class KeptValue {
 public:
  KeptValue() = default;  // Null.
  KeptValue(const History& history, Value value);

  // The same value, as one of `builder`.
  [[nodiscard]] Value in(HistoryBuilder& builder) const;
  [[nodiscard]] bool operator==(const KeptValue& other) const {
    return bits_ == other.bits_ && (text_ == nullptr) == (other.text_ == nullptr) &&
           (text_ == nullptr || *text_ == *other.text_);
  }

  template <class H>
  friend H AbslHashValue(H h, const KeptValue& value) {
    h = H::combine(std::move(h), value.bits_);
    return value.text_ == nullptr ? std::move(h) : H::combine(std::move(h), *value.text_);
  }

 private:
  std::uint64_t bits_ = Value::null().bits();  // The handle; of what is in a pool only the kind.
  std::shared_ptr<const std::string> text_;    // What is in the pool.
};

// The number of a key in a SegmentKeys.
using KeyNumber = std::uint32_t;

struct SegmentKey {
  enum class Kind : std::uint8_t {
    Known,    // It has `value`, in every legal order.
    Pending,  // It has one of the values that `unsettled` of segment `segment` names.
    Unknown,  // Nobody knows.
  };
  Kind kind = Kind::Unknown;
  KeptValue value;
  std::uint32_t segment = 0;
  std::uint32_t unsettled = 0;
};

class SegmentKeys {
 public:
  // The number of a key of `history`. A new key has its initial value; or, after forget(), nobody
  // knows what.
  KeyNumber number(const History& history, KeyId key);
  [[nodiscard]] SegmentKey& operator[](KeyNumber key) { return states_[key]; }

  // What keys hold at the start.
  void initial(KeptValue of_all) { initial_ = std::move(of_all); }
  // What a single key holds at the start. False if it is too late: the key was met before, and
  // held something else.
  [[nodiscard]] bool initial(const History& history, KeyId key);
  // From here on nobody knows what any key holds.
  void forget();

 private:
  std::pair<KeyNumber, bool> find_or_add(const History& history, KeyId key);

  absl::flat_hash_map<std::int64_t, KeyNumber> integers_;  // By name.
  absl::flat_hash_map<std::string, KeyNumber> texts_;      // Others, by name as JSON.
  std::vector<SegmentKey> states_;
  KeptValue initial_;
  bool forgotten_ = false;
};

}  // namespace ouro::segments
