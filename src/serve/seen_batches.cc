#include "serve/seen_batches.h"

#include <algorithm>

namespace ouro::serving {

bool SeenBatches::contains(const std::string& client, std::uint64_t number) const {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return false;
  return number <= found->second.floor || found->second.above.contains(number);
}

void SeenBatches::raise(const std::string& client, std::uint64_t floor) {
  Client& known = clients_[client];
  known.last_use = ++uses_;
  known.floor = std::max(known.floor, floor);
  known.above.erase(known.above.begin(), known.above.upper_bound(floor));
}

void SeenBatches::add(const std::string& client, std::uint64_t number) {
  Client& known = clients_[client];
  known.last_use = ++uses_;
  if (number > known.floor) known.above.insert(number);
  while (known.above.size() > kNumbers) {
    known.floor = *known.above.begin();
    known.above.erase(known.above.begin());
  }
  if (clients_.size() <= kClients) return;
  clients_.erase(std::min_element(
      clients_.begin(), clients_.end(),
      [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
}

}  // namespace ouro::serving
