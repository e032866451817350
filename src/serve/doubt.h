// What a source cannot be judged by, because its recorder made a mistake or lost something.
//
// A violation must be the database's own. Once transactions are missing, a read may have returned
// what one of them wrote, so that reads prove nothing any more, earlier ones neither: the missing
// transaction may have committed long ago. What known transactions show by themselves, such as two
// writers that overlap, still counts. If a recorder says that it was wrong, nothing counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ouro/stream.h"

namespace ouro::serving {

struct Doubt {
  enum class Scope : std::uint8_t {
    None,        // Something to be told, which no verdict depends on.
    Reads,       // Transactions are missing.
    Everything,  // What was recorded may be wrong; nothing of it is judged any more.
  };
  std::uint64_t number = 0;  // Of the source's doubts, from one.
  Scope scope = Scope::None;
  std::string reason;
  StreamTime at{0};  // When the service heard of it.
};

inline constexpr std::size_t kMaxReasonBytes = 1000;

// "reads", "everything"
[[nodiscard]] std::string_view name(Doubt::Scope scope);
// Whether a violation of this kind may be none.
[[nodiscard]] bool doubtful(Doubt::Scope scope, AnomalyKind kind);
// Counts as undecided what `scope` leaves open.
void leave_open(Doubt::Scope scope, StreamSummary& summary);
// Says that an event is undecided, if it is a violation that may be none.
void leave_open(Doubt::Scope scope, StreamEvent& event);
// The beginning of a text that is not longer than a reason can be; whole characters of UTF-8.
[[nodiscard]] std::string reason_of(std::string_view text);

}  // namespace ouro::serving
