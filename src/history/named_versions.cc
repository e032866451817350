// Finds the versions that version orders name by the transactions that wrote them. That waits until
// all transactions are known, as an order may stand before them.

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <string>

#include "history/storage.h"

namespace ouro {
namespace {

// A name as a message has it.
std::string label_of(Value name, std::string_view string) {
  return name.kind() == ValueKind::Integer ? std::to_string(name.number()) : std::string(string);
}

}  // namespace

Status HistoryBuilder::find_named_versions() {
  const auto& named = interner_->named_versions;
  if (named.empty()) return {};
  Storage& s = *storage_;
  const auto label = [&](Value name) {
    return label_of(name, is_pooled_text(name.kind()) ? s.string(name) : "");
  };
  struct Bearer {
    TxnId txn;
    bool several = false;
  };
  absl::flat_hash_map<Value, Bearer> txns;  // Of the names that are used.
  for (const auto& each : named) txns[s.versions[each.version]];
  for (std::size_t t = 0; t < s.txn_name.size(); ++t) {
    const auto found = txns.find(s.txn_name[t]);
    if (found == txns.end()) continue;
    found->second.several = found->second.txn.valid();
    found->second.txn = TxnId{t};
  }
  absl::flat_hash_map<std::pair<TxnId, KeyId>, OpId> writes;  // The last one.
  for (const auto& each : named) writes[{txns[s.versions[each.version]].txn, each.key}];
  for (std::size_t t = 0; t < s.txn_name.size(); ++t) {
    if (!txns.contains(s.txn_name[t])) continue;
    const std::size_t end =
        t + 1 < s.txn_first_op.size() ? s.txn_first_op[t + 1] : s.op_kind.size();
    for (std::size_t op = s.txn_first_op[t]; op < end; ++op) {
      if (!is_write(s.op_kind[op])) continue;
      const auto found = writes.find({TxnId{t}, s.op_key[op]});
      if (found != writes.end()) found->second = OpId{op};
    }
  }
  s.version_txn.resize(s.versions.size(), TxnId{});
  for (const auto& each : named) {
    const Value name = s.versions[each.version];
    const Bearer& bearer = txns[name];
    const OpId write = writes[{bearer.txn, each.key}];
    const std::string key = label(s.key_name[each.key.index()]);
    const auto error = [&](std::string_view what) {
      return s.error_in(each.file, each.position,
                        fmt::format("the version order of {} names transaction {}, {}", key,
                                    label(name), what));
    };
    if (!bearer.txn.valid()) {
      return error("but no transaction has that \"id\"; add it, or leave the version out");
    }
    if (bearer.several) {
      return error("but several transactions have that \"id\"; give each its own");
    }
    if (!write.valid()) return error("which did not write the key; leave the version out");
    s.version_txn[each.version] = bearer.txn;
    s.versions[each.version] = s.op_value[write.index()];
  }
  return {};
}

}  // namespace ouro
