// Where a database is: "postgres://me@db1:5432,db2:5432/test?isolation=rr", "sqlite:FILE",
// "rocksdb:", "sim:si?fault=lost-update".
//
// What stands before the first ':' is the scheme, what follows '?' are options for the driver
// (name=value, separated by '&'). After "//" come user, hosts and path; otherwise everything is the
// path. Parts may be percent-encoded ("%2Ftmp%2Fx" as a host is a socket's folder).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/result.h"

namespace ouro::db {

struct Host {
  std::string name;  // Decoded. Empty: the driver's default.
  int port = 0;      // Zero: the driver's default.
};

struct Url {
  std::string text;    // As given, with any password hidden; for messages.
  std::string scheme;  // In lower case.
  std::string user;
  std::string password;
  std::vector<Host> hosts;  // Empty if there was no "//".
  std::string path;         // After "//host/": without the slash. Decoded.
  std::vector<std::pair<std::string, std::string>> options;  // Decoded, in the order given.

  // Removes the option called `name` and returns its value; `otherwise` if it was not given. The
  // last of several wins.
  std::string take(std::string_view name, std::string_view otherwise = "");
  // The error about options that nobody took; call it after the last take(). `known` lists those
  // there are, for the message.
  [[nodiscard]] Status nothing_left(std::string_view known) const;
};

[[nodiscard]] Result<Url> parse_url(std::string_view text);

// The error about option `name` of `url` if `value` is none of `words`.
[[nodiscard]] Status one_of(const Url& url, std::string_view name, std::string_view value,
                            std::initializer_list<std::string_view> words);

}  // namespace ouro::db
