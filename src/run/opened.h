// Opens the database of a URL, the simulated store among them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/server.h"
#include "run/sim_database.h"

namespace ouro::running {

// A database. Exactly one of `real` and `simulated` is not null.
struct Opened {
  std::unique_ptr<db::Server> server = nullptr;  // If we started one. First, to be destroyed last.
  std::unique_ptr<db::Database> real;
  std::unique_ptr<SimDatabase> simulated;
  [[nodiscard]] db::Database& database() const { return real ? *real : *simulated; }
};

struct OpenOptions {
  std::string isolation;  // Empty: the default of the driver, or what the URL says.
  std::chrono::milliseconds patience{10'000};
  std::uint64_t seed = 1;                                      // Of the simulated store.
  std::vector<std::pair<std::string, std::string>> more = {};  // Options besides those of the URL.
};

// Opens the database at `text`; if that is empty, a RocksDB in a temporary folder. Does not
// connect.
[[nodiscard]] Result<Opened> open(std::string_view text, const OpenOptions& options);

}  // namespace ouro::running
