#include "report/edn_anomalies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "history/access.h"
#include "report/narrator.h"

namespace ouro {
namespace {

class Teller {
 public:
  Teller(const EdnOps& ops, const Story& story) : ops_(ops), h_(ops.history()), story_(story) {}

  std::vector<EdnAnomaly> tell() {
    const std::string told = fmt::format(", :ouro/story [{}]", sentences());
    std::vector<EdnAnomaly> out;
    for (EdnAnomaly& one : found()) {
      out.push_back({std::move(one.type), '{' + std::move(one.map) + told + '}'});
    }
    return out;
  }

 private:
  // Without the story and the brackets.
  [[nodiscard]] std::vector<EdnAnomaly> found() const {
    if (!story_.cases.empty()) return cyclic();
    switch (story_.pattern) {
      case Pattern::DirtyUpdate:
      case Pattern::AbortedRead:
        return aborted();
      case Pattern::IntermediateRead:
        return {{std::string(info(story_.pattern).id), read_of_write()}};
      case Pattern::ThinAirRead:
        return {{std::string(info(story_.pattern).id), op_and_micro_op(shown(Shown::Read))}};
      case Pattern::FutureRead:
        return {{"future-read", op_and_micro_op(shown(Shown::Read)) + element()}};
      case Pattern::Internal:
      case Pattern::NonRepeatableRead:
        return {{"internal", internal()}};
      case Pattern::DuplicateElements:
        return {{"duplicate-elements", duplicates()}};
      case Pattern::IncompatibleOrder:
        return {{"incompatible-order", incompatible()}};
      case Pattern::LostUpdate:
        return {{"lost-update", lost_update().value_or(operations())}};
      default:
        return {{id(story_), operations()}};
    }
  }

  // A lost update is a cycle, too. Elle knows the cycle only if no order had to be assumed.
  [[nodiscard]] std::vector<EdnAnomaly> cyclic() const {
    const Case& named_by = story_.cases[story_.named_by];
    std::vector<EdnAnomaly> out;
    if (story_.pattern == Pattern::LostUpdate) {
      if (auto lost = lost_update()) out.push_back({"lost-update", *std::move(lost)});
      if (!out.empty() && !named_by.given.empty()) return out;
    }
    if (named_by.cycle.empty()) return {{id(story_), operations()}};
    const std::vector<Edge> cycle = as_elle_sees(named_by.cycle);
    const std::string type = type_of(cycle);
    std::string txns, steps;
    for (const Edge& edge : cycle) {
      txns += ops_.completion(edge.from) + ' ';
      steps += (steps.empty() ? "" : " ") + step(edge);
    }
    txns += ops_.completion(cycle.back().to);  // Elle repeats the first at the end.
    out.push_back({type, fmt::format(":cycle [{}], :steps [{}], :type :{}", txns, steps, type)});
    return out;
  }

  // Elle has no forced edges: somebody saw a transaction, and read what that had overwritten. This
  // is a cycle: from the transaction to who saw it, and back by rw. Of several such edges, one that
  // is seen to be about an overwritten version is taken, else the last: since they are a cycle, at
  // least one is.
  [[nodiscard]] std::vector<Edge> as_elle_sees(const std::vector<Edge>& cycle) const {
    const Edge* at = nullptr;
    for (const Edge& edge : cycle) {
      if (edge.kind != EdgeKind::Forced || !edge.read.valid() || !edge.from.valid()) continue;
      if (at == nullptr || !overwrote(at->from, h_.op(at->read))) at = &edge;
    }
    if (at == nullptr) return cycle;
    const TxnId reader = h_.txn_of(at->read);
    std::vector<Edge> out = seen_through(at->from, reader);
    if (at->saw.valid()) {
      const OpId write = seen_write(at->from, at->saw);
      out = {edge(at->from, reader, EdgeKind::WriteRead, h_.op(at->saw).key, write, at->saw)};
    } else if (out.empty()) {
      out = {edge(at->from, reader, EdgeKind::Session, {}, {}, {})};
    }
    out.push_back(edge(reader, at->from, EdgeKind::ReadWrite, at->key, at->read, at->from_op));
    return out;
  }

  static Edge edge(TxnId from, TxnId to, EdgeKind kind, KeyId key, OpId from_op, OpId to_op) {
    Edge out;
    out.from = from;
    out.to = to;
    out.kind = kind;
    out.key = key;
    out.from_op = from_op;
    out.to_op = to_op;
    return out;
  }

  // The path of Story::support from one to the other; empty if there is none.
  [[nodiscard]] std::vector<Edge> seen_through(TxnId from, TxnId reader) const {
    std::vector<Edge> path;
    for (const Edge& step : story_.support) {
      if (!path.empty() && path.back().to != step.from) path.clear();
      if (path.empty() && step.from != from) continue;
      path.push_back(step);
      if (step.to == reader) return path;
    }
    return {};
  }

  // The last write of `writer` that `read` returned.
  [[nodiscard]] OpId seen_write(TxnId writer, OpId read) const {
    OpId found;
    for (OpId id = h_.first_op(writer); id < h_.end_op(writer); ++id.value) {
      if (is_write(h_.op(id).kind) && h_.op(id).key == h_.op(read).key) found = id;
    }
    return found;
  }

  [[nodiscard]] std::string type_of(std::span<const Edge> cycle) const {
    const auto is = [](const Edge& edge, EdgeKind kind) { return edge.kind == kind; };
    Variant variant = Variant::None;
    std::size_t rw = 0;
    bool wr = false, predicate = false, adjacent = false, forced = false;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const Edge& edge = cycle[i];
      if (is(edge, EdgeKind::Session)) variant = std::max(variant, Variant::Session);
      if (is_real_time(edge.kind)) variant = Variant::RealTime;
      forced |= is(edge, EdgeKind::Forced);
      wr |= is(edge, EdgeKind::WriteRead);
      if (!is(edge, EdgeKind::ReadWrite)) continue;
      ++rw;
      adjacent |= is(cycle[(i + 1) % cycle.size()], EdgeKind::ReadWrite);
      predicate |= is_predicate(edge.from_op);
    }
    if (forced) variant = story_.variant;
    constexpr std::string_view kSuffixes[] = {"", "-process", "-realtime"};
    std::string out = forced     ? std::string(info(story_.pattern).id)
                      : rw == 0  ? (wr ? "G1c" : "G0")
                      : rw == 1  ? "G-single"
                      : adjacent ? "G2"
                                 : "G-nonadjacent";
    if (!forced && rw > 0 && !predicate) out += "-item";
    return out.append(kSuffixes[static_cast<std::size_t>(variant)]);
  }

  [[nodiscard]] bool is_predicate(OpId op) const {
    return op.valid() && is_predicate_read(h_.op(op).kind);
  }

  [[nodiscard]] std::string step(const Edge& edge) const {
    if (edge.kind == EdgeKind::Session) {
      const Value process =
          edge.from.valid() ? h_.session_name(h_.session(edge.from)) : Value::null();
      return fmt::format("{{:type :process, :process {}}}", ops_.value(process));
    }
    if (is_real_time(edge.kind)) {
      return fmt::format("{{:type :realtime, :a' {}, :b {}}}", ops_.completion(edge.from),
                         ops_.invocation(edge.to));
    }
    std::string out = fmt::format("{{:type :{}", name(edge.kind));
    if (edge.key.valid()) out += fmt::format(", :key {}", ops_.key(edge.key));
    const bool predicate = is_predicate(edge.from_op) || is_predicate(edge.to_op);
    if (!predicate) {
      // A wr edge has one value, which the one wrote and the other read.
      if (edge.from_op.valid()) out += ", :value " + version(edge.from_op);
      if (edge.kind != EdgeKind::WriteRead && edge.to_op.valid()) {
        out += ", :value' " + version(edge.to_op);
      }
    }
    if (edge.from_op.valid()) out += fmt::format(", :a-mop-index {}", ops_.place(edge.from_op));
    if (edge.to_op.valid()) out += fmt::format(", :b-mop-index {}", ops_.place(edge.to_op));
    return out + (predicate ? ", :predicate? true}" : "}");
  }

  // What a write left, or a read found: of a list its last element.
  [[nodiscard]] std::string version(OpId id) const {
    const Op op = h_.op(id);
    if (is_open_read(op.kind)) return "nil";  // Its value is what it did not return.
    if (!op.value.is_list()) return ops_.value(op.value);
    const auto elements = h_.list(op.value);
    return elements.empty() ? ":elle.list-append/init" : ops_.value(elements.back());
  }

  // Operations that show the anomaly.
  enum class Shown { Read, Write };
  [[nodiscard]] OpId shown(Shown what, std::size_t nth = 0) const {
    for (const OpId op : story_.shown_by) {
      if (!op.valid()) continue;
      const OpKind kind = h_.op(op).kind;
      const bool writes = is_write(kind) || is_undone(kind);
      if (writes == (what == Shown::Write) && nth-- == 0) return op;
    }
    return {};
  }

  [[nodiscard]] std::string op_and_micro_op(OpId op) const {
    if (!op.valid()) return operations();
    return fmt::format(":op {}, :mop {}", ops_.completion(h_.txn_of(op)), ops_.micro_op(op));
  }

  [[nodiscard]] std::string operations() const {
    std::string txns;
    for (const TxnId txn : story_.txns) txns += (txns.empty() ? "" : " ") + ops_.completion(txn);
    return fmt::format(":ops [{}]", txns);
  }

  // The element that was appended and should not have been read.
  [[nodiscard]] std::string element() const {
    const OpId write = shown(Shown::Write);
    if (!write.valid() || !is_append(h_.op(write).kind)) return {};
    return fmt::format(", :element {}", ops_.value(h_.op(write).value));
  }

  [[nodiscard]] std::string read_of_write() const {
    const OpId write = shown(Shown::Write);
    std::string out = op_and_micro_op(shown(Shown::Read));
    if (write.valid()) out += ", :writer " + ops_.completion(h_.txn_of(write));
    return out + element();
  }

  // Reads of what was aborted, and what was built upon that.
  [[nodiscard]] std::vector<EdnAnomaly> aborted() const {
    const OpId write = shown(Shown::Write), read = shown(Shown::Read);
    if (!write.valid() || !read.valid()) return {{"G1a", read_of_write()}};
    if (h_.op(read).value.is_list()) return aborted_elements(read, write);
    std::vector<EdnAnomaly> out = {{"G1a", read_of_write()}};
    if (story_.pattern != Pattern::DirtyUpdate) return out;
    std::string values = ops_.value(h_.op(write).value);
    const TxnId updater = h_.txn_of(read);
    for (OpId id = h_.first_op(updater); id < h_.end_op(updater); ++id.value) {
      const Op op = h_.op(id);
      if (op.key == h_.op(read).key && is_write(op.kind)) values += ' ' + ops_.value(op.value);
    }
    out.push_back(
        {"dirty-update", dirty_update(h_.op(write).key, values, h_.txn_of(write), updater)});
    return out;
  }

  // The values from the aborted one to that which was built upon it, and who wrote these two.
  [[nodiscard]] std::string dirty_update(KeyId key, const std::string& values, TxnId first,
                                         TxnId last) const {
    return fmt::format(":key {}, :values [{}], :txns [{} ... {}]", ops_.key(key), values,
                       ops_.completion(first), ops_.completion(last));
  }

  // Elle tells of each aborted element of a list; and, from the first one to the next that
  // committed, of a row of elements.
  [[nodiscard]] std::vector<EdnAnomaly> aborted_elements(OpId read, OpId write) const {
    constexpr std::size_t kMost = 16;  // Each of them repeats the list, which may be long.
    const KeyId key = h_.op(read).key;
    auto writers = writers_of(key);
    writers[h_.op(write).value] = {h_.txn_of(write), TxnStatus::Aborted};
    std::vector<EdnAnomaly> out;
    std::string values;  // Of the row at hand.
    TxnId first;         // Who wrote the first of them.
    for (const Value element : h_.list(h_.op(read).value)) {
      const auto at = writers.find(element);
      const Writer writer = at == writers.end() ? Writer{} : at->second;
      const bool aborted = writer.status == TxnStatus::Aborted;
      if (!first.valid() && !aborted) continue;
      if (!first.valid()) first = writer.txn;
      values += (values.empty() ? "" : " ") + ops_.value(element);
      if (aborted && (out.size() < kMost || element == h_.op(write).value)) {
        out.push_back({"G1a", fmt::format("{}, :writer {}, :element {}", op_and_micro_op(read),
                                          ops_.completion(writer.txn), ops_.value(element))});
      }
      if (writer.status != TxnStatus::Committed) continue;
      out.push_back({"dirty-update", dirty_update(key, values, first, writer.txn)});
      values.clear();
      first = {};
    }
    return out;
  }

  struct Writer {
    TxnId txn;
    TxnStatus status = TxnStatus::Unknown;
  };

  // Who appended each element to the key. Of several, one that committed counts, else one of which
  // that is not known.
  [[nodiscard]] std::map<Value, Writer> writers_of(KeyId key) const {
    const auto rank = [](TxnStatus status) {
      return status == TxnStatus::Committed ? 2 : status == TxnStatus::Unknown ? 1 : 0;
    };
    std::map<Value, Writer> out;
    for (OpId id{0}; id.index() < h_.op_count(); ++id.value) {
      const Op op = h_.op(id);
      if (op.key != key || !is_append(op.kind)) continue;
      const TxnId txn = h_.txn_of(id);
      const TxnStatus status = is_undone(op.kind) ? TxnStatus::Aborted : h_.status(txn);
      const auto [at, added] = out.emplace(op.value, Writer{txn, status});
      if (!added && rank(status) > rank(at->second.status)) at->second = {txn, status};
    }
    return out;
  }

  // A read, and what its transaction should have read after what it did before: of a list that it
  // has only appended to, the end.
  [[nodiscard]] std::string internal() const {
    OpId read;
    for (const OpId op : story_.shown_by) {
      if (op.valid() && is_read(h_.op(op).kind)) read = std::max(read.valid() ? read : op, op);
    }
    std::string out = op_and_micro_op(read);
    if (!read.valid() || !h_.op(read).key.valid()) return out;
    std::string expected;
    for (OpId id = h_.first_op(h_.txn_of(read)); id < read; ++id.value) {
      const Op op = h_.op(id);
      if (op.key != h_.op(read).key) continue;
      if (is_append(op.kind)) {
        expected = followed_by(expected, ops_.value(op.value));
      } else if ((is_read(op.kind) || is_write(op.kind)) && !op.value.is_unobserved()) {
        expected = ops_.value(op.value);
      }
    }
    return expected.empty() ? out : fmt::format("{}, :expected {}", out, expected);
  }

  // A list with an element behind it; the list is "" if nothing is known of it.
  static std::string followed_by(std::string list, const std::string& element) {
    if (list.empty()) list = "[...]";
    if (list == "nil" || list == "[]") return '[' + element + ']';
    list.back() = ' ';
    return list + element + ']';
  }

  [[nodiscard]] std::string duplicates() const {
    const OpId read = shown(Shown::Read);
    std::string out = op_and_micro_op(read);
    if (!read.valid() || !h_.op(read).value.is_list()) return out;
    std::vector<std::string> order;
    std::map<std::string, std::size_t> times;
    for (const Value element : h_.list(h_.op(read).value)) {
      const std::string text = ops_.value(element);
      if (++times[text] == 2) order.push_back(text);
    }
    std::string counts;
    for (const std::string& text : order) {
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", text, times[text]);
    }
    return fmt::format("{}, :duplicates {{{}}}", out, counts);
  }

  // Two reads that disagree, the shorter first.
  [[nodiscard]] std::string incompatible() const {
    const OpId one = shown(Shown::Read), two = shown(Shown::Read, 1);
    if (!one.valid() || !two.valid() || !h_.op(one).value.is_list() ||
        !h_.op(two).value.is_list()) {
      return operations();
    }
    Value a = h_.op(one).value, b = h_.op(two).value;
    if (h_.list(b).size() < h_.list(a).size()) std::swap(a, b);
    return fmt::format(":key {}, :values [{} {}]", ops_.key(h_.op(one).key), ops_.value(a),
                       ops_.value(b));
  }

  // The version that two transactions read and overwrote; nothing if the story does not have it.
  [[nodiscard]] std::optional<std::string> lost_update() const {
    for (const OpId id : story_.ops) {
      const Op read = h_.op(id);
      if (!is_read(read.kind) || !read.key.valid()) continue;
      std::string txns;
      std::size_t count = 0;
      for (const TxnId txn : story_.txns) {
        if (!overwrote(txn, read)) continue;
        txns += (count++ == 0 ? "" : " ") + ops_.completion(txn);
      }
      if (count < 2) continue;
      return fmt::format(":key {}, :value {}, :txns [{}]", ops_.key(read.key),
                         ops_.value(read.value), txns);
    }
    return std::nullopt;
  }

  // Whether the first thing that the transaction did to the key of `read` was to read the same, and
  // it wrote the key later.
  [[nodiscard]] bool overwrote(TxnId txn, const Op& read) const {
    bool has_read = false;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (op.key != read.key) continue;
      if (is_write(op.kind)) return has_read;
      if (!is_read(op.kind)) continue;
      if (!has_read && op.value != read.value) return false;
      has_read = true;
    }
    return false;
  }

  [[nodiscard]] std::string sentences() const {
    const Narrator narrator(h_, story_);
    std::string out = edn_string(name(story_));
    for (const std::string& line : narrator.lines()) out += ' ' + edn_string(line);
    return out;
  }

  const EdnOps& ops_;
  const History& h_;
  const Story& story_;
};

}  // namespace

std::vector<EdnAnomaly> edn_anomalies(const EdnOps& ops, const Story& story) {
  return Teller(ops, story).tell();
}

}  // namespace ouro
