#include "db/server_postgres.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "db/process.h"

namespace ouro::db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr char kPostgresUser[] = "postgres";
constexpr int kPort = 5432;  // Only part of the socket's file name, in a directory of our own.

// The folder with the programs of the newest installed server, which Debian keeps out of PATH. The
// environment variable OURO_POSTGRES_BIN overrides it, for versions built by hand. Empty: none.
fs::path find_programs() {
  if (const char* wanted = std::getenv("OURO_POSTGRES_BIN"); wanted != nullptr) {
    return fs::exists(fs::path(wanted) / "initdb") ? wanted : "";
  }
  int newest = 0;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
    const std::string version = entry.path().filename();
    int number = 0;
    std::from_chars(version.data(), version.data() + version.size(), number);
    if (number > newest && fs::exists(entry.path() / "bin/initdb")) newest = number;
  }
  if (newest > 0) return fmt::format("/usr/lib/postgresql/{}/bin", newest);
  for (const char* folder : {"/usr/local/bin", "/usr/bin", "/usr/local/pgsql/bin"}) {
    if (fs::exists(fs::path(folder) / "initdb")) return folder;
  }
  return {};
}

Status append(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::app);
  out << text << std::flush;
  if (out) return {};
  return Error{.file = file.string(), .what = "cannot write"};
}

class PostgresServer final : public Server {
 public:
  explicit PostgresServer(ServerKind kind) : kind_(kind) {}
  ~PostgresServer() override {
    // SIGQUIT is an immediate shutdown; unlike a kill it also frees the shared memory.
    for (Node& node : nodes_) node.process.stop(SIGQUIT, 5s);
  }

  Status start(const ServerOptions& options);

  ServerKind kind() const override { return kind_; }
  const std::vector<ServerNode>& nodes() const override { return addresses_; }
  std::vector<ServerLog> logs() const override { return {{"server.log", scratch_.path() / "log"}}; }
  int process(std::size_t node) const override { return nodes_[node].process.pid(); }

  Status pause(std::size_t node) override;
  Status resume(std::size_t node) override;
  Status kill(std::size_t node) override;
  Status restart(std::size_t node) override;
  Status cut(std::size_t node) override;
  Status join(std::size_t node) override;

 private:
  struct Node {
    fs::path data;
    Process process;
  };

  Program program(std::vector<std::string> words) const;
  Status make_primary(const ServerOptions& options);
  Status make_standby();
  Status launch(Node& node);
  Status wait_until_ready(Node& node);
  Status reload(Node& node, std::string_view file, std::string_view settings);

  ServerKind kind_;
  fs::path programs_ = find_programs();
  TemporaryFolder scratch_;  // Declared before the nodes, so that it is removed after they ended.
  const std::atomic<bool>* cancelled_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<ServerNode> addresses_;
};

Program PostgresServer::program(std::vector<std::string> words) const {
  words[0] = (programs_ / words[0]).string();
  return {.words = std::move(words),
          .user = kPostgresUser,
          .directory = scratch_.path(),
          .log = scratch_.path() / "log",
          .scratch = {scratch_.path()}};
}

Status PostgresServer::start(const ServerOptions& options) {
  cancelled_ = options.cancelled;
  Result<TemporaryFolder> scratch = make_scratch(kPostgresUser);
  if (!scratch.ok()) return scratch.error();
  scratch_ = std::move(*scratch);
  const std::size_t count = kind_ == ServerKind::PostgresStandby ? 2 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    nodes_.push_back({scratch_.path() / fmt::format("data{}", i), {}});
    addresses_.push_back(
        {scratch_.path().string(), kPort + static_cast<int>(i), /*read_only=*/i > 0});
  }
  if (Status made = make_primary(options); !made.ok()) return made;
  return count == 2 ? make_standby() : Status{};
}

Status PostgresServer::make_primary(const ServerOptions& options) {
  const fs::path& data = nodes_[0].data;
  Status made = run_program(program({"initdb", "-D", data.string(), "-A", "trust", "-U",
                                     kPostgresUser, "-E", "UTF8", "--locale=C", "-N"}),
                            60s, cancelled_);
  if (!made.ok()) return made;
  // deadlock_timeout: with the default of 1 s, waiting for deadlocks to be noticed costs short
  // transactions nine tenths of their throughput. wal_level: logical decoding tells the order of
  // commits that no snapshot tells apart.
  std::string settings = fmt::format(
      "port={}\nlisten_addresses=''\nunix_socket_directories='{}'\nfsync=off\nwal_level=logical\n"
      "max_replication_slots=8\nmax_connections=300\ntrack_commit_timestamp=on\nautovacuum=off\n"
      "deadlock_timeout=20ms\ndynamic_shared_memory_type=mmap\nlog_min_messages=warning\n"
      "checkpoint_timeout=1h\nmax_wal_size=8GB\n",
      kPort, scratch_.path().string());
  for (const std::string& setting : options.settings) settings += setting + "\n";
  if (Status written = append(data / "postgresql.conf", settings); !written.ok()) return written;
  return launch(nodes_[0]);
}

Status PostgresServer::make_standby() {
  Node& standby = nodes_[1];
  Status copied =
      run_program(program({"pg_basebackup", "-h", scratch_.path().string(), "-p",
                           std::to_string(kPort), "-U", kPostgresUser, "-D", standby.data.string(),
                           "--write-recovery-conf", "-X", "stream", "-c", "fast", "-N"}),
                  60s, cancelled_);
  if (!copied.ok()) return copied;
  Status written = append(standby.data / "postgresql.conf",
                          fmt::format("port={}\nhot_standby=on\n", addresses_[1].port));
  if (!written.ok()) return written;
  if (Status launched = launch(standby); !launched.ok()) return launched;
  return reload(nodes_[0], "postgresql.conf", "synchronous_standby_names='*'\n");
}

Status PostgresServer::launch(Node& node) {
  std::error_code none;
  fs::remove(node.data / "postmaster.pid", none);  // Left over if the server was killed.
  Result<Process> process = Process::start(program({"postgres", "-D", node.data.string()}));
  if (!process.ok()) return process.error();
  node.process = std::move(*process);
  return wait_until_ready(node);
}

// The last line of postmaster.pid says "ready" as soon as connections are accepted, also by a
// standby.
Status PostgresServer::wait_until_ready(Node& node) {
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  for (;;) {
    if (last_lines(node.data / "postmaster.pid", 1).starts_with("ready")) return {};
    const bool ended = !node.process.running();
    if (ended || std::chrono::steady_clock::now() > deadline) {
      return Error{.what = fmt::format("PostgreSQL {}: {}",
                                       ended ? "ended at once" : "did not start within 60 s",
                                       complaints(scratch_.path() / "log"))};
    }
    if (cancelled_ != nullptr && *cancelled_) return Error{.what = "interrupted"};
    std::this_thread::sleep_for(10ms);
  }
}

// Appends `settings` to a configuration file of the node, which then reads them.
Status PostgresServer::reload(Node& node, std::string_view file, std::string_view settings) {
  Status written = append(node.data / file, settings);
  if (written.ok()) node.process.signal(SIGHUP);
  return written;
}

Status PostgresServer::pause(std::size_t node) {
  if (!nodes_[node].process.running()) return Error{.what = "the node is down"};
  nodes_[node].process.pause();
  return {};
}

Status PostgresServer::resume(std::size_t node) {
  nodes_[node].process.resume();
  return {};
}

Status PostgresServer::kill(std::size_t node) {
  nodes_[node].process.kill();
  return {};
}

Status PostgresServer::restart(std::size_t node) {
  if (nodes_[node].process.running()) return {};
  return launch(nodes_[node]);
}

// The standby no longer knows its primary; it keeps answering from the data that it has.
Status PostgresServer::cut(std::size_t node) {
  if (node == 0) return Error{.what = "only a standby can be cut off"};
  return reload(nodes_[node], "postgresql.auto.conf", "primary_conninfo = ''\n");
}

Status PostgresServer::join(std::size_t node) {
  if (node == 0) return {};
  return reload(nodes_[node], "postgresql.auto.conf",
                fmt::format("primary_conninfo = 'user={} host={} port={}'\n", kPostgresUser,
                            scratch_.path().string(), kPort));
}

}  // namespace

Status find_postgres_packages() {
  if (!find_programs().empty()) return {};
  return Error{.what =
                   "no PostgreSQL server is installed; install postgresql-15, as "
                   "'scripts/setup servers' does"};
}

Result<std::unique_ptr<Server>> start_postgres(ServerKind kind, const ServerOptions& options) {
  auto server = std::make_unique<PostgresServer>(kind);
  if (const Status started = server->start(options); !started.ok()) return started.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace ouro::db
