// The URL of a database: "postgres://me@db1:5432,db2:5432/test?isolation=rr", "sqlite:FILE",
// "rocksdb:", "sim:si?fault=lost-update".
//
// The text before the first ':' is the scheme, the text after '?' has options for the driver
// (name=value, separated by '&'). If "//" follows the scheme, then user, hosts and path come next;
// otherwise the rest is the path. Parts may be percent-encoded: the host "%2Ftmp%2Fx" is the folder
// of a Unix socket. Only of "exec:COMMAND" the rest is a command as it stands.
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
  std::string path;         // Decoded. After "//host", without its first slash.
  std::vector<std::pair<std::string, std::string>> options;  // Decoded, in the order given.

  // Removes the option called `name` and returns its value; `otherwise` if it was not given. If it
  // was given several times, the last value counts.
  std::string take(std::string_view name, std::string_view otherwise = "");
  // An error if there are options that nobody took; call it after the last take(). `known` lists
  // the options that exist, for the message.
  [[nodiscard]] Status nothing_left(std::string_view known) const;
};

[[nodiscard]] Result<Url> parse_url(std::string_view text);

// An error if `value`, that of option `name` of `url`, is none of `words`.
[[nodiscard]] Status one_of(const Url& url, std::string_view name, std::string_view value,
                            std::initializer_list<std::string_view> words);

}  // namespace ouro::db
