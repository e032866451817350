#include "check/timeline/list_replay.h"

#include <algorithm>
#include <span>

namespace ouro {
namespace {

// The elements that a read shows. An empty list may be read as null, too.
std::span<const Value> elements(const History& history, Value value) {
  return value.is_list() && value.length() > 0 ? history.list(value) : std::span<const Value>{};
}

}  // namespace

bool ListReplay::ends_with_own(const History& history, Value value) const {
  const auto shown = elements(history, value);
  return shown.size() >= own_.size() &&
         std::equal(own_.begin(), own_.end(),
                    shown.end() - static_cast<std::ptrdiff_t>(own_.size()));
}

bool ListReplay::continues_read(const History& history, Value value) const {
  const auto shown = elements(history, value);
  const auto before = elements(history, last_read_);
  if (shown.size() != before.size() + own_.size()) return false;
  const bool same_trunk = !before.empty() && value.trunk() == last_read_.trunk();
  return same_trunk || std::equal(before.begin(), before.end(), shown.begin());
}

ListReplay::Finding ListReplay::judge(const History& history, KeyId key, Value value,
                                      TrunkAgreement& agreement) const {
  if (has_read_) {
    if (continues_read(history, value) && ends_with_own(history, value)) return Finding::Right;
    return own_.empty() ? Finding::Repeated : Finding::OwnAppends;
  }
  if (!ends_with_own(history, value)) return Finding::OwnAppends;
  const std::size_t others = elements(history, value).size() - own_.size();
  const bool right =
      others == committed_.size() && agreement.agrees(key, value, others, committed_);
  return right ? Finding::Right : Finding::Snapshot;
}

std::string ListReplay::expected(const History& history) const {
  std::vector<Value> all;
  const auto before = has_read_ ? elements(history, last_read_) : std::span(committed_);
  all.assign(before.begin(), before.end());
  all.insert(all.end(), own_.begin(), own_.end());
  std::string out = "[";
  for (const Value element : all) out += (out.size() > 1 ? "," : "") + history.text(element);
  return out + ']';
}

}  // namespace ouro
