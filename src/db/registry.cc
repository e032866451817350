#include "db/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "db/built_in.h"
#include "ouro/closest.h"

namespace ouro::db {
namespace {

constexpr std::array kDrivers{
    Driver{"rocksdb", "RocksDB, embedded: rocksdb:DIR", "OURO_WITH_ROCKSDB",
           kWithRocksdb ? open_rocksdb : nullptr},
    Driver{"sqlite", "SQLite, embedded: sqlite:FILE", "OURO_WITH_SQLITE",
           kWithSqlite ? open_sqlite : nullptr},
    Driver{"wiredtiger", "WiredTiger, embedded: wiredtiger:DIR", "OURO_WITH_WIREDTIGER",
           kWithWiredtiger ? open_wiredtiger : nullptr},
    Driver{"postgres postgresql", "PostgreSQL: postgres://USER@HOST:PORT/DATABASE",
           "OURO_WITH_POSTGRES", kWithPostgres ? open_postgres : nullptr},
    Driver{"mysql mariadb tidb", "MySQL, MariaDB, TiDB: mysql://USER@HOST:PORT/DATABASE",
           "OURO_WITH_MARIADB", kWithMariadb ? open_mariadb : nullptr},
    Driver{"exec", "any other, by a program that speaks our protocol: exec:COMMAND", "", open_exec},
};

// Whether `word` is one of the blank-separated `words`.
bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

Error unknown_scheme(const Url& url) {
  std::vector<std::string_view> names;
  for (const Driver& driver : kDrivers) {
    names.push_back(driver.schemes.substr(0, driver.schemes.find(' ')));
  }
  const std::string_view near = closest(url.scheme, names);
  Error error;
  error.what = near.empty() ? fmt::format("{}: no driver for '{}'; there are: sim, {}", url.text,
                                          url.scheme, fmt::join(names, ", "))
                            : fmt::format("{}: no driver for '{}'; did you mean '{}'?", url.text,
                                          url.scheme, near);
  return error;
}

}  // namespace

std::span<const Driver> drivers() { return kDrivers; }

Result<std::unique_ptr<Database>> open_database(const Url& url) {
  for (const Driver& driver : kDrivers) {
    if (!has_word(driver.schemes, url.scheme)) continue;
    if (driver.open != nullptr) return driver.open(url);
    Error error;
    error.what = fmt::format("{}: this ouro was built without the driver; build it with -D{}=ON",
                             url.text, driver.option);
    return error;
  }
  return unknown_scheme(url);
}

}  // namespace ouro::db
