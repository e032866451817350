// Starts MariaDB for server.h: one server, or several as a Galera cluster.
#pragma once

#include <memory>

#include "db/server.h"

namespace ouro::db {

[[nodiscard]] Status find_mariadb_packages(ServerKind kind);
// REQUIRES: find_mariadb_packages(kind) is ok.
[[nodiscard]] Result<std::unique_ptr<Server>> start_mariadb(ServerKind kind,
                                                            const ServerOptions& options);

}  // namespace ouro::db
