// Lint rules about keys and values. One pass over the writes builds an index from (key, value) to
// the first write; a second pass over the reads looks every result up. Predicate reads are not
// looked at, but for reads of counters that are balances.

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "history/access.h"
#include "history/commuting.h"
#include "history/findings.h"

namespace ouro {
namespace {

class ValueLinter {
 public:
  ValueLinter(const History& history, Findings& findings)
      : history_(history), findings_(findings), traits_(history.key_count()) {}

  void run() {
    for_each_op([&](TxnId txn, const Op& op) {
      note_model(op);
      visit_write(txn, op);
    });
    for_each_op([&](TxnId txn, const Op& op) { visit_read(txn, op); });
    visit_version_orders();
    visit_keys();
    visit_unknown();
    if (has_balances(history_)) visit_balances();
  }

 private:
  struct VersionHash {
    std::size_t operator()(const KeyVersion& version) const {
      return absl::HashOf(version.key, version.value);
    }
  };
  using Index = absl::flat_hash_map<KeyVersion, OpId, VersionHash>;

  // What a key was used as, and what kinds of values it held.
  struct Traits {
    bool is_register = false, is_list = false;
    bool numbers = false, floats = false, booleans = false, text = false;
    [[nodiscard]] int type_count() const { return numbers + floats + booleans + text; }
  };

  template <class Visit>
  void for_each_op(Visit&& visit) {
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      const TxnId txn{i};
      for (OpId id = history_.first_op(txn); id != history_.end_op(txn); ++id.value) {
        const Op op = history_.op(id);
        if (!is_predicate_read(op.kind)) visit(txn, op);
      }
    }
  }

  [[nodiscard]] std::string pair(KeyId key, Value value) const {
    return fmt::format("{}={}", history_.key_label(key), history_.text(value));
  }

  void note_model(const Op& op) {
    Traits& traits = traits_[op.key.index()];
    traits.is_register |= shows_register(op.kind, op.value);
    traits.is_list |= shows_list(op.kind, op.value);
  }

  void note_type(KeyId key, Value value) {
    Traits& traits = traits_[key.index()];
    if (value.kind() == ValueKind::Text) traits.text = true;
    if (value.kind() == ValueKind::Boolean) traits.booleans = true;
    if (is_exact_number(value.kind())) traits.numbers = true;
    if (value.kind() == ValueKind::Float) traits.floats = true;
  }

  void visit_write(TxnId txn, const Op& op) {
    if (!is_write(op.kind)) return;
    note_type(op.key, op.value);
    if (is_append(op.kind)) return visit_append(txn, op);
    if (op.value.is_null()) {
      findings_.add(Rule::AmbiguousDelete, txn,
                    [&] { return "delete of " + history_.key_label(op.key); });
      null_writers_.try_emplace(KeyVersion{op.key, op.value}, op.id);
      return;
    }
    if (op.value == history_.initial(op.key)) {
      findings_.add(Rule::WritesInitialValue, txn, [&] { return "w " + pair(op.key, op.value); });
    }
    const auto [at, fresh] = writers_.try_emplace(KeyVersion{op.key, op.value}, op.id);
    if (fresh) return;
    const Rule rule =
        history_.txn_of(at->second) == txn ? Rule::RepeatedWrite : Rule::DuplicateWrite;
    findings_.add(rule, txn, [&, at = at] {
      return fmt::format("w {} repeats {}", pair(op.key, op.value), findings_.where(at->second));
    });
  }

  void visit_balances() {
    for (std::size_t i = 0; i < history_.op_count(); ++i) {
      const OpId id{i};
      const auto balance = number_read(history_, history_.op(id));
      if (!balance || *balance >= 0) continue;
      findings_.add(Rule::NegativeBalance, history_.txn_of(id),
                    [&] { return fmt::format("balance {}", *balance); });
    }
  }

  void visit_append(TxnId txn, const Op& op) {
    const auto [at, fresh] = writers_.try_emplace(KeyVersion{op.key, op.value}, op.id);
    if (fresh) return;
    findings_.add(Rule::DuplicateElement, txn, [&, at = at] {
      return fmt::format("append of {} to {} repeats {}", history_.text(op.value),
                         history_.key_label(op.key), findings_.where(at->second));
    });
  }

  void visit_read(TxnId txn, const Op& op) {
    if (!is_read(op.kind)) return;
    if (op.value.is_unobserved()) {
      findings_.add(Rule::UnobservedRead, txn,
                    [&] { return "read of " + history_.key_label(op.key); });
    } else if (op.value.is_list()) {
      for (const Value element : history_.list(op.value)) visit_value(txn, op, element);
    } else {
      visit_value(txn, op, op.value);
    }
  }

  // One value, or one element of a list, that `op` returned.
  void visit_value(TxnId txn, const Op& op, Value value) {
    note_type(op.key, value);
    const KeyVersion version{op.key, value};
    const auto at = writers_.find(version);
    if (at == writers_.end()) {
      if (value == initial_element(op, value) || null_writers_.contains(version)) return;
      findings_.add(Rule::ReadNobodyWrote, txn, [&] {
        if (!op.value.is_list()) return "r " + pair(op.key, value);
        return fmt::format("r {} with element {}", history_.key_label(op.key),
                           history_.text(value));
      });
      return;
    }
    const TxnId writer = history_.txn_of(at->second);
    if (writer == txn) return;
    if (history_.status(writer) == TxnStatus::Unknown) reads_from_.push_back({txn, writer});
    if (history_.status(writer) == TxnStatus::Aborted &&
        history_.status(txn) != TxnStatus::Aborted) {
      findings_.add(Rule::AbortedRead, txn, [&] {
        return fmt::format("r {} written at {}", pair(op.key, value), findings_.where(at->second));
      });
    }
  }

  // What `value` must equal to have been there at the start: the initial value or, if that is a
  // list with such an element, that element.
  [[nodiscard]] Value initial_element(const Op& op, Value value) const {
    const Value initial = history_.initial(op.key);
    if (!initial.is_list()) return initial;
    for (const Value element : history_.list(initial)) {
      if (element == value) return value;
    }
    return initial;
  }

  void visit_version_orders() {
    for (const VersionOrder& order : history_.version_orders()) {
      for (const Value version : history_.versions(order)) {
        const KeyVersion wanted{order.key, version};
        if (writers_.contains(wanted) || null_writers_.contains(wanted)) continue;
        findings_.add(Rule::UnwrittenVersion, TxnId{},
                      [&] { return "version " + pair(order.key, version); });
      }
    }
  }

  void visit_keys() {
    for (std::size_t i = 0; i < history_.key_count(); ++i) {
      const KeyId key{i};
      const Traits& traits = traits_[i];
      if (traits.is_register && traits.is_list) {
        findings_.add(Rule::MixedRegisterAndList, TxnId{},
                      [&] { return "key " + history_.key_label(key); });
      }
      if (traits.type_count() > 1) {
        findings_.add(Rule::MixedValueTypes, TxnId{},
                      [&] { return "key " + history_.key_label(key); });
      }
    }
    visit_key_names();
  }

  void visit_key_names() {
    absl::flat_hash_set<std::string> numbers;
    bool any_text = false;
    for (std::size_t i = 0; i < history_.key_count() && !any_text; ++i) {
      any_text = history_.key_name(KeyId{i}).kind() == ValueKind::Text;
    }
    if (!any_text) return;
    for (std::size_t i = 0; i < history_.key_count(); ++i) {
      const Value name = history_.key_name(KeyId{i});
      if (name.kind() != ValueKind::Text) numbers.insert(history_.text(name));
    }
    for (std::size_t i = 0; i < history_.key_count(); ++i) {
      const Value name = history_.key_name(KeyId{i});
      if (name.kind() != ValueKind::Text) continue;
      if (!numbers.contains(std::string(history_.string(name)))) continue;
      findings_.add(Rule::MixedKeyTypes, TxnId{}, [&] {
        return fmt::format("keys {} and {}", history_.string(name), history_.text(name));
      });
    }
  }

  // Which unknown transactions count. Committed transactions do, and so does an unknown one that a
  // transaction which counts read from. So we go from readers that count to their writers.
  void visit_unknown() {
    std::vector<bool> counts(history_.txn_count());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = history_.status(TxnId{i}) == TxnStatus::Committed;
    }
    absl::flat_hash_map<TxnId, std::vector<TxnId>> sources;  // By reader that may yet count.
    std::vector<TxnId> work;
    for (const auto& [reader, writer] : reads_from_) {
      if (counts[reader.index()]) {
        work.push_back(writer);
      } else {
        sources[reader].push_back(writer);
      }
    }
    while (!work.empty()) {
      const TxnId txn = work.back();
      work.pop_back();
      if (counts[txn.index()]) continue;
      counts[txn.index()] = true;
      if (const auto at = sources.find(txn); at != sources.end()) {
        work.insert(work.end(), at->second.begin(), at->second.end());
      }
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (history_.status(TxnId{i}) != TxnStatus::Unknown) continue;
      findings_.add(counts[i] ? Rule::UnknownSeen : Rule::UnknownUnseen, TxnId{i}, [&] {
        const TxnId txn{i};
        if (!history_.has_session(txn)) return std::string("transaction without a session");
        return "transaction of session " +
               history_.label(history_.session_name(history_.session(txn)));
      });
    }
  }

  struct ReadFrom {
    TxnId reader;
    TxnId writer;
  };

  const History& history_;
  Findings& findings_;
  Index writers_;       // The first write of each value but null, by key and value.
  Index null_writers_;  // The first write of null, by key.
  std::vector<Traits> traits_;
  std::vector<ReadFrom> reads_from_;  // Reads from unknown transactions.
};

}  // namespace

void lint_values(const History& history, Findings& findings) {
  ValueLinter(history, findings).run();
}

}  // namespace ouro
