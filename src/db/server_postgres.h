// Starts PostgreSQL for server.h: one server, or a primary with a synchronous hot standby.
#pragma once

#include <memory>

#include "db/server.h"

namespace ouro::db {

[[nodiscard]] Status find_postgres_packages();
// REQUIRES: find_postgres_packages() is ok.
[[nodiscard]] Result<std::unique_ptr<Server>> start_postgres(ServerKind kind,
                                                             const ServerOptions& options);

}  // namespace ouro::db
