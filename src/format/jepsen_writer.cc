// Writes Elle's EDN: a line per invocation and completion.
//
// Elle takes the order of lines for real time. So, if there are clocks, the lines of all sessions
// are sorted by time; at equal times, which order nothing, invocations come before completions.
// Without clocks the two lines of a transaction are next to each other.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "format/jepsen.h"
#include "format/place_in_words.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/edn_keyword.h"
#include "history/json_text.h"

namespace ouro {
namespace {

// Looks for what EDN cannot express, which is refused, and for what gets lost, which is warned of.
class Survey {
 public:
  explicit Survey(const History& history) : h_(history) {}

  Status run() {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const TxnId txn{t};
      look_at_clocks(txn);
      for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
        const Op op = h_.op(id);
        if (auto status = look_at(op, h_.status(txn)); !status.ok()) return status;
      }
    }
    look_at_sessions();
    if (has_list_ && has_register_) {
      return error_in("",
                      "cannot write lists and registers into one EDN history; Elle checks "
                      "either list-append or rw-register");
    }
    return {};
  }

  [[nodiscard]] bool use_clocks() const { return any_clock_ && clocks_fit_; }

  [[nodiscard]] std::vector<std::string> warnings() const {
    const HistoryColumns& c = columns_of(h_);
    std::vector<std::string> out;
    const auto warn = [&out](bool when, std::string_view what) {
      if (when) out.emplace_back(what);
    };
    warn(!c.version_orders.empty(), "version orders are left out");
    warn(!c.start_ts.empty() || !c.commit_ts.empty(), "database timestamps are left out");
    warn(std::any_of(c.txn_name.begin(), c.txn_name.end(), [](Value v) { return !v.is_null(); }),
         "names of transactions are left out");
    warn(!c.remarks.empty(), "remarks are left out");
    warn(h_.states_levels(), "levels of transactions are left out");
    warn(std::any_of(c.op_kind.begin(), c.op_kind.end(),
                     [](OpKind kind) { return info(kind).first; }),
         "compare-and-sets are written as a read and a write");
    warn(lost_result_, "results of reads in aborted and unknown transactions are left out");
    warn(initial_read_, "initial values are written as nil");
    warn(null_read_ && has_list_, "reads of null are written as nil: empty lists");
    warn(odd_session_, "sessions that are not called by an integer are numbered");
    warn(reused_,
         "a session goes on behind an unknown transaction, where Jepsen itself would begin "
         "a new process");
    warn(use_clocks() && lost_completion_,
         "unknown transactions do not complete in EDN: when theirs did is only the time of a line");
    warn(h_.has_inner_clocks(),
         "when begins were answered and commits asked for (began, committing) is left out");
    if (any_clock_ && !clocks_fit_) {
      out.emplace_back("client clocks are left out, because some transactions lack them");
    }
    warn(
        !use_clocks() && h_.txn_count() > 1,
        "without client clocks the order of lines is arbitrary, though Elle reads it as real time: "
        "do not check real-time levels");
    return out;
  }

 private:
  [[nodiscard]] Error refusal(const Op& op, std::string_view what) const {
    return error_in("",
                    fmt::format("cannot write the transaction {}: {}, and Jepsen's EDN has reads, "
                                "writes and appends of integers and strings only",
                                place_in_words(h_, h_.txn_of(op.id)), what));
  }

  Status look_at(const Op& op, TxnStatus status) {
    if (is_predicate_read(op.kind)) return refusal(op, "there is a scan, select or aggregate");
    if (is_undone(op.kind) || info(op.kind).back) {
      return refusal(op, "a part of it was rolled back");
    }
    if (!is_read(op.kind) && !is_write(op.kind)) {
      return refusal(op, "there is a compare-and-set that failed");
    }
    if (info(op.kind).deletes) return refusal(op, "there is a delete");
    if (op.value.kind() == ValueKind::Row) return refusal(op, "there is a row");
    if (op.value.is_list()) {
      for (const Value element : h_.list(op.value)) {
        if (element.kind() == ValueKind::Row) return refusal(op, "there is a row in a list");
      }
    }
    if (is_append(op.kind)) has_list_ = true;
    if (writes_register(op.kind)) has_register_ = true;
    if (is_read(op.kind)) look_at_read(op, status);
    return look_at_initial(op);
  }

  void look_at_read(const Op& op, TxnStatus status) {
    if (op.value.is_unobserved()) return;
    const bool dropped =
        status == TxnStatus::Aborted || (status == TxnStatus::Unknown && op.value.is_null());
    lost_result_ |= dropped;
    if (op.value.is_list()) {
      has_list_ = true;
    } else if (op.value.is_null()) {
      null_read_ = true;
    } else {
      has_register_ = true;
    }
  }

  // In EDN all keys start as nil, so reads of another initial value are written as nil. That must
  // not be mixed up with reads of null or of written values.
  Status look_at_initial(const Op& op) {
    const Value initial = h_.initial(op.key);
    if (initial.is_null() || op.value.is_unobserved()) return {};
    if (is_read(op.kind)) {
      initial_read_ |= op.value == initial;
      if (op.value.is_null())
        return refusal(op, "null is read, but the key's initial value is not null");
    } else if (is_append(op.kind) || op.value == initial || op.value.is_null()) {
      return refusal(op, "the key has an initial value that cannot be told from a written one");
    }
    return {};
  }

  // Clocks are used only if every transaction has a completion, or an invocation if it is unknown:
  // the :info line of an unknown transaction may have any time.
  void look_at_clocks(TxnId txn) {
    const bool invoked = h_.invoked(txn).has_value();
    const bool completed = h_.completed(txn).has_value();
    any_clock_ |= invoked || completed;
    const bool unknown = h_.status(txn) == TxnStatus::Unknown;
    clocks_fit_ &= completed || (invoked && unknown);
    lost_completion_ |= completed && unknown;
  }

  void look_at_sessions() {
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      odd_session_ |= h_.session_name(SessionId{s}).kind() != ValueKind::Integer;
      bool after_unknown = false;
      for (const TxnId txn : h_.session_txns(SessionId{s})) {
        reused_ |= after_unknown;
        after_unknown = h_.status(txn) == TxnStatus::Unknown;
      }
    }
  }

  const History& h_;
  bool has_list_ = false, has_register_ = false;
  bool null_read_ = false, initial_read_ = false, lost_result_ = false;
  bool odd_session_ = false, reused_ = false;
  bool any_clock_ = false, clocks_fit_ = true, lost_completion_ = false;
};

class EdnWriter {
 public:
  EdnWriter(const History& history, Output& output) : h_(history), output_(output) {
    std::int64_t free = 0;
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      const Value name = h_.session_name(SessionId{s});
      if (name.kind() == ValueKind::Integer) free = std::max(free, name.number() + 1);
    }
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      const Value name = h_.session_name(SessionId{s});
      process_.push_back(name.kind() == ValueKind::Integer ? name.number() : free++);
    }
  }

  // REQUIRES: Survey::use_clocks().
  Status in_order_of_clocks() {
    // The time, whether it is a completion, the transaction, and its index in its session.
    using Event = std::tuple<std::int64_t, bool, TxnId, std::size_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> next;
    const auto push_txn = [&](SessionId session, std::size_t place) {
      const auto txns = h_.session_txns(session);
      if (place == txns.size()) return;
      const auto invoked = h_.invoked(txns[place]);
      next.emplace(invoked ? *invoked : *h_.completed(txns[place]), !invoked, txns[place], place);
    };
    for (std::size_t s = 0; s < h_.session_count(); ++s) push_txn(SessionId{s}, 0);
    while (!next.empty()) {
      const auto [time, completes, txn, place] = next.top();
      next.pop();
      const auto completed = h_.completed(txn);
      if (!completes) invocation(txn, &time);
      if (completes || !completed) completion(txn, &time);
      if (auto status = output_.drain(); !status.ok()) return status;
      if (!completes && completed) {
        next.emplace(*completed, true, txn, place);
      } else {
        push_txn(h_.session(txn), place + 1);
      }
    }
    return {};
  }

  Status in_order_of_source() {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      invocation(TxnId{t}, nullptr);
      completion(TxnId{t}, nullptr);
      if (auto status = output_.drain(); !status.ok()) return status;
    }
    return {};
  }

 private:
  std::string& out() { return output_.buffer(); }

  void invocation(TxnId txn, const std::int64_t* time) {
    line("invoke", txn, time, Results::Hidden);
  }

  void completion(TxnId txn, const std::int64_t* time) {
    switch (h_.status(txn)) {
      case TxnStatus::Committed:
        return line("ok", txn, time, Results::Shown);
      case TxnStatus::Aborted:
        return line("fail", txn, time, Results::Hidden);
      case TxnStatus::Unknown:
        return line("info", txn, time, Results::IfObserved);
    }
  }

  // What a line has as results of reads: Hidden, always nil; Shown, [:r k] if unobserved;
  // IfObserved, nil if unobserved.
  enum class Results { Hidden, Shown, IfObserved };

  void line(std::string_view type, TxnId txn, const std::int64_t* time, Results results) {
    fmt::format_to(std::back_inserter(out()), "{{:type :{}, :f :txn, :value [", type);
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (id != h_.first_op(txn)) out() += ' ';
      op(h_.op(id), results);
    }
    fmt::format_to(std::back_inserter(out()), "], :process {}", process_[h_.session(txn).index()]);
    if (time != nullptr) fmt::format_to(std::back_inserter(out()), ", :time {}", *time);
    out() += "}\n";
  }

  void op(const Op& op, Results results) {
    out() += is_read(op.kind) ? "[:r " : is_append(op.kind) ? "[:append " : "[:w ";
    scalar(h_.key_name(op.key));
    const bool read = is_read(op.kind);
    const bool unobserved = read && op.value.is_unobserved();
    if (read && results == Results::Shown && unobserved) {
      out() += ']';
      return;
    }
    out() += ' ';
    const bool initial = read && op.value == h_.initial(op.key);
    if (unobserved || initial || (read && results == Results::Hidden)) {
      out() += "nil";
    } else if (op.value.is_list()) {
      list(op.value);
    } else {
      scalar(op.value);
    }
    out() += ']';
  }

  void list(Value value) {
    out() += '[';
    const auto elements = h_.list(value);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i != 0) out() += ' ';
      scalar(elements[i]);
    }
    out() += ']';
  }

  void scalar(Value value) {
    if (value.is_null()) {
      out() += "nil";
    } else if (value.kind() == ValueKind::Text && is_edn_keyword(h_.string(value))) {
      out() += h_.string(value);
    } else if (value.kind() == ValueKind::Decimal || value.kind() == ValueKind::Float) {
      out() += edn_number(value.kind(), h_.string(value));
    } else {
      append_json(out(), h_, value);
    }
  }

  const History& h_;
  Output& output_;
  std::vector<std::int64_t> process_;  // By session.
};

}  // namespace

Result<WriteReport> write_jepsen_edn(const History& history, Output& output) {
  Survey survey(history);
  if (auto status = survey.run(); !status.ok()) return status.error();
  EdnWriter writer(history, output);
  auto status = survey.use_clocks() ? writer.in_order_of_clocks() : writer.in_order_of_source();
  if (!status.ok()) return status.error();
  return WriteReport{survey.warnings()};
}

}  // namespace ouro
