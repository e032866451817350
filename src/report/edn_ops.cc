#include "report/edn_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/access.h"
#include "history/commuting.h"
#include "history/edn_keyword.h"
#include "history/json_text.h"
#include "report/json_writer.h"

namespace ouro {

std::string edn_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string edn_in_one_line(std::string_view form) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const char c = form[i];
    const bool breaks = c == '\n' || c == '\r';
    if (c == ';' && !in_string) {
      i = std::min(form.find('\n', i), form.size());
      out += ' ';
    } else if (breaks) {
      out += in_string ? (c == '\n' ? "\\n" : "\\r") : " ";
    } else {
      out += c;
      if (c == '"') in_string = !in_string;
      // A character, or one that is escaped, has no other meaning.
      if (c == '\\' && i + 1 < form.size()) out += form[++i];
    }
  }
  return out;
}

std::string EdnOps::value(Value value) const {
  switch (value.kind()) {
    case ValueKind::Null:
    case ValueKind::Unobserved:
      return "nil";
    case ValueKind::Text:
      if (is_edn_keyword(h_.string(value))) return std::string(h_.string(value));
      return edn_string(shown_name(h_.string(value)));
    case ValueKind::Decimal:
    case ValueKind::Float:
      return edn_number(value.kind(), h_.string(value));
    case ValueKind::List: {
      std::string out = "[";
      for (const Value element : h_.list(value)) {
        out += (out.size() > 1 ? " " : "") + this->value(element);
      }
      return out + ']';
    }
    case ValueKind::Row: {
      std::string out = "{";
      for (const Cell& cell : h_.row(value)) {
        out += fmt::format("{}{} {}", out.size() > 1 ? ", " : "",
                           edn_string(h_.column_name(cell.column)), this->value(cell.value));
      }
      return out + '}';
    }
    default:
      return h_.text(value);
  }
}

std::string EdnOps::micro_op(OpId id) const {
  const Op op = h_.op(id);
  if (is_predicate_read(op.kind)) return fmt::format("[:{} nil nil]", info(op.kind).name);
  if (op.kind == OpKind::Inc || op.kind == OpKind::IncMark || op.kind == OpKind::Add) {
    return fmt::format("[:{} nil nil]", info(op.kind).word);
  }
  if (info(op.kind).first || info(op.kind).second) {
    const OpId first{info(op.kind).first ? id.index() : id.index() - 1};
    return fmt::format("[:cas {} [{} {}]]", key(op.key), value(h_.op(first).value),
                       value(h_.op(OpId{first.index() + 1}).value));
  }
  const std::string_view word = is_read(op.kind) ? "r" : is_append(op.kind) ? "append" : "w";
  return fmt::format("[:{} {} {}]", word, key(op.key), value(op.value));
}

std::uint64_t EdnOps::place(OpId op) const {
  std::uint64_t place = 0;
  for (OpId id = h_.first_op(h_.txn_of(op)); id < op; ++id.value) {
    if (!info(h_.op(OpId{id.index() + 1}).kind).second) ++place;
  }
  return place;
}

RecordedLines::Line EdnOps::line(TxnId txn, bool invoked) const {
  if (lines_ == nullptr) return {};
  const auto& lines = invoked ? lines_->invocations : lines_->completions;
  return txn.index() < lines.size() ? lines[txn.index()] : RecordedLines::Line{};
}

std::string EdnOps::recorded(const RecordedLines::Line& line) const {
  const std::string_view all = lines_->text;
  const std::string map = edn_in_one_line(all.substr(line.begin, line.end - line.begin));
  return line.has_index ? map : fmt::format("{{:index {}, {}", line.index, map.substr(1));
}

std::string EdnOps::made(TxnId txn, bool invoked) const {
  std::string ops;
  for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
    if (info(h_.op(id).kind).second) continue;
    ops += (ops.empty() ? "" : " ") + micro_op(id);
  }
  constexpr std::string_view kTypes[] = {"ok", "fail", "info"};
  const std::int64_t index = line(txn, invoked).index;
  return fmt::format("{{:index {}, :process {}, :type :{}, :f :txn, :value [{}]}}",
                     index < 0 ? static_cast<std::int64_t>(txn.index()) : index,
                     value(h_.session_name(h_.session(txn))),
                     invoked ? "invoke" : kTypes[static_cast<std::size_t>(h_.status(txn))], ops);
}

std::string EdnOps::completion(TxnId txn) const {
  if (!txn.valid()) return "nil";
  const RecordedLines::Line completed = line(txn, false);
  if (completed.end > completed.begin) return recorded(completed);
  const RecordedLines::Line invoked = line(txn, true);
  return invoked.end > invoked.begin ? recorded(invoked) : made(txn, false);
}

std::string EdnOps::invocation(TxnId txn) const {
  if (!txn.valid()) return "nil";
  const RecordedLines::Line invoked = line(txn, true);
  return invoked.end > invoked.begin ? recorded(invoked) : made(txn, true);
}

}  // namespace ouro
