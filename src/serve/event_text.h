// One event as a line of JSON.
#pragma once

#include <cstdint>
#include <string>

#include "ouro/stream.h"

namespace ouro::serving {

struct EventText {
  std::uint64_t number = 0;
  bool withdrawn = false;
  std::uint64_t withdraws = 0;
  std::string anomaly;   // "lost update"
  std::string headline;  // "session-si: lost update of x by a and b"
  double reported = 0;   // Seconds since 1970.
  std::string line;      // The JSON, with a line break.
};

// How much to tell. Brief leaves the story out, which takes longest.
enum class Telling { Full, Brief };

[[nodiscard]] EventText tell(const StreamEvent& event, Telling telling);
// What tell() returned, from its line; false if it is none.
[[nodiscard]] bool parse_event(const std::string& line, EventText& event);

}  // namespace ouro::serving
