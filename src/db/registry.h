// The table of drivers: which one opens a database URL.
//
// A build may leave out drivers (-DOURO_WITH_SQLITE=OFF …). Their URLs are then refused with an
// error that names the CMake option.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "db/database.h"
#include "db/url.h"

namespace ouro::db {

struct Driver {
  std::string_view schemes;      // "postgres postgresql": separated by blanks, the usual one first.
  std::string_view description;  // One line, for help: "PostgreSQL and what speaks its protocol".
  std::string_view option;       // The CMake option that builds it in: "OURO_WITH_POSTGRES".
  // Checks the URL and its options; does not connect, but a driver that is a program of its own is
  // started, since only it knows what it can do. Null: not built in.
  Result<std::unique_ptr<Database>> (*open)(Url url) = nullptr;
};

// All drivers, also those that were not built in.
[[nodiscard]] std::span<const Driver> drivers();

// The database at `url`. Does not connect; Database::prepare() does.
[[nodiscard]] Result<std::unique_ptr<Database>> open_database(const Url& url);

// Each is defined in the file named after it: open_rocksdb() in rocksdb.cc.
Result<std::unique_ptr<Database>> open_rocksdb(Url url);
Result<std::unique_ptr<Database>> open_sqlite(Url url);
Result<std::unique_ptr<Database>> open_wiredtiger(Url url);
Result<std::unique_ptr<Database>> open_postgres(Url url);
Result<std::unique_ptr<Database>> open_mariadb(Url url);
Result<std::unique_ptr<Database>> open_exec(Url url);

}  // namespace ouro::db
