#include "report/notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "history/columns.h"
#include "history/commuting.h"
#include "history/json_text.h"
#include "ouro/stats.h"

namespace ouro {
namespace {

// In bytes: longer texts keep their head and tail.
constexpr std::size_t kLongText = 48;
constexpr std::size_t kHead = 30;
constexpr std::size_t kTail = 12;
// In elements: longer lists keep the first and last three.
constexpr std::size_t kLongList = 8;
constexpr std::size_t kListEnd = 3;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string shortened(std::string text) {
  if (text.size() <= kLongText) return text;
  std::size_t head = kHead;
  while (head > 0 && continues_character(text[head])) --head;
  std::size_t tail = text.size() - kTail;
  while (tail < text.size() && continues_character(text[tail])) ++tail;
  return text.substr(0, head) + "…" + text.substr(tail);
}

// `shown`: the indexes of the elements that are shown, ascending.
std::string short_list(const History& history, Value value, std::span<const std::size_t> shown) {
  const auto elements = history.list(value);
  std::string out = "[";
  std::size_t next = 0;
  for (const std::size_t i : shown) {
    if (next != 0) out += ',';
    if (i > next) out += fmt::format("{}… {} more … ,", next == 0 ? "" : " ", i - next);
    out += shortened(history.text(elements[i]));
    next = i + 1;
  }
  if (next < elements.size()) out += fmt::format(", … {} more", elements.size() - next);
  return out + ']';
}

// The indexes of the elements to show: all of a short list; of a long one the first and last, and
// those at `around` with their neighbours.
std::vector<std::size_t> shown_elements(std::size_t count, std::span<const std::size_t> around) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < count; ++i) {
    const bool near = std::any_of(around.begin(), around.end(),
                                  [&](std::size_t at) { return i + 1 >= at && i <= at + 1; });
    const std::size_t end = around.empty() ? kListEnd : 1;
    if (count <= kLongList || near || i < end || i + end >= count) shown.push_back(i);
  }
  return shown;
}

// Leaves out whole cells of a long row, those that matter last: cut in the middle, it would look
// like another row.
std::string short_row(const History& history, Value value, std::span<const ColumnId> matter) {
  std::string whole = history.text(value);
  if (whole.size() <= kLongText) return whole;
  std::vector<Cell> cells(history.row(value).begin(), history.row(value).end());
  const auto rank = [&](const Cell& cell) {
    return std::find(matter.begin(), matter.end(), cell.column) - matter.begin();
  };
  std::stable_sort(cells.begin(), cells.end(),
                   [&](const Cell& one, const Cell& other) { return rank(one) < rank(other); });
  std::string out = "{";
  std::size_t shown = 0;
  for (; shown < cells.size(); ++shown) {
    std::string cell = shown == 0 ? "" : ",";
    append_json_string(cell, shortened(std::string(history.column_name(cells[shown].column))));
    cell += ":" + shortened(history.text(cells[shown].value));
    if (shown > 0 && out.size() + cell.size() > kLongText) break;
    out += cell;
  }
  if (shown < cells.size()) out += fmt::format(", … {} more", cells.size() - shown);
  return out + '}';
}

std::string set_notation(const History& history, std::string_view set, const PredicateRead& read) {
  std::string out = fmt::format("r {}={{", shortened(std::string(set)));
  constexpr std::size_t kShown = 8;
  const auto rows = history.rows(read);
  for (std::size_t i = 0; i < rows.size() && i < kShown; ++i) {
    out += (i == 0 ? "" : ",") + short_text(history, rows[i].value);
  }
  if (rows.size() > kShown) out += fmt::format(", … {} more", rows.size() - kShown);
  return out + '}';
}

std::string predicate_notation(const History& history, const Op& op) {
  const PredicateRead& read = history.predicate_read(op.id);
  if (const std::string_view set = set_read(history, op.kind, read); !set.empty()) {
    return set_notation(history, set, read);
  }
  if (const Value counter = counter_read(history, op.kind, read); !counter.is_null()) {
    return fmt::format("r {}={}", shortened(history.label(counter)),
                       short_text(history, read.result));
  }
  if (op.kind == OpKind::Aggregate) {
    return fmt::format("{}={}", name(read.aggregate), short_text(history, read.result));
  }
  const std::string rows = counted(read.row_count, "row");
  if (op.kind == OpKind::Select) return fmt::format("select ({})", rows);
  const auto end = [&](Value bound) {
    return bound.is_null() ? std::string() : shortened(history.label(bound));
  };
  return fmt::format("scan {}..{} ({})", end(read.lower), end(shown_upper(history, read)), rows);
}

}  // namespace

std::string short_text(const History& history, Value value, const Focus& focus) {
  if (value.is_unobserved()) return "?";
  if (value.is_list()) return list_around(history, value, focus.elements);
  if (value.kind() == ValueKind::Row) return short_row(history, value, focus.columns);
  return shortened(history.text(value));
}

std::string list_around(const History& history, Value list, std::span<const Value> elements) {
  const auto all = history.list(list);
  std::vector<std::size_t> around;
  for (const Value element : elements) {
    const auto at = std::find(all.begin(), all.end(), element);
    if (at != all.end()) around.push_back(static_cast<std::size_t>(at - all.begin()));
  }
  return short_list(history, list, shown_elements(all.size(), around));
}

std::string short_key(const History& history, KeyId key) {
  return shortened(history.key_label(key));
}

std::string assignment(const History& history, KeyId key, Value value, const Focus& focus) {
  return fmt::format("{}={}", short_key(history, key), short_text(history, value, focus));
}

std::string cas_notation(const History& history, const Op& op) {
  const OpId first{info(op.kind).first ? op.id.index() : op.id.index() - 1};
  return fmt::format("cas {} {}→{}", short_key(history, op.key),
                     short_text(history, history.op(first).value),
                     short_text(history, history.op(OpId{first.index() + 1}).value));
}

namespace {

std::string inc_notation(const History& history, const Op& op) {
  const Op first = history.op(OpId{op.id.index() - (info(op.kind).second ? 1 : 0)});
  const auto row = counter_row(history, first.value);
  if (!row) return fmt::format("w {}", assignment(history, op.key, op.value));
  return fmt::format("inc {} {}", shortened(history.label(row->counter)),
                     increment_text(history, first));
}

}  // namespace

// An undone write like the write that it would be.
std::string undone_notation(const History& history, Op op) {
  if (const auto row = incremented_row(history, op)) {
    return fmt::format("inc {} {} (rolled back)", shortened(history.label(row->counter)),
                       increment_text(history, op));
  }
  op.kind = !added_set(history, op).empty()   ? OpKind::Add
            : op.kind == OpKind::UndoneWrite  ? OpKind::Write
            : op.kind == OpKind::UndoneDelete ? OpKind::Delete
                                              : OpKind::Append;
  return notation(history, op) + " (rolled back)";
}

std::string notation(const History& history, const Op& op, const Focus& focus) {
  const OpInfo& kind = info(op.kind);
  if (kind.undone) return undone_notation(history, op);
  if (kind.kind == OpKind::Inc || kind.kind == OpKind::IncMark) return inc_notation(history, op);
  if (kind.kind == OpKind::Add) {
    return fmt::format("add {} {}",
                       shortened(std::string(set_of(history, history.key_name(op.key)))),
                       short_text(history, op.value));
  }
  if (kind.predicate) return predicate_notation(history, op);
  if (kind.first || kind.second) {
    const bool failed = !is_read(op.kind) && !is_write(op.kind);
    return cas_notation(history, op) + (failed ? " failed" : "");
  }
  if (kind.model == KeyModel::List) {
    return fmt::format("{} {} {}", kind.name, short_key(history, op.key),
                       short_text(history, op.value));
  }
  const std::string_view word = kind.deletes ? kind.name : kind.word;
  if (kind.deletes && op.value.is_null()) {
    return fmt::format("{} {}", word, short_key(history, op.key));
  }
  return fmt::format("{} {}", word, assignment(history, op.key, op.value, focus));
}

std::string place_notation(const History& history, const Op& op, const Focus& focus) {
  if (op.kind == OpKind::IncMark) return "(inc)";
  return info(op.kind).second ? "→ " + short_text(history, op.value, focus)
                              : notation(history, op, focus);
}

std::string whereabouts(const History& history, TxnId txn) {
  std::string out =
      history.has_session(txn)
          ? "session " + shortened(history.label(history.session_name(history.session(txn))))
          : "no session";
  const Place place = history.place(txn);
  if (place.unit == PlaceUnit::None) {
    out += fmt::format(", transaction {}", txn.value + 1);
  } else if (columns_of(history).files.size() > 1) {
    out += ", " + place.to_string();
  } else {
    out += fmt::format(", {} {}", place.unit == PlaceUnit::Line ? "line" : "byte", place.position);
  }
  if (!history.txn_name(txn).is_null()) {
    out += ", id " + shortened(history.label(history.txn_name(txn)));
  }
  if (history.status(txn) != TxnStatus::Committed) {
    out += fmt::format(", {}", name(history.status(txn)));
  }
  return out;
}

std::string notation(Timestamp timestamp) {
  if (timestamp.logical == 0) return std::to_string(timestamp.physical);
  return fmt::format("[{},{}]", timestamp.physical, timestamp.logical);
}

std::string timestamps_text(const History& history, TxnId txn) {
  const auto text = [](std::optional<Timestamp> timestamp) {
    return timestamp ? notation(*timestamp) : std::string("?");
  };
  return fmt::format("from {} to {}", text(history.start_ts(txn)), text(history.commit_ts(txn)));
}

std::string name_or_file(const History& history, std::string_view name) {
  if (!name.empty()) return std::string(name);
  return history.file().empty() ? "history" : std::string(history.file());
}

std::string_view remark_of(const History& history, std::string_view name) {
  for (const Remark& remark : history.remarks()) {
    if (remark.name == name) return remark.text;
  }
  return {};
}

std::string_view clock_unit(const History& history) {
  constexpr std::string_view kUnits[] = {"nanoseconds", "microseconds", "milliseconds", "seconds"};
  const std::string_view clock = remark_of(history, "clock");
  const auto at = std::find(std::begin(kUnits), std::end(kUnits), clock);
  return at == std::end(kUnits) ? std::string_view() : *at;
}

std::string with_article(std::string_view name) {
  const bool vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", name);
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string duration(double seconds) {
  if (seconds < 0.00995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace ouro
