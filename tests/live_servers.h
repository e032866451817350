// Servers for tests: each kind is started once, when the first test asks for it, and shared.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "db/server.h"

namespace ouro {

// The running server of this kind; null if its packages are missing or it does not start, and then
// problem_of(kind) says why.
db::Server* live_server(db::ServerKind kind);
std::string problem_of(db::ServerKind kind);
// Throws the server of this kind away; whoever asks next gets a new one.
void renew_server(db::ServerKind kind);

}  // namespace ouro

// Skips the test only if packages are missing, and names them; a server that does not start is a
// failure.
#define OURO_NEEDS_SERVER(kind)                                          \
  if (const auto found = ::ouro::db::find_packages(kind); !found.ok()) { \
    GTEST_SKIP() << found.error().what;                                  \
  }                                                                      \
  ASSERT_NE(::ouro::live_server(kind), nullptr) << ::ouro::problem_of(kind)
