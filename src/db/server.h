// Private throwaway servers, started from the installed packages.
//
// A server lives in a temporary directory, runs as an unprivileged user, and listens on Unix
// sockets and 127.0.0.1 only. It goes away with its object, and also if this process is killed
// (process.h); its data go with it. Nothing is asked of the disk (no fsync), but what a server has
// promised to keep survives that the server is killed.
//
// A server has one or more nodes. What --nemesis does to them is done here: a node can be paused
// (SIGSTOP, so its connections stall), killed (SIGKILL) and restarted, or cut off from the others.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/result.h"

namespace ouro::db {

enum class ServerKind {
  Postgres,
  PostgresStandby,  // A primary and one synchronous hot standby.
  MariaDb,
  Galera,  // Several MariaDB nodes, all of which take writes.
};

// "postgres", "postgres-standby", "mariadb", "galera"; an error names all of them.
[[nodiscard]] Result<ServerKind> parse_server_kind(std::string_view name);
[[nodiscard]] std::string_view name(ServerKind kind);

struct ServerOptions {
  unsigned nodes = 3;                            // Galera only; 2 to 9.
  std::vector<std::string> settings;             // More "name=value" of the server's configuration.
  const std::atomic<bool>* cancelled = nullptr;  // Turns true: starting gives up soon.
};

// What --start says: "galera?nodes=2&isolation=rr&set=innodb_lock_schedule_algorithm%3DFCFS".
// `nodes` and `set` are about the server, other options are the driver's.
struct StartRequest {
  ServerKind kind = ServerKind::Postgres;
  ServerOptions options;
  std::string url_options;  // "isolation=rr"
};
[[nodiscard]] Result<StartRequest> parse_start(std::string_view text);

// How clients reach a node.
struct ServerNode {
  std::string socket;      // PostgreSQL: the directory of the socket. MariaDB: the socket.
  int port = 0;            // PostgreSQL: part of the socket's name.
  bool read_only = false;  // A standby.
};

class Server {
 public:
  virtual ~Server() = default;

  [[nodiscard]] virtual ServerKind kind() const = 0;
  [[nodiscard]] virtual const std::vector<ServerNode>& nodes() const = 0;

  // All of them return when it is done; what is not running cannot be paused or cut off.
  // REQUIRES: node < nodes().size(). Thread safety: one thread at a time.
  virtual Status pause(std::size_t node) = 0;
  virtual Status resume(std::size_t node) = 0;
  virtual Status kill(std::size_t node) = 0;
  // Starts a killed node and waits until it takes part again.
  virtual Status restart(std::size_t node) = 0;
  // The node no longer hears the others, nor they it; clients still reach it.
  virtual Status cut(std::size_t node) = 0;
  virtual Status join(std::size_t node) = 0;
  // The number of the node's process; for tests and messages.
  [[nodiscard]] virtual int process(std::size_t node) const = 0;
};

// The URL of all nodes, for open_database(); `options` such as "isolation=rr" are passed on.
[[nodiscard]] std::string url_of(const Server& server, std::string_view options = "");
// The same before it is started: it says what the database promises, but nobody is there.
[[nodiscard]] std::string url_of(ServerKind kind, std::string_view options);

// Starts `kind` and waits until every node takes part. An error names the package that is missing,
// or gives the last lines of the server's log. Takes 1 to 3 s for PostgreSQL, 6 with a standby, 7
// for MariaDB, 18 for three nodes of Galera; less if this process has started a MariaDB before.
[[nodiscard]] Result<std::unique_ptr<Server>> start_server(ServerKind kind,
                                                           const ServerOptions& options = {});

// Ok if the packages that `kind` needs are installed; else an error that names what is missing.
[[nodiscard]] Status find_packages(ServerKind kind);

}  // namespace ouro::db
