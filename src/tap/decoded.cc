#include "tap/decoded.h"

#include <charconv>

namespace ouro::tapping {
namespace {

bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// An identifier as SQL quotes it, up to one of `ends`.
bool take_identifier(std::string_view& text, std::string_view ends, std::string& out) {
  out.clear();
  if (!skip(text, "\"")) {
    const std::size_t end = text.find_first_of(ends);
    if (end == text.npos || end == 0) return false;
    out = text.substr(0, end);
    text.remove_prefix(end);
    return true;
  }
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c != '"') {
      out += c;
    } else if (!skip(text, "\"")) {
      return !text.empty() && ends.find(text[0]) != ends.npos;
    } else {
      out += '"';
    }
  }
  return false;
}

// The type in brackets; it may have brackets and quotes itself.
bool take_type(std::string_view& text) {
  if (!skip(text, "[")) return false;
  bool quoted = false;
  int open = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    open += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (open > 0) continue;
    text.remove_prefix(at + 1);
    return skip(text, ":");
  }
  return false;
}

// A value up to a blank or the end; in quotes, which are doubled within, or bare.
bool take_value(std::string_view& text, LogCell& cell) {
  if (text.starts_with("B'")) text.remove_prefix(1);
  if (!skip(text, "'")) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    cell.null = word == "null";
    cell.unchanged = word == "unchanged-toast-datum";
    cell.text = word;
    return !word.empty();
  }
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c != '\'') {
      cell.text += c;
    } else if (!skip(text, "'")) {
      return text.empty() || text[0] == ' ';
    } else {
      cell.text += '\'';
    }
  }
  return false;
}

// " column[type]:value" again and again, up to the end or `stop`.
bool take_cells(std::string_view& text, std::string_view stop, std::vector<LogCell>& cells) {
  while (!text.empty()) {
    if (!stop.empty() && skip(text, stop)) return true;
    if (text == " (no-tuple-data)") return false;
    LogCell cell;
    if (!skip(text, " ") || !take_identifier(text, "[", cell.column) || !take_type(text) ||
        !take_value(text, cell)) {
      return false;
    }
    cells.push_back(std::move(cell));
  }
  return stop.empty();
}

bool parse_change(std::string_view text, Decoded& decoded) {
  if (!take_identifier(text, ".", decoded.schema) || !skip(text, ".") ||
      !take_identifier(text, ":,", decoded.table)) {
    return false;
  }
  if (text.starts_with(',') || text.starts_with(": TRUNCATE:")) {
    decoded.kind = Decoded::Kind::Truncate;
    return true;
  }
  if (skip(text, ": INSERT:")) {
    decoded.kind = Decoded::Kind::Insert;
  } else if (skip(text, ": UPDATE:")) {
    decoded.kind = Decoded::Kind::Update;
    if (skip(text, " old-key:") && !take_cells(text, " new-tuple:", decoded.before)) return false;
  } else if (skip(text, ": DELETE:")) {
    decoded.kind = Decoded::Kind::Delete;
  } else {
    return false;
  }
  // Of a row of a table without a primary key.
  if (text == " (no-tuple-data)") return decoded.kind == Decoded::Kind::Delete;
  return take_cells(text, "", decoded.cells) && !decoded.cells.empty();
}

}  // namespace

std::optional<Decoded> parse_decoded(std::string_view line) {
  Decoded decoded;
  const bool begin = skip(line, "BEGIN ");
  if (begin || skip(line, "COMMIT ")) {
    decoded.kind = begin ? Decoded::Kind::Begin : Decoded::Kind::Commit;
    const auto [end, problem] =
        std::from_chars(line.data(), line.data() + line.size(), decoded.txn);
    if (problem != std::errc()) return std::nullopt;
    return decoded;
  }
  if (skip(line, "table ")) {
    if (!parse_change(line, decoded)) return std::nullopt;
    return decoded;
  }
  if (skip(line, "message: ")) {
    decoded.kind = Decoded::Kind::Message;
    const std::size_t prefix = line.find("prefix: ");
    const std::size_t size = line.find(", sz: ", prefix);
    const std::size_t content = line.find(" content:", size);
    if (prefix == line.npos || size == line.npos || content == line.npos) return std::nullopt;
    decoded.message = line.substr(prefix + 8, size - prefix - 8);
    decoded.message += ' ';
    decoded.message += line.substr(content + 9);
    return decoded;
  }
  return std::nullopt;
}

}  // namespace ouro::tapping
