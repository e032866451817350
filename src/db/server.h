// Private throwaway servers, started from the installed packages.
//
// A server has its data in a temporary directory, runs as an unprivileged user, and listens on Unix
// sockets and 127.0.0.1 only. Server and data are removed with the Server object, and also if this
// process is killed (process.h). Servers do not wait for the disk (no fsync), so committed data
// survive a kill of the server, but not a crash of the machine.
//
// A server has one or more nodes. --nemesis uses what is here: a node can be paused (SIGSTOP, so
// its connections stall), killed (SIGKILL) and restarted, or cut off from the others.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
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
  const std::atomic<bool>* cancelled = nullptr;  // When it turns true, starting gives up soon.
};

// The value of --start: "galera?nodes=2&isolation=rr&set=innodb_lock_schedule_algorithm%3DFCFS".
// `nodes` and `set` are for the server, other options are for the driver.
struct StartRequest {
  ServerKind kind = ServerKind::Postgres;
  ServerOptions options;
  std::string url_options;  // "isolation=rr"
};
[[nodiscard]] Result<StartRequest> parse_start(std::string_view text);

// How clients reach a node.
struct ServerNode {
  std::string socket;      // PostgreSQL: the directory of the socket. MariaDB: the socket.
  int port = 0;            // PostgreSQL: part of the socket's file name. MariaDB: 0.
  bool read_only = false;  // A standby.
};

struct ServerLog {
  std::string name;  // For people: "node-1.log".
  std::filesystem::path path;
};

class Server {
 public:
  virtual ~Server() = default;

  [[nodiscard]] virtual ServerKind kind() const = 0;
  [[nodiscard]] virtual const std::vector<ServerNode>& nodes() const = 0;

  // These functions return when the change is done. A node that is not running cannot be paused or
  // cut off. REQUIRES: node < nodes().size(). Thread safety: one thread at a time.
  virtual Status pause(std::size_t node) = 0;
  virtual Status resume(std::size_t node) = 0;
  virtual Status kill(std::size_t node) = 0;
  // Starts a killed node and waits until it takes part again.
  virtual Status restart(std::size_t node) = 0;
  // Cuts the connections between the node and the others; clients still reach it. join() undoes it.
  virtual Status cut(std::size_t node) = 0;
  virtual Status join(std::size_t node) = 0;
  // The files to which the server wrote messages. They are removed with it.
  [[nodiscard]] virtual std::vector<ServerLog> logs() const = 0;
  // The process id of the node; for tests and messages.
  [[nodiscard]] virtual int process(std::size_t node) const = 0;
};

// The URL of all nodes, for open_database(); `options` such as "isolation=rr" are passed on.
[[nodiscard]] std::string url_of(const Server& server, std::string_view options = "");
// A URL without a server behind it, to learn what the database would promise before it is started.
[[nodiscard]] std::string url_of(ServerKind kind, std::string_view options);

// Starts `kind` and waits until every node takes part. An error names the package that is missing,
// or gives lines of the server's log. Takes 1 to 3 s for PostgreSQL, 6 s with a standby, 7 s for
// MariaDB, 18 s for three nodes of Galera; less if this process has started a MariaDB before.
[[nodiscard]] Result<std::unique_ptr<Server>> start_server(ServerKind kind,
                                                           const ServerOptions& options = {});

// Ok if the packages that `kind` needs are installed; else an error that names what is missing.
[[nodiscard]] Status find_packages(ServerKind kind);

}  // namespace ouro::db
