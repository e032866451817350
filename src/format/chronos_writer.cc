#include <fmt/format.h>

#include <iterator>
#include <string>
#include <vector>

#include "format/chronos.h"
#include "format/chronos_uses.h"
#include "format/place_in_words.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/json_text.h"

namespace ouro {
namespace {

// Looks for what the Chronos format cannot express, which is refused, and for what would be
// different after reading the file back, which is warned of.
class ChronosSurvey {
 public:
  explicit ChronosSurvey(const History& history) : h_(history) {}

  Status run() {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const TxnId txn{t};
      if (h_.status(txn) != TxnStatus::Committed) {
        return refusal(txn, "it is not committed, and Chronos has committed transactions only");
      }
      if (!h_.start_ts(txn) || !h_.commit_ts(txn)) {
        return refusal(txn, "it lacks the start or commit timestamp that Chronos needs");
      }
      if (!h_.has_session(txn)) {
        return refusal(txn, "it has no session, and Chronos needs to know it");
      }
      unnamed_ |= h_.txn_name(txn).is_null();
      text_names_ |= h_.txn_name(txn).kind() == ValueKind::Text;
      if (!plain(h_.txn_name(txn)) || !plain(h_.session_name(h_.session(txn)))) {
        return refusal(txn, "its name is a string of digits, which Chronos takes for a number");
      }
      for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
        if (auto status = look_at(txn, h_.op(id)); !status.ok()) return status;
      }
    }
    if (uses_.first_list().valid() && uses_.first_register().valid()) {
      return error_in("", "cannot write lists and registers into one Chronos history");
    }
    return look_at_initial();
  }

  [[nodiscard]] std::vector<std::string> warnings() const {
    const HistoryColumns& c = columns_of(h_);
    std::vector<std::string> out;
    const auto warn = [&out](bool when, std::string_view what) {
      if (when) out.emplace_back(what);
    };
    warn(!c.version_orders.empty(), "version orders are left out");
    warn(!c.invoked.empty() || !c.completed.empty(), "client clocks are left out");
    warn(!c.remarks.empty(), "remarks are left out");
    warn(h_.states_levels(), "levels of transactions are left out");
    warn(unobserved_, "reads without a result are left out");
    warn(unnamed_, "transactions without a name are numbered");
    warn(text_names_, "strings stand where TimeKiller itself expects integers");
    warn(uses_.reads_null() && uses_.first_list().valid(),
         "reads of null are written as reads of the empty list");
    warn(lost_initial_, "the initial value is left out; nobody read it");
    return out;
  }

 private:
  [[nodiscard]] Error refusal(TxnId txn, std::string_view what) const {
    return error_in(
        "", fmt::format("cannot write the transaction {}: {}", place_in_words(h_, txn), what));
  }

  // Whether reading `value` back gives the same: a string of digits would become an integer.
  // Numbers have at most 64 bits.
  [[nodiscard]] bool plain(Value value) const {
    constexpr std::size_t kMostDigits = 19;
    if (value.kind() == ValueKind::Wide) return h_.string(value).size() <= kMostDigits;
    if (value.kind() == ValueKind::Boolean || value.kind() == ValueKind::Decimal) return false;
    if (value.kind() == ValueKind::Float) return false;
    if (value.kind() != ValueKind::Text) return true;
    std::string_view text = h_.string(value);
    if (text.starts_with('-')) text.remove_prefix(1);
    return text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos;
  }

  Status look_at(TxnId txn, const Op& op) {
    constexpr std::string_view kOnly = "Chronos has reads, writes and appends of integers only";
    if (is_predicate_read(op.kind) || info(op.kind).deletes) {
      return refusal(txn, fmt::format("it has a delete, scan, select or aggregate; {}", kOnly));
    }
    if (is_undone(op.kind) || info(op.kind).back) {
      return refusal(txn, fmt::format("a part of it was rolled back; {}", kOnly));
    }
    if (!is_read(op.kind) && !is_write(op.kind)) {
      return refusal(txn, fmt::format("it has a compare-and-set that failed; {}", kOnly));
    }
    const auto expressible = [this](Value v) { return v.kind() != ValueKind::Row && plain(v); };
    bool fits = expressible(op.value) && expressible(h_.key_name(op.key));
    if (op.value.is_list()) {
      for (const Value element : h_.list(op.value))
        fits &= expressible(element) && !element.is_null();
    }
    fits &= !is_append(op.kind) || !op.value.is_null();
    if (!fits)
      return refusal(
          txn,
          fmt::format("it has a row, null, boolean, other number or string of digits; {}", kOnly));
    text_names_ |=
        op.value.kind() == ValueKind::Text || h_.key_name(op.key).kind() == ValueKind::Text;
    if (op.value.is_unobserved()) {
      unobserved_ = true;
    } else {
      uses_.add(op);
    }
    return {};
  }

  // The format does not say what keys hold at first; a reader guesses, as chronos.h says. The guess
  // must be right, or nobody must have read the initial value.
  Status look_at_initial() {
    const Value initial = h_.default_initial();
    const Value guess = uses_.initial();
    lost_initial_ = initial == Value::small(0) && guess != initial && !uses_.reads_null();
    if (columns_of(h_).key_initial.empty() && (guess == initial || lost_initial_)) return {};
    return error_in("",
                    "cannot write the initial values: in Chronos all keys start as null, or as 0 "
                    "if that is what reads show");
  }

  const History& h_;
  ChronosUses uses_;
  bool unobserved_ = false, unnamed_ = false, text_names_ = false, lost_initial_ = false;
};

void append_timestamp(std::string& out, std::string_view field, const Timestamp& ts) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":{{\"p\":{},\"l\":{}}}", field, ts.physical,
                 ts.logical);
}

void append_op(std::string& out, const History& h, const Op& op) {
  out += is_read(op.kind)     ? "{\"t\":\"r\",\"k\":"
         : is_append(op.kind) ? "{\"t\":\"a\",\"k\":"
                              : "{\"t\":\"w\",\"k\":";
  append_json(out, h, h.key_name(op.key));
  out += ",\"v\":";
  append_json(out, h, op.value);
  out += '}';
}

void append_txn(std::string& out, const History& h, TxnId txn) {
  out += txn.index() == 0 ? "\n{\"tid\":" : ",\n{\"tid\":";
  if (h.txn_name(txn).is_null()) {
    out += std::to_string(txn.index() + 1);
  } else {
    append_json(out, h, h.txn_name(txn));
  }
  out += ",\"sid\":";
  append_json(out, h, h.session_name(h.session(txn)));
  if (const auto sno = h.sno(txn)) {
    fmt::format_to(std::back_inserter(out), ",\"sno\":{}", *sno);
  }
  append_timestamp(out, "sts", *h.start_ts(txn));
  append_timestamp(out, "cts", *h.commit_ts(txn));
  out += ",\"ops\":[";
  bool first = true;
  for (OpId id = h.first_op(txn); id < h.end_op(txn); ++id.value) {
    const Op op = h.op(id);
    if (op.value.is_unobserved()) continue;
    if (!first) out += ',';
    first = false;
    append_op(out, h, op);
  }
  out += "]}";
}

}  // namespace

Result<WriteReport> write_chronos(const History& history, Output& output) {
  ChronosSurvey survey(history);
  if (auto status = survey.run(); !status.ok()) return status.error();
  output.buffer() += '[';
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    append_txn(output.buffer(), history, TxnId{t});
    if (auto status = output.drain(); !status.ok()) return status.error();
  }
  output.buffer() += "\n]\n";
  return WriteReport{survey.warnings()};
}

}  // namespace ouro
