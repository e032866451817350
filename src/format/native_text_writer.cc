#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "format/native_text.h"
#include "history/columns.h"
#include "history/commuting.h"
#include "history/json_text.h"
#include "history/undone.h"

namespace ouro {
namespace {

class Writer {
 public:
  Writer(const History& history, std::string& out) : h_(history), out_(out) {
    for (const KeyVersion& entry : columns_of(h_).key_initial) {
      if (const auto row = counter_row(h_, entry.value)) counters_[row->counter] = row->delta;
    }
  }

  void header() {
    out_ += "{\"ouro\":1,\"initial\":";
    value(h_.default_initial());
    if (!h_.remarks().empty()) {
      out_ += ",\"info\":{";
      const char* separator = "";
      for (const Remark& remark : h_.remarks()) {
        out_ += std::exchange(separator, ",");
        append_json_string(out_, remark.name);
        out_ += ':';
        append_json_string(out_, remark.text);
      }
      out_ += '}';
    }
    out_ += "}\n";
  }

  void initial(const KeyVersion& entry) {
    const Value name = h_.key_name(entry.key);
    const auto counter = counters_.find(name);
    const Value at_start = counter == counters_.end() ? entry.value : counter->second;
    if (counter != counters_.end() && at_start == h_.default_initial()) return;
    out_ += "{\"key\":";
    value(name);
    out_ += ",\"initial\":";
    value(at_start);
    out_ += "}\n";
  }

  void version_order(const VersionOrder& order) {
    out_ += "{\"key\":";
    value(h_.key_name(order.key));
    out_ += ",\"versions\":[";
    const char* separator = "";
    const auto versions = h_.versions(order);
    const auto writers = h_.version_writers(order);
    for (std::size_t i = 0; i < versions.size(); ++i) {
      out_ += std::exchange(separator, ",");
      if (writers.empty() || !writers[i].valid()) {
        value(versions[i]);
        continue;
      }
      out_ += '[';
      value(h_.txn_name(writers[i]));
      out_ += ']';
    }
    out_ += order.complete ? "],\"complete\":true}\n" : "],\"complete\":false}\n";
  }

  void txn(TxnId txn) {
    out_ += "{\"session\":";
    value(h_.session_name(h_.session(txn)));
    if (!h_.txn_name(txn).is_null()) {
      out_ += ",\"id\":";
      value(h_.txn_name(txn));
    }
    if (h_.status(txn) == TxnStatus::Aborted) out_ += ",\"status\":\"aborted\"";
    if (h_.status(txn) == TxnStatus::Unknown) out_ += ",\"status\":\"unknown\"";
    if (const auto clock = h_.invoked(txn)) fmt::format_to(end(), ",\"invoked\":{}", *clock);
    if (const auto clock = h_.began(txn)) fmt::format_to(end(), ",\"began\":{}", *clock);
    if (const auto clock = h_.committing(txn)) {
      fmt::format_to(end(), ",\"committing\":{}", *clock);
    }
    if (const auto clock = h_.completed(txn)) fmt::format_to(end(), ",\"completed\":{}", *clock);
    timestamp("start_ts", h_.start_ts(txn));
    timestamp("commit_ts", h_.commit_ts(txn));
    if (const auto sno = h_.sno(txn)) fmt::format_to(end(), ",\"sno\":{}", *sno);
    if (const auto level = h_.level(txn)) {
      fmt::format_to(end(), ",\"level\":\"{}\"", info(*level).name);
    }
    out_ += ",\"ops\":[";
    parts_.clear();
    bool first = true;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      enter_parts(id, first);
      if (!std::exchange(first, false)) out_ += ',';
      op(h_.op(id));
      if (info(h_.op(id).kind).first) ++id.value;
    }
    leave_parts(0);
    out_ += "]}\n";
  }

 private:
  std::back_insert_iterator<std::string> end() { return std::back_inserter(out_); }
  void value(Value v) { append_json(out_, h_, v); }

  // Ends and begins undone parts, so that those of `id` are open. `first` tells whether the next
  // operation is the first of its list.
  void enter_parts(OpId id, bool& first) {
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t part = h_.undone_part(id); part != 0; part = h_.outer_part(part)) {
      wanted.insert(wanted.begin(), part);
    }
    std::size_t same = 0;
    while (same < std::min(parts_.size(), wanted.size()) && parts_[same] == wanted[same]) ++same;
    leave_parts(same);
    for (; parts_.size() < wanted.size(); parts_.push_back(wanted[parts_.size()])) {
      out_ += first ? "[\"rolled-back\",[" : ",[\"rolled-back\",[";
      first = true;
    }
  }
  void leave_parts(std::size_t depth) {
    for (; parts_.size() > depth; parts_.pop_back()) out_ += "]]";
  }

  // A list that was read, with what the undone part appended itself, which its value does not have.
  void list_read(const Op& op) {
    const std::vector<Value> appended = undone_appends_seen(h_, op.id);
    if (appended.empty()) return value(op.value);
    out_ += '[';
    const char* separator = "";
    for (const Value element : h_.list(op.value)) {
      out_ += std::exchange(separator, ",");
      value(element);
    }
    for (const Value element : appended) {
      out_ += std::exchange(separator, ",");
      value(element);
    }
    out_ += ']';
  }

  void timestamp(std::string_view field, std::optional<Timestamp> ts) {
    if (!ts) return;
    if (ts->logical == 0) {
      fmt::format_to(end(), ",\"{}\":{}", field, ts->physical);
    } else {
      fmt::format_to(end(), ",\"{}\":[{},{}]", field, ts->physical, ts->logical);
    }
  }

  // Writes an operation on a counter or a set as it was in the input; false if it is none.
  bool commuting_op(const Op& op) {
    if (const auto made = incremented_row(h_, op)) {
      out_ += "[\"inc\",";
      value(made->counter);
      out_ += ',';
      out_ += increment_text(h_, op);
    } else if (const std::string_view grown = added_set(h_, op); !grown.empty()) {
      out_ += "[\"add\"," + set_json(grown) + ',';
      value(op.value);
    } else if (is_predicate_read(op.kind)) {
      const PredicateRead& read = h_.predicate_read(op.id);
      const Value counter = counter_read(h_, op.kind, read);
      const std::string_view set = set_read(h_, op.kind, read);
      if (counter.is_null() && set.empty()) return false;
      out_ += "[\"r\",";
      if (set.empty()) {
        value(counter);
        out_ += read.result.is_unobserved() ? "" : ',' + h_.text(read.result);
      } else {
        out_ += set_json(set) + ",{\"set\":[";
        const char* separator = "";
        for (const KeyVersion& row : h_.rows(read)) {
          out_ += std::exchange(separator, ",");
          value(row.value);
        }
        out_ += "]}";
      }
    } else {
      return false;
    }
    out_ += ']';
    return true;
  }

  void op(const Op& op) {
    if (commuting_op(op)) return;
    out_ += "[\"";
    out_ += info(op.kind).word;
    out_ += "\",";
    if (is_predicate_read(op.kind)) return predicate_op(op);
    value(h_.key_name(op.key));
    const bool reads = is_read(op.kind) || info(op.kind).back;
    const bool deletes = info(op.kind).deletes || op.kind == OpKind::UndoneDelete;
    const bool left_out = reads ? op.value.is_unobserved() : deletes && op.value.is_null();
    if (!left_out) {
      out_ += ',';
      op.value.is_list() ? list_read(op) : value(op.value);
    }
    if (info(op.kind).first) {
      out_ += ',';
      value(h_.op(OpId{op.id.index() + 1}).value);
      out_ += is_open_read(op.kind) ? ",false" : ",true";
    }
    out_ += ']';
  }

  void predicate_op(const Op& op) {
    const PredicateRead& read = h_.predicate_read(op.id);
    if (op.kind == OpKind::Scan) {
      value(read.lower);
      out_ += ',';
      value(shown_upper(h_, read));
    } else if (op.kind == OpKind::Select) {
      predicate(shown_condition(h_, read.predicate));
    } else {
      fmt::format_to(end(), "\"{}\",", ouro::name(read.aggregate));
      if (read.column.valid()) {
        append_json_string(out_, h_.column_name(read.column));
      } else {
        out_ += "null";
      }
      out_ += ',';
      predicate(shown_condition(h_, read.predicate));
      if (!read.result.is_unobserved()) {
        out_ += ',';
        value(read.result);
      }
    }
    if (op.kind != OpKind::Aggregate) {
      out_ += ',';
      key_versions(h_.rows(read));
    }
    if (read.has_version_set) {
      out_ += ",{\"versions\":";
      key_versions(h_.version_set(read));
      out_ += '}';
    }
    out_ += ']';
  }

  void key_versions(std::span<const KeyVersion> rows) {
    out_ += '[';
    const char* separator = "";
    for (const KeyVersion& row : rows) {
      out_ += std::exchange(separator, ",");
      out_ += '[';
      value(h_.key_name(row.key));
      out_ += ',';
      value(row.value);
      out_ += ']';
    }
    out_ += ']';
  }

  // The recursion is bounded: no reader accepts predicates deeper than kMaxPredicateDepth.
  void predicate(PredicateId id) {
    const PredicateNode& node = h_.predicate(id);
    if (node.kind == PredicateKind::True) {
      out_ += "true";
      return;
    }
    fmt::format_to(end(), "{{\"{}\":", info(node.kind).word);
    if (info(node.kind).takes_terms) {
      terms(node);
    } else if (node.kind == PredicateKind::Not) {
      predicate(PredicateId{h_.children(node)[0]});
    } else if (info(node.kind).has_children) {
      out_ += '[';
      const char* separator = "";
      for (const std::uint32_t child : h_.children(node)) {
        out_ += std::exchange(separator, ",");
        predicate(PredicateId{child});
      }
      out_ += ']';
    } else if (node.kind == PredicateKind::IsNull) {
      column(node.column);
    } else {
      comparison(node);
    }
    out_ += '}';
  }

  // The children of a comparison of terms, or of a calculation.
  void terms(const PredicateNode& node) {
    out_ += '[';
    const char* separator = "";
    for (const std::uint32_t child : h_.children(node)) {
      const bool right = !info(node.kind).term && *separator != '\0';
      out_ += std::exchange(separator, ",");
      term(PredicateId{child}, right);
    }
    out_ += ']';
  }

  // A string is the name of a column, but on the right side of a comparison a constant.
  void term(PredicateId id, bool right) {
    const PredicateNode& node = h_.predicate(id);
    if (node.kind == PredicateKind::Column) {
      if (right) out_ += "{\"col\":";
      column(node.column);
      if (right) out_ += '}';
    } else if (node.kind == PredicateKind::Constant) {
      const Value constant = h_.operands(node)[0];
      const bool marked = constant.kind() == ValueKind::Text && !right;
      if (marked) out_ += "{\"const\":";
      value(constant);
      if (marked) out_ += '}';
    } else {
      predicate(id);
    }
  }

  void comparison(const PredicateNode& node) {
    out_ += '[';
    column(node.column);
    out_ += node.kind == PredicateKind::In ? ",[" : ",";
    const char* separator = "";
    for (const Value operand : h_.operands(node)) {
      out_ += std::exchange(separator, ",");
      value(operand);
    }
    out_ += node.kind == PredicateKind::In ? "]]" : "]";
  }

  void column(ColumnId column) {
    append_json_string(out_, column.valid() ? h_.column_name(column) : "@key");
  }

  const History& h_;
  std::string& out_;
  std::map<Value, Value> counters_;   // What counters were at the start, by name.
  std::vector<std::uint32_t> parts_;  // The undone parts that are open.
};

}  // namespace

Result<WriteReport> write_native_text(const History& history, Output& output) {
  Writer writer(history, output.buffer());
  writer.header();
  const std::vector<bool> parts = parts_of_counters_and_sets(history);
  for (const KeyVersion& entry : columns_of(history).key_initial) {
    if (!parts[entry.key.index()]) writer.initial(entry);
  }
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    writer.txn(TxnId{t});
    if (auto status = output.drain(); !status.ok()) return status.error();
  }
  for (const VersionOrder& order : history.version_orders()) {
    writer.version_order(order);
    if (auto status = output.drain(); !status.ok()) return status.error();
  }
  return WriteReport{};
}

}  // namespace ouro
