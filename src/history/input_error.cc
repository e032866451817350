#include "history/input_error.h"

#include <fmt/format.h>

#include "history/access.h"

namespace ouro {

Error error_at(const Place& place, std::string what) {
  Error error;
  error.file = std::string(place.file);
  if (place.unit == PlaceUnit::Line) error.line = place.position;
  if (place.unit == PlaceUnit::Byte) error.offset = place.position;
  error.what = std::move(what);
  return error;
}

Error error_at(const History& history, OpId op, std::string what) {
  return error_at(history.place(op), std::move(what));
}

std::string no_list_text(const History& history, KeyId key, OpKind kind) {
  return fmt::format(
      "{} is a list elsewhere, but {} a single value here; a key is either a register or a list",
      history.key_label(key), looks_at_key(kind) ? "read as" : "written as");
}

}  // namespace ouro
