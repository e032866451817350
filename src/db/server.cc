#include "db/server.h"

#include <fmt/format.h>

#include <array>

#include "db/server_mariadb.h"
#include "db/server_postgres.h"
#include "db/url.h"

namespace ouro::db {
namespace {

struct NamedKind {
  ServerKind kind;
  std::string_view name;
};
constexpr std::array<NamedKind, 4> kKinds = {{{ServerKind::Postgres, "postgres"},
                                              {ServerKind::PostgresStandby, "postgres-standby"},
                                              {ServerKind::MariaDb, "mariadb"},
                                              {ServerKind::Galera, "galera"}}};

bool is_postgres(ServerKind kind) {
  return kind == ServerKind::Postgres || kind == ServerKind::PostgresStandby;
}

}  // namespace

Result<ServerKind> parse_server_kind(std::string_view name) {
  for (const NamedKind& known : kKinds) {
    if (known.name == name) return known.kind;
  }
  return Error{.what =
                   fmt::format("cannot start '{}'; there are postgres, postgres-standby, mariadb "
                               "and galera",
                               name)};
}

std::string_view name(ServerKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

Result<StartRequest> parse_start(std::string_view text) {
  Result<Url> url = parse_url(fmt::format("start:{}", text));
  if (!url.ok()) return url.error();
  const Result<ServerKind> kind = parse_server_kind(url->path);
  if (!kind.ok()) return kind.error();
  StartRequest request{.kind = *kind};
  if (const std::string nodes = url->take("nodes"); !nodes.empty()) {
    if (nodes.size() != 1 || nodes[0] < '2' || nodes[0] > '9' || *kind != ServerKind::Galera) {
      return Error{.what = fmt::format("--start {}: nodes are for galera, from 2 to 9", text)};
    }
    request.options.nodes = static_cast<unsigned>(nodes[0] - '0');
  }
  for (const auto& [name, value] : url->options) {
    if (name == "set") {
      request.options.settings.push_back(value);
    } else {
      request.url_options +=
          fmt::format("{}{}={}", request.url_options.empty() ? "" : "&", name, value);
    }
  }
  return request;
}

namespace {

std::string make_url(ServerKind kind, const std::vector<std::string>& hosts,
                     std::string_view options) {
  const bool postgres = is_postgres(kind);
  return fmt::format("{}@{}/{}{}{}", postgres ? "postgres://postgres" : "mysql://root",
                     fmt::join(hosts, ","), postgres ? "postgres" : "test",
                     options.empty() ? "" : "?", options);
}

}  // namespace

std::string url_of(const Server& server, std::string_view options) {
  std::vector<std::string> hosts;
  for (const ServerNode& node : server.nodes()) {
    std::string host;
    for (const char c : node.socket) host += c == '/' ? "%2F" : std::string(1, c);
    if (node.port != 0) host += fmt::format(":{}", node.port);
    hosts.push_back(std::move(host));
  }
  return make_url(server.kind(), hosts, options);
}

std::string url_of(ServerKind kind, std::string_view options) {
  return make_url(kind, {"not-started"}, options);
}

Status find_packages(ServerKind kind) {
  return is_postgres(kind) ? find_postgres_packages() : find_mariadb_packages(kind);
}

Result<std::unique_ptr<Server>> start_server(ServerKind kind, const ServerOptions& options) {
  if (const Status found = find_packages(kind); !found.ok()) return found.error();
  return is_postgres(kind) ? start_postgres(kind, options) : start_mariadb(kind, options);
}

}  // namespace ouro::db
