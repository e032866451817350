#include "format/plain_registers.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "format/input.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/input_error.h"

namespace ouro {
namespace {

constexpr std::string_view kInstead = "write 'native' instead, which can say everything";

void set_first(OpId& first, OpId op) {
  if (!first.valid()) first = op;
}

}  // namespace

bool unsigned_number(const History& history, Value value, std::uint64_t& out) {
  if (value.kind() == ValueKind::Integer) {
    out = static_cast<std::uint64_t>(value.number());
    return value.number() >= 0;
  }
  if (value.kind() != ValueKind::Wide) return false;
  const std::string_view digits = history.string(value);
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return code == std::errc{} && end == digits.data() + digits.size();
}

Result<PlainRegisters> PlainRegisters::of(const History& history, std::string_view format) {
  PlainRegisters plain(history, format);
  plain.key_number_.resize(history.key_count());
  plain.use_.resize(history.key_count());
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (auto status = plain.check_txn(TxnId{t}); !status.ok()) return status.error();
  }
  if (auto status = plain.check_initial(); !status.ok()) return status.error();
  plain.collect_warnings();
  return plain;
}

std::uint64_t PlainRegisters::value(const Op& op) const {
  std::uint64_t number = 0;
  if (!op.value.is_null()) unsigned_number(*h_, op.value, number);
  return number;
}

std::string PlainRegisters::location(TxnId txn) const {
  return fmt::format("transaction {}", h_->txn_name(txn).is_null() ? std::to_string(txn.index())
                                                                   : h_->label(h_->txn_name(txn)));
}

Error PlainRegisters::refuse(const Op& op, std::string_view what) const {
  const TxnId txn = h_->txn_of(op.id);
  const std::string on_key = op.key.valid() ? " on key " + h_->key_label(op.key) : "";
  return error_at(
      h_->place(op.id),
      fmt::format("{}: operation {}{} {}, which '{}' cannot say; {}", location(txn),
                  op.id.index() - h_->first_op(txn).index() + 1, on_key, what, format_, kInstead));
}

Status PlainRegisters::check_txn(TxnId txn) {
  if (h_->status(txn) == TxnStatus::Unknown) {
    return error_at(h_->place(txn),
                    fmt::format("{} has an unknown outcome, which '{}' cannot say; {}",
                                location(txn), format_, kInstead));
  }
  for (OpId id = h_->first_op(txn); id < h_->end_op(txn); ++id.value) {
    if (auto status = check_op(h_->op(id)); !status.ok()) return status;
    const Op op = h_->op(id);
    KeyUse& use = use_[op.key.index()];
    set_first(use.any, id);
    const bool read = is_read(op.kind);
    if (read && op.value.is_null()) set_first(use.null_read, id);
    if (op.value != Value::small(0)) continue;
    const bool committed = h_->status(txn) == TxnStatus::Committed;
    set_first(read ? use.zero_read : committed ? use.committed_zero : use.aborted_zero, id);
  }
  return {};
}

Status PlainRegisters::check_op(const Op& op) {
  if (is_undone(op.kind) || info(op.kind).back) return refuse(op, "was rolled back");
  if (info(op.kind).deletes) return refuse(op, "is a delete");
  if (is_append(op.kind)) return refuse(op, "appends to a list");
  if (is_predicate_read(op.kind)) return refuse(op, "is a predicate read");
  if (!is_read(op.kind) && !is_write(op.kind)) {
    return refuse(op, "is a compare-and-set that failed");
  }
  if (op.value.is_list()) return refuse(op, "reads a list");
  if (!unsigned_number(*h_, h_->key_name(op.key), key_number_[op.key.index()])) {
    return refuse(op, "has a key that is no unsigned 64-bit integer");
  }
  if (op.value.is_unobserved()) {
    ++unobserved_;
    return {};
  }
  if (op.value.is_null()) {
    return is_read(op.kind) ? Status{} : refuse(op, "writes null, a delete,");
  }
  std::uint64_t number = 0;
  if (unsigned_number(*h_, op.value, number)) return {};
  return refuse(op, "has a value that is no unsigned 64-bit integer");
}

// When the file is read back, a key starts as null if a committed transaction writes 0 to it, and
// as 0 otherwise (zero_initial.h). That must be the same history. A key that starts as null may be
// written as one that starts as 0, if no operation on it reads or writes 0.
Status PlainRegisters::check_initial() {
  std::size_t renamed = 0;
  std::size_t unused = 0;
  for (std::size_t k = 0; k < use_.size(); ++k) {
    const KeyUse& use = use_[k];
    const Value initial = h_->initial(KeyId{k});
    if (!use.any.valid()) {
      ++unused;
    } else if (initial == Value::small(0)) {
      if (use.null_read.valid()) return refuse(h_->op(use.null_read), "reads null");
      if (use.committed_zero.valid()) {
        return refuse(h_->op(use.committed_zero), "writes the initial value 0 again");
      }
    } else if (!initial.is_null()) {
      return refuse(h_->op(use.any),
                    fmt::format("is on a key that starts as {}, not 0", h_->text(initial)));
    } else if (use.committed_zero.valid()) {
      if (use.null_read.valid()) {
        return refuse(h_->op(use.null_read), "reads null where 0 is also written");
      }
    } else {
      const OpId zero = use.zero_read.valid() ? use.zero_read : use.aborted_zero;
      if (zero.valid()) return refuse(h_->op(zero), "has 0 on a key that starts as null");
      ++renamed;
    }
  }
  if (renamed != 0) {
    warnings_.push_back(
        fmt::format("the initial value null of {} key(s) is written as 0, its name here", renamed));
  }
  if (unused != 0)
    warnings_.push_back(fmt::format("{} key(s) without operations are left out", unused));
  return {};
}

void PlainRegisters::collect_warnings() {
  const HistoryColumns& c = columns_of(*h_);
  if (unobserved_ != 0) {
    warnings_.push_back(
        fmt::format("{} read(s) without a recorded result are left out", unobserved_));
  }
  if (!c.invoked.empty() || !c.completed.empty())
    warnings_.emplace_back("client clocks are left out");
  if (!c.start_ts.empty() || !c.commit_ts.empty()) {
    warnings_.emplace_back("database timestamps are left out");
  }
  if (!c.version_orders.empty()) warnings_.emplace_back("version orders are left out");
  if (h_->states_levels()) warnings_.emplace_back("levels of transactions are left out");
}

NumberedNames number_sessions(const History& history) {
  NumberedNames names;
  names.numbers.resize(history.session_count());
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    if (!unsigned_number(history, history.session_name(SessionId{s}), names.numbers[s])) {
      names.replaced = true;
    }
  }
  for (std::size_t s = 0; names.replaced && s < names.numbers.size(); ++s) names.numbers[s] = s;
  return names;
}

NumberedNames number_txns(const History& history) {
  NumberedNames names;
  names.numbers.resize(history.txn_count());
  absl::flat_hash_set<std::uint64_t> seen;
  bool usable = true;
  bool named = false;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.status(TxnId{t}) == TxnStatus::Aborted) continue;
    const Value name = history.txn_name(TxnId{t});
    named |= !name.is_null();
    usable = usable && unsigned_number(history, name, names.numbers[t]) &&
             seen.insert(names.numbers[t]).second;
  }
  if (usable) return names;
  names.replaced = named;
  for (std::size_t t = 0; t < names.numbers.size(); ++t) names.numbers[t] = t;
  return names;
}

void warn_of_remarks(const History& history, std::span<const std::string_view> kept,
                     WriteReport& report) {
  for (const Remark& remark : history.remarks()) {
    if (std::find(kept.begin(), kept.end(), remark.name) != kept.end()) continue;
    report.warnings.push_back(fmt::format("the remark '{}' is left out", remark.name));
  }
}

}  // namespace ouro
