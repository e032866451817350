#include "tests/live_servers.h"

#include <map>
#include <memory>

namespace ouro {
namespace {

struct Started {
  std::unique_ptr<db::Server> server;
  std::string problem;
};

std::map<db::ServerKind, Started>& started() {
  static std::map<db::ServerKind, Started> servers;
  return servers;
}

// Stops the servers before static objects are destroyed, whose order is not known.
class StopServers : public testing::Environment {
 public:
  void TearDown() override { started().clear(); }
};
const auto* const kStop = testing::AddGlobalTestEnvironment(new StopServers);

}  // namespace

db::Server* live_server(db::ServerKind kind) {
  const auto [found, fresh] = started().try_emplace(kind);
  if (fresh) {
    auto server = db::start_server(kind);
    if (server.ok()) {
      found->second.server = std::move(*server);
    } else {
      found->second.problem = server.error().what;
    }
  }
  return found->second.server.get();
}

void renew_server(db::ServerKind kind) { started().erase(kind); }

std::string problem_of(db::ServerKind kind) { return started()[kind].problem; }

}  // namespace ouro
