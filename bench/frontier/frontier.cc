#include "bench/frontier/frontier.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro::bench {

History frontier(const FrontierOptions& options) {
  std::mt19937_64 random(options.seed);  // Its numbers are standardised, distributions are not.
  const auto below = [&random](std::uint64_t bound) { return random() % bound; };
  std::vector<std::vector<Value>> versions(options.keys, {Value::null()});
  std::vector<std::uint64_t> chosen;
  HistoryBuilder builder;
  for (std::uint32_t t = 0; t < options.txns; ++t) {
    builder.begin_txn(builder.session(std::int64_t{t}));
    chosen.clear();
    while (chosen.size() < options.reads + options.writes) {
      const std::uint64_t key = below(options.keys);
      if (std::find(chosen.begin(), chosen.end(), key) != chosen.end()) continue;
      chosen.push_back(key);
      const KeyId id = builder.key(static_cast<std::int64_t>(key));
      std::vector<Value>& of_key = versions[key];
      if (chosen.size() <= options.reads) {
        const bool stale = below(1000) < options.stale_permille;
        const std::uint64_t choices = std::min<std::uint64_t>(options.depth, of_key.size());
        const std::uint64_t age = stale ? below(choices) : 0;
        builder.read(id, of_key[of_key.size() - 1 - age]);
      } else {
        of_key.push_back(builder.integer(static_cast<std::int64_t>(of_key.size())));
        builder.write(id, of_key.back());
      }
    }
  }
  return *std::move(builder).freeze();
}

FrontierOptions near_threshold(Level level, std::uint32_t txns, std::uint64_t seed) {
  const std::uint32_t percent = implies(level, Level::Serializable) ? 200 : 35;
  return {.txns = txns, .keys = txns * percent / 100, .seed = seed};
}

}  // namespace ouro::bench
