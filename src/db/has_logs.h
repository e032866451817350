// A database whose driver starts programs that write logs.
#pragma once

#include <vector>

#include "db/server.h"

namespace ouro::db {

class HasLogs {
 public:
  HasLogs() = default;
  virtual ~HasLogs() = default;
  HasLogs(const HasLogs&) = delete;
  HasLogs& operator=(const HasLogs&) = delete;

  // What the programs have written so far. The files live as long as this.
  [[nodiscard]] virtual std::vector<ServerLog> logs() const = 0;
};

}  // namespace ouro::db
