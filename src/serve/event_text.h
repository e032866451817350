// Turns an event of the stream into a line of JSON, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ouro/stream.h"
#include "serve/doubt.h"

namespace ouro::serving {

struct EventText {
  std::uint64_t number = 0;         // Of all events of the service.
  std::uint64_t in_source = 0;      // Of the events of its source.
  std::uint32_t source_number = 0;  // See sources.h.
  std::string source;               // The name of the source.
  StreamEvent::What what = StreamEvent::What::Violation;
  std::uint64_t withdraws = 0;  // The earlier event that it takes back, by its number in_source.
  std::string anomaly;          // "lost update"
  std::string counted_as;       // The name of the anomaly's kind, whatever its story is called.
  std::string headline;         // "lost update: sessions a, b"
  double reported = 0;          // Seconds since 1970.
  std::uint64_t doubt = 0;      // The number of the doubt that it tells of; zero: of none.
  std::string line;             // The JSON, with a line break.
};

// Brief leaves out the explanation in words, which takes longest to make.
enum class Telling { Full, Brief };

// "violation", "withdrawal", "undecided"
[[nodiscard]] std::string_view kind_name(StreamEvent::What what);

// An event, and which one it is.
struct NumberedEvent {
  std::uint64_t number = 0;  // Of all events of the service; zero: not known yet, see renumber().
  std::uint32_t source_number = 0;
  std::string source;
  StreamEvent event;
  Doubt doubt = {};  // If its number is not zero, that is the event.
};

[[nodiscard]] EventText tell(const NumberedEvent& event, Telling telling);
// Gives an event that was told without one its number of all events of the service.
void renumber(EventText& event, std::uint64_t number);
// Restores what tell() returned from its line; false if `line` is not such a line.
[[nodiscard]] bool parse_event(const std::string& line, EventText& event);

}  // namespace ouro::serving
