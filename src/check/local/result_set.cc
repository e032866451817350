// Evaluates predicate reads over their version sets.

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

#include "check/aggregate.h"
#include "check/local/local.h"
#include "history/value_order.h"

namespace ouro {
namespace {

class ResultSets {
 public:
  explicit ResultSets(const History& history) : h_(history) {
    for (std::size_t i = 0; i < h_.op_count(); ++i) {
      const Op op = h_.op(OpId{i});
      if (op.kind == OpKind::Delete) tombstones_.insert({op.key, op.value});
    }
  }

  // Whether `op` returned what its version set implies.
  bool matches(const Op& op) {
    const PredicateRead& read = h_.predicate_read(op.id);
    std::vector<KeyVersion> expected;
    for (const KeyVersion& version : h_.version_set(read)) {
      if (alive(version) && selects(op.kind, read, version)) expected.push_back(version);
    }
    if (op.kind == OpKind::Aggregate) {
      return read.result.is_unobserved() || aggregate(h_, read, expected) == h_.text(read.result);
    }
    // A scan may list tombstones it met; they are no rows.
    std::vector<KeyVersion> rows;
    for (const KeyVersion& row : h_.rows(read)) {
      if (alive(row)) rows.push_back(row);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(rows.begin(), rows.end());
    return expected == rows;
  }

 private:
  [[nodiscard]] bool alive(const KeyVersion& version) const {
    return !version.value.is_null() && !tombstones_.contains({version.key, version.value});
  }

  [[nodiscard]] bool selects(OpKind kind, const PredicateRead& read,
                             const KeyVersion& version) const {
    if (kind != OpKind::Scan) {
      return evaluate(h_, read.predicate, version.key, version.value) == Truth::True;
    }
    const Value name = h_.key_name(version.key);
    return (read.lower.is_null() || compare_values(h_, read.lower, name) <= 0) &&
           (read.upper.is_null() || compare_values(h_, name, read.upper) <= 0);
  }

  const History& h_;
  absl::flat_hash_set<std::pair<KeyId, Value>> tombstones_;
};

}  // namespace

std::vector<OpId> result_set_mismatches(const Observed& observed) {
  const History& h = observed.history();
  std::vector<OpId> wrong;
  if (h.columns().version_sets.empty() && h.columns().predicate_reads.empty()) return wrong;
  ResultSets sets(h);
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const Op op = h.op(OpId{i});
    if (!is_predicate_read(op.kind) || !h.predicate_read(op.id).has_version_set) continue;
    if (observed.counted(h.txn_of(op.id)) && !sets.matches(op)) wrong.push_back(op.id);
  }
  return wrong;
}

}  // namespace ouro
