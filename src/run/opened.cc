#include "run/opened.h"

#include "db/registry.h"

namespace ouro::running {

Result<Opened> open(std::string_view text, const OpenOptions& options) {
  auto url = db::parse_url(text.empty() ? "rocksdb:" : text);
  if (!url.ok()) return url.error();
  if (!options.isolation.empty()) url->options.emplace_back("isolation", options.isolation);
  for (const auto& option : options.more) url->options.push_back(option);
  if (url->scheme == "exec") {
    url->options.emplace_back("patience_ms", std::to_string(options.patience.count()));
  }
  Opened opened;
  if (url->scheme == "sim") {
    auto simulated = open_sim(*std::move(url), options.seed);
    if (!simulated.ok()) return simulated.error();
    opened.simulated = *std::move(simulated);
    return opened;
  }
  auto database = db::open_database(*url);
  if (!database.ok()) return database.error();
  opened.real = *std::move(database);
  return opened;
}

}  // namespace ouro::running
