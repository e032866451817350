// The drivers that were built in, by scheme.
//
// Each can be left out (-DOURO_WITH_SQLITE=OFF …); then its scheme is known but refused, with the
// option that brings it back.
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
  std::string_view option;       // Of CMake: "OURO_WITH_POSTGRES".
  // Checks the URL and its options; connects only in prepare(). Null: not built in.
  Result<std::unique_ptr<Database>> (*open)(Url url) = nullptr;
};

// All drivers, those left out too.
[[nodiscard]] std::span<const Driver> drivers();

// The database at `url`; nothing is connected yet.
[[nodiscard]] Result<std::unique_ptr<Database>> open_database(const Url& url);

// Each is in the file named after it.
Result<std::unique_ptr<Database>> open_rocksdb(Url url);
Result<std::unique_ptr<Database>> open_sqlite(Url url);
Result<std::unique_ptr<Database>> open_wiredtiger(Url url);
Result<std::unique_ptr<Database>> open_postgres(Url url);
Result<std::unique_ptr<Database>> open_mariadb(Url url);

}  // namespace ouro::db
