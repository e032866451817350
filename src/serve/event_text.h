// Turns an event of the stream into a line of JSON, and back.
#pragma once

#include <cstdint>
#include <string>

#include "ouro/stream.h"

namespace ouro::serving {

struct EventText {
  std::uint64_t number = 0;
  bool withdrawn = false;       // The event takes back an earlier one: it was no violation.
  std::uint64_t withdraws = 0;  // The number of that earlier event.
  std::string anomaly;          // "lost update"
  std::string headline;         // "lost update: sessions a, b"
  double reported = 0;          // Seconds since 1970.
  std::string line;             // The JSON, with a line break.
};

// Brief leaves out the explanation in words, which takes longest to make.
enum class Telling { Full, Brief };

[[nodiscard]] EventText tell(const StreamEvent& event, Telling telling);
// Restores what tell() returned from its line; false if `line` is not such a line.
[[nodiscard]] bool parse_event(const std::string& line, EventText& event);

}  // namespace ouro::serving
