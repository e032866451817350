#include "db/server_mariadb.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "db/process.h"

namespace ouro::db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr char kMariadbUser[] = "mysql";

// The path of a program; empty if it is not installed.
fs::path find_program(std::string_view name) {
  for (const char* folder : {"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"}) {
    if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

fs::path find_galera() {
  for (const char* path : {"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so",
                           "/usr/lib64/galera-4/libgalera_smm.so"}) {
    if (fs::exists(path)) return path;
  }
  return {};
}

// A fresh data directory to copy: making one takes longer than all the rest of starting a server.
// It is made once and kept until this process ends.
struct Template {
  TemporaryFolder scratch;
  fs::path data;
};

// The template; makes it at the first call. Thread-safe.
Result<const Template*> find_template(const std::atomic<bool>* cancelled) {
  static std::mutex mutex;
  static Template made;
  const std::lock_guard lock(mutex);
  if (!made.data.empty()) return &made;
  Result<TemporaryFolder> scratch = make_scratch(kMariadbUser);
  if (!scratch.ok()) return scratch.error();
  const fs::path data = scratch->path() / "data";
  const Status installed = run_program(
      {.words = {find_program("mariadb-install-db"), "--no-defaults", "--skip-test-db",
                 "--auth-root-authentication-method=normal", "--datadir=" + data.string()},
       .user = kMariadbUser,
       .directory = scratch->path(),
       .log = scratch->path() / "log",
       .scratch = {scratch->path()}},
      120s, cancelled);
  if (!installed.ok()) return installed.error();
  made.scratch = std::move(*scratch);
  made.data = data;
  return &made;
}

class MariaDbServer final : public Server {
 public:
  explicit MariaDbServer(ServerKind kind) : kind_(kind) {}
  ~MariaDbServer() override {
    // Killed, not stopped: nobody needs the data, and an orderly shutdown of a cluster takes 7 s.
    for (Node& node : nodes_) node.process.kill();
  }

  Status start(const ServerOptions& options);

  ServerKind kind() const override { return kind_; }
  const std::vector<ServerNode>& nodes() const override { return addresses_; }
  std::vector<ServerLog> logs() const override;
  int process(std::size_t node) const override { return nodes_[node].process.pid(); }

  Status pause(std::size_t node) override;
  Status resume(std::size_t node) override;
  Status kill(std::size_t node) override;
  Status restart(std::size_t node) override;
  Status cut(std::size_t node) override { return isolate(node, true); }
  Status join(std::size_t node) override { return isolate(node, false); }

 private:
  struct Node {
    fs::path folder;
    int starts = 0;  // How often it was started; each start has its own log.
    int port = 0, group_port = 0, transfer_port = 0, copy_port = 0;
    Process process;

    [[nodiscard]] fs::path log(int start) const { return folder / fmt::format("log{}", start); }
    [[nodiscard]] fs::path log() const { return log(starts); }
  };

  Status make_folder(Node& node);
  Status launch(std::size_t number, bool first);
  Status wait_until_ready(std::size_t number);
  Status isolate(std::size_t number, bool alone);
  std::vector<std::string> galera_words(std::size_t number, bool first) const;
  [[nodiscard]] std::vector<fs::path> scratch() const {
    return {scratch_.path(), template_->scratch.path()};
  }
  [[nodiscard]] bool galera() const { return kind_ == ServerKind::Galera; }

  ServerKind kind_;
  TemporaryFolder scratch_;  // Declared before the nodes, so that it is removed after they ended.
  const Template* template_ = nullptr;
  std::vector<std::string> settings_;
  const std::atomic<bool>* cancelled_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<ServerNode> addresses_;
};

Status MariaDbServer::start(const ServerOptions& options) {
  if (galera() && (options.nodes < 2 || options.nodes > 9)) {
    return Error{.what = "a Galera cluster has 2 to 9 nodes here"};
  }
  cancelled_ = options.cancelled;
  settings_ = options.settings;
  const Result<const Template*> found = find_template(cancelled_);
  if (!found.ok()) return found.error();
  template_ = *found;
  Result<TemporaryFolder> scratch = make_scratch(kMariadbUser);
  if (!scratch.ok()) return scratch.error();
  scratch_ = std::move(*scratch);
  nodes_ = std::vector<Node>(galera() ? options.nodes : 1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    node.folder = scratch_.path() / std::to_string(i);
    for (int* port : {&node.port, &node.group_port, &node.transfer_port, &node.copy_port}) {
      const Result<int> free = free_port();
      if (!free.ok()) return free.error();
      *port = *free;
    }
    addresses_.push_back({.socket = (node.folder / "s").string()});
    if (Status made = make_folder(node); !made.ok()) return made;
  }
  // The first node makes the cluster. Once it is ready, the others may join at the same time.
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (Status launched = launch(i, i == 0); !launched.ok()) return launched;
    if (i > 0) continue;
    if (Status ready = wait_until_ready(0); !ready.ok()) return ready;
  }
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    if (Status ready = wait_until_ready(i); !ready.ok()) return ready;
  }
  return {};
}

std::vector<ServerLog> MariaDbServer::logs() const {
  std::vector<ServerLog> all;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (int start = 1; start <= nodes_[i].starts; ++start) {
      all.push_back({fmt::format("node-{}-start-{}.log", i + 1, start), nodes_[i].log(start)});
    }
  }
  return all;
}

Status MariaDbServer::make_folder(Node& node) {
  return run_program({.words = {"/bin/sh", "-c", R"(mkdir "$1" && cp -a "$0" "$1/data")",
                                template_->data.string(), node.folder.string()},
                      .user = kMariadbUser,
                      .directory = scratch_.path(),
                      .log = scratch_.path() / "log",
                      .scratch = scratch()},
                     60s, cancelled_);
}

// The options for Galera. A node that does not answer is excluded after 3 s instead of 5 s, and may
// come back after 1 s. `first`: makes a new cluster instead of joining one.
std::vector<std::string> MariaDbServer::galera_words(std::size_t number, bool first) const {
  const Node& node = nodes_[number];
  std::vector<std::string> members;
  for (const Node& other : nodes_) members.push_back(fmt::format("127.0.0.1:{}", other.group_port));
  std::vector<std::string> words = {
      "--wsrep-on=ON",
      "--wsrep-provider=" + find_galera().string(),
      "--wsrep-cluster-name=ouro",
      fmt::format("--wsrep-cluster-address=gcomm://{}", fmt::join(members, ",")),
      fmt::format("--wsrep-node-name=n{}", number),
      fmt::format("--wsrep-node-address=127.0.0.1:{}", node.group_port),
      "--wsrep-sst-method=rsync",
      fmt::format("--wsrep-sst-receive-address=127.0.0.1:{}", node.copy_port),
      "--wsrep-slave-threads=2",
      "--wsrep-gtid-mode=ON",
      fmt::format("--wsrep-provider-options=base_host=127.0.0.1;base_port={0};"
                  "gmcast.listen_addr=tcp://127.0.0.1:{0};ist.recv_addr=127.0.0.1:{1};"
                  "gcache.size=64M;evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT3S;"
                  "evs.inactive_timeout=PT6S;gmcast.time_wait=PT1S",
                  node.group_port, node.transfer_port)};
  if (first) words.push_back("--wsrep-new-cluster");
  return words;
}

Status MariaDbServer::launch(std::size_t number, bool first) {
  Node& node = nodes_[number];
  ++node.starts;
  const std::string folder = node.folder.string();
  std::vector<std::string> words = {
      find_program("mariadbd").string(), "--no-defaults", "--datadir=" + folder + "/data",
      "--socket=" + folder + "/s", "--pid-file=" + folder + "/pid", "--tmpdir=" + folder,
      "--bind-address=127.0.0.1", fmt::format("--port={}", node.port), "--skip-name-resolve",
      fmt::format("--server-id={}", number + 1), "--binlog-format=ROW",
      "--log-bin=" + folder + "/binlog", "--log-slave-updates", "--default-storage-engine=InnoDB",
      "--innodb-autoinc-lock-mode=2",
      // Commits survive a kill of the server, though not a crash of the machine.
      "--innodb-flush-log-at-trx-commit=2", "--max-connections=400",
      "--innodb-buffer-pool-size=64M"};
  if (galera()) {
    for (std::string& word : galera_words(number, first)) words.push_back(std::move(word));
  }
  for (const std::string& setting : settings_) words.push_back("--" + setting);
  Result<Process> process = Process::start({.words = std::move(words),
                                            .user = kMariadbUser,
                                            .directory = node.folder,
                                            .log = node.log(),
                                            .scratch = scratch()});
  if (!process.ok()) return process.error();
  node.process = std::move(*process);
  return {};
}

// Waits for the lines of the log that say so. Asking the server would need the driver, which a
// build may leave out.
Status MariaDbServer::wait_until_ready(std::size_t number) {
  Node& node = nodes_[number];
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  for (;;) {
    std::ifstream log(node.log());
    bool listens = false;
    bool synced = !galera();
    for (std::string line; std::getline(log, line);) {
      if (line.find("mariadbd: ready for connections") != std::string::npos) listens = true;
      if (line.find("Synchronized with group, ready for connections") != std::string::npos) {
        synced = true;
      }
    }
    if (listens && synced) return {};
    const bool ended = !node.process.running();
    if (ended || std::chrono::steady_clock::now() > deadline) {
      return Error{.what = fmt::format("MariaDB {}: {}",
                                       ended ? "ended at once" : "did not start within 120 s",
                                       complaints(node.log()))};
    }
    if (cancelled_ != nullptr && *cancelled_) return Error{.what = "interrupted"};
    std::this_thread::sleep_for(20ms);
  }
}

Status MariaDbServer::pause(std::size_t number) {
  if (!nodes_[number].process.running()) return Error{.what = "the node is down"};
  nodes_[number].process.pause();
  return {};
}

Status MariaDbServer::resume(std::size_t number) {
  nodes_[number].process.resume();
  return {};
}

Status MariaDbServer::kill(std::size_t number) {
  nodes_[number].process.kill();
  return {};
}

Status MariaDbServer::restart(std::size_t number) {
  if (nodes_[number].process.running()) return {};
  if (Status launched = launch(number, false); !launched.ok()) return launched;
  return wait_until_ready(number);
}

// Galera's group communication has a setting that makes the node ignore all others.
Status MariaDbServer::isolate(std::size_t number, bool alone) {
  if (!galera()) return Error{.what = "a single server cannot be cut off from others"};
  const fs::path client = find_program("mariadb");
  if (client.empty()) {
    return Error{.what = "to cut a node off needs the program mariadb; install mariadb-client"};
  }
  return run_program({.words = {client.string(), "--no-defaults", "--user=root",
                                "--socket=" + addresses_[number].socket, "--execute",
                                fmt::format("SET GLOBAL wsrep_provider_options='gmcast.isolate={}'",
                                            alone ? 1 : 0)},
                      .user = kMariadbUser,
                      .directory = scratch_.path(),
                      .log = scratch_.path() / "log"},
                     10s);
}

}  // namespace

Status find_mariadb_packages(ServerKind kind) {
  const auto missing = [](std::string_view what, std::string_view package) {
    return Error{.what = fmt::format("{} is not installed; install {}, as 'scripts/setup servers' "
                                     "does",
                                     what, package)};
  };
  if (find_program("mariadbd").empty() || find_program("mariadb-install-db").empty()) {
    return missing("the MariaDB server", "mariadb-server");
  }
  if (kind != ServerKind::Galera) return {};
  if (find_galera().empty()) return missing("Galera's library", "galera-4");
  // A node that was killed and restarted copies the state of another with these programs.
  if (find_program("rsync").empty()) return missing("rsync", "rsync");
  if (find_program("lsof").empty()) return missing("lsof", "lsof");
  return {};
}

Result<std::unique_ptr<Server>> start_mariadb(ServerKind kind, const ServerOptions& options) {
  auto server = std::make_unique<MariaDbServer>(kind);
  if (const Status started = server->start(options); !started.ok()) return started.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace ouro::db
