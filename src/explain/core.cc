#include "explain/core.h"

#include <algorithm>

namespace ouro {
namespace {

// With more operations the whole history is not tried: checking it again and again takes too long.
constexpr std::size_t kManyToSearch = 500'000;

template <class Id>
std::vector<Id> sorted(const absl::flat_hash_set<Id>& set) {
  std::vector<Id> out(set.begin(), set.end());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Core::Core(const History& history, const Verdict& verdict, const Anomaly& anomaly)
    : h_(history), evidence_(verdict.evidence), keys_(history.key_count(), false) {
  for (const TxnId txn : anomaly.txns) {
    if (txn.valid()) txns_.insert(txn);
  }
  for (const OpId op : anomaly.ops) add(op);
  for (const Edge& edge : anomaly.edges) add(edge);
  for (const Edge& edge : anomaly.support) add(edge);
  if (anomaly.kind == AnomalyKind::ContradictoryOrder) {
    for (const RefutationStep& step : verdict.refutation.steps) {
      for (const Edge& edge : step.cycle) add(edge);
    }
    for (const Choice& choice : verdict.refutation.choices) {
      add_key(choice.key);
      add(choice.read);
      for (const TxnId txn : {choice.first, choice.second}) {
        if (txn.valid()) txns_.insert(txn);
      }
    }
    for (const SourceCase& each : verdict.cases) add(each);
  }
}

void Core::add(const SourceCase& each) {
  for (const ReadSource& said : each.sources) add(said.read);
  for (const ReadSight& sight : each.sights) add(sight.read);
  for (const Anomaly& anomaly : each.anomalies) {
    for (const OpId op : anomaly.ops) add(op);
    for (const Edge& edge : anomaly.edges) add(edge);
    for (const Edge& edge : anomaly.support) add(edge);
  }
  for (const RefutationStep& step : each.refutation.steps) {
    for (const Edge& edge : step.cycle) add(edge);
  }
  for (const Choice& choice : each.refutation.choices) add(choice.read);
}

std::vector<TxnId> Core::txns() const { return sorted(txns_); }
std::vector<OpId> Core::ops() const { return sorted(ops_); }

void Core::add(const Edge& edge) {
  for (const TxnId txn : {edge.from, edge.to}) {
    if (txn.valid()) txns_.insert(txn);
  }
  for (const OpId op : {edge.from_op, edge.to_op, edge.read, edge.saw}) add(op);
  add_key(edge.key);
}

void Core::add(OpId op) {
  if (!op.valid()) return;
  ops_.insert(op);
  txns_.insert(h_.txn_of(op));
  if (is_predicate_read(h_.op(op).kind)) {
    keys_.clear();  // A predicate read may have to do with any key.
  } else {
    add_key(h_.op(op).key);
  }
}

void Core::add_key(KeyId key) {
  if (key.valid() && !keys_.empty()) keys_[key.index()] = true;
}

std::optional<Excerpt> Core::next() {
  if (!excerpter_) excerpter_.emplace(h_, evidence_, keys_);
  const Stage stage = stage_;
  stage_ = static_cast<Stage>(static_cast<int>(stage) + 1);
  switch (stage) {
    case Stage::Named:
      add_sources(*excerpter_);
      return make(*excerpter_);
    case Stage::Sources:
      add_operations();
      add_sources(*excerpter_);
      add_operations();
      return make(*excerpter_);
    case Stage::Chains:
      for (std::size_t before = 0; before != ops_.size();) {
        before = ops_.size();
        add_sources(*excerpter_);
        add_operations();
      }
      return make(*excerpter_);
    case Stage::Keys:
      add_everybody();
      return make(*excerpter_);
    case Stage::Everything: {
      if (h_.op_count() > kManyToSearch) break;
      std::vector<TxnId> all(h_.txn_count());
      for (std::size_t t = 0; t < all.size(); ++t) all[t] = TxnId{t};
      return Excerpter(h_, evidence_).make(all, std::vector<bool>(h_.op_count(), true));
    }
    case Stage::Done:
      break;
  }
  stage_ = Stage::Done;
  return std::nullopt;
}

void Core::add_sources(const Excerpter& excerpter) {
  for (const OpId op : ops()) add_sources_of(excerpter, op);
}

void Core::add_sources_of(const Excerpter& excerpter, OpId id) {
  const auto add_write = [&](OpId write) {
    if (!write.valid()) return;
    ops_.insert(write);
    txns_.insert(h_.txn_of(write));
    ops_.insert(excerpter.installed(write));
  };
  const auto add_writes = [&](KeyId key, Value value) {
    for (const OpId write : excerpter.sources(key, value)) add_write(write);
  };
  const Op op = h_.op(id);
  if (is_predicate_read(op.kind)) {
    const PredicateRead& read = h_.predicate_read(id);
    for (const KeyVersion& row : h_.rows(read)) add_writes(row.key, row.value);
    for (const KeyVersion& version : h_.version_set(read)) add_writes(version.key, version.value);
    if (const auto* rows = excerpter.counter_rows(op)) {
      for (const OpId write : rows->writes) {
        add_write(write);
        if (info(h_.op(write).kind).first) ops_.insert(OpId{write.index() + 1});
      }
    }
    if (const auto* grounds = excerpter.grounds(id)) {
      for (const RowGrounds::Row& row : *grounds) {
        for (const OpId write : row.needed) add_write(write);
      }
    }
  } else if (is_open_read(op.kind)) {
    ops_.insert(OpId{id.index() + 1});  // The second half of the compare-and-set.
    for (const OpId write : excerpter.last_writes(op.key)) add_write(write);
  } else if (is_read(op.kind) && op.value.is_list()) {
    for (const Value element : h_.list(op.value)) add_writes(op.key, element);
  } else if (is_read(op.kind)) {
    add_writes(op.key, op.value);
  }
}

void Core::add_operations() {
  for (const TxnId txn : txns_) {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const KeyId key = h_.op(id).key;
      if (keys_.empty() || (key.valid() && keys_[key.index()])) ops_.insert(id);
    }
  }
}

void Core::add_everybody() {
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
      const KeyId key = h_.op(id).key;
      if (!keys_.empty() && (!key.valid() || !keys_[key.index()])) continue;
      txns_.insert(TxnId{t});
      ops_.insert(id);
    }
  }
}

Excerpt Core::make(const Excerpter& excerpter) const {
  std::vector<bool> kept(h_.op_count(), false);
  for (const OpId op : ops_) kept[op.index()] = true;
  return excerpter.make(txns(), kept);
}

}  // namespace ouro
