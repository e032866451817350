#include "check/versions/listed_versions.h"

#include <algorithm>

namespace ouro {

std::vector<bool> listed_versions(const Observed& observed, const RowVersions& rows, OpId id,
                                  KeyId key, Value listed) {
  const History& h = observed.history();
  const PredicateRead& read = h.predicate_read(id);
  const TxnId reader = h.txn_of(id);
  const auto versions = rows.of(key);
  const auto is_own = [&](std::size_t i) {
    return versions[i].write.valid() && observed.txn(versions[i].write) == reader;
  };
  std::vector<bool> out(versions.size(), false);
  for (std::uint32_t i = 0; i < versions.size(); ++i) {
    if (out[i] || is_own(i) || versions[i].value != listed) continue;
    const RowPart part = rows.part(read, {key, i});
    const auto same = [&](std::uint32_t at) {
      return !is_own(at) && rows.part(read, {key, at}) == part;
    };
    out[i] = true;
    for (std::uint32_t at = i; at > 0 && same(at - 1); --at) out[at - 1] = true;
    for (std::uint32_t at = i + 1; at < versions.size() && same(at); ++at) out[at] = true;
  }
  return out;
}

std::vector<bool> listed_versions(const Observed& observed, const RowVersions& rows, OpId id,
                                  KeyId key) {
  const History& h = observed.history();
  const auto set = h.version_set(h.predicate_read(id));
  const auto member = std::find_if(set.begin(), set.end(),
                                   [&](const KeyVersion& version) { return version.key == key; });
  const Value listed = member == set.end() ? Value::null() : member->value;
  return listed_versions(observed, rows, id, key, listed);
}

std::uint32_t only_place(const std::vector<bool>& listed) {
  const auto first = std::find(listed.begin(), listed.end(), true);
  if (first == listed.end()) return RowVersions::kNone;
  const auto end = std::find(first, listed.end(), false);
  const bool again = std::find(end, listed.end(), true) != listed.end();
  return again ? RowVersions::kSeveral : static_cast<std::uint32_t>(first - listed.begin());
}

}  // namespace ouro
