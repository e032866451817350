#include "db/process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <system_error>
#include <thread>

namespace ouro::db {
namespace {

using namespace std::chrono_literals;

// Between fork and exec, and in the supervisor, only functions that are safe in a signal handler
// may be called: other threads of ours may have held locks when we forked. So no memory is
// allocated there.

// Descriptors in the supervisor. Control: ends or brings a byte when everything is to be killed.
// Report: takes the program's process number, or the negative errno if it cannot be executed.
constexpr int kControlFd = 3;
constexpr int kReportFd = 4;

std::string system_message(int error) { return std::generic_category().message(error); }

// Ends a forked child without running the exit handlers that its parent registered.
[[noreturn]] void end_child(int status) {
  for (;;) ::syscall(SYS_exit_group, status);
}

struct Identity {
  bool change = false;  // If not, the program runs as we do.
  uid_t uid = 0;
  gid_t gid = 0;
};

Result<Identity> identity_of(const std::string& user) {
  if (user.empty() || ::geteuid() != 0) return Identity{};
  struct passwd entry {};
  struct passwd* found = nullptr;
  std::array<char, 16384> buffer;
  ::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    return Error{.what = fmt::format("there is no user '{}' to run the server as; the server's "
                                     "package creates it",
                                     user)};
  }
  return Identity{true, entry.pw_uid, entry.pw_gid};
}

// Calls visit(process, parent) for every process of the machine. Safe in a signal handler.
template <class Visit>
void for_each_process(const Visit& visit) {
  struct Entry {  // The layout that getdents64 fills in.
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];
  };
  const int folder = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(8) std::array<char, 8192> entries;
  for (;;) {
    const long size = ::syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      Entry entry;
      std::memcpy(&entry, entries.data() + at, sizeof entry);
      const char* name = entries.data() + at + offsetof(Entry, name);
      at += entry.size;
      pid_t pid = 0;
      for (const char* c = name; *c != 0; ++c) {
        if (*c < '0' || *c > '9') pid = -1;
        if (pid < 0) break;
        pid = pid * 10 + (*c - '0');
      }
      if (pid <= 0) continue;
      std::array<char, 32> path = {"/proc/"};
      std::strncat(path.data(), name, 16);
      std::strncat(path.data(), "/stat", 6);
      const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
      if (file < 0) continue;
      std::array<char, 512> stat;
      const ssize_t length = ::read(file, stat.data(), stat.size() - 1);
      ::close(file);
      if (length <= 0) continue;
      stat[static_cast<std::size_t>(length)] = 0;
      const char* after_name = std::strrchr(stat.data(), ')');  // "7 (a name) S 1 …"
      if (after_name == nullptr || std::strlen(after_name) < 5) continue;
      pid_t parent = 0;
      for (const char* c = after_name + 4; *c >= '0' && *c <= '9'; ++c) {
        parent = parent * 10 + (*c - '0');
      }
      visit(pid, parent);
    }
  }
  ::close(folder);
}

// The children of `root`, their children, and so on; without `root` itself.
std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for_each_process([&](pid_t pid, pid_t parent) { children.emplace(parent, pid); });
  std::vector<pid_t> found = {root};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const auto [first, last] = children.equal_range(found[next]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

// Everything that the forked processes need, made before fork since they must not allocate.
struct Launch {
  std::vector<char*> words;
  std::vector<char*> environment;
  Identity identity;
  std::string directory;
  int input = -1;             // Becomes standard input; -1: there is nothing to read.
  int output = -1;            // Becomes standard output; -1: as `log`.
  int log = -1;               // Becomes standard error; -1: output is discarded.
  bool own_mask = true;       // Whether files that it makes are for its user only.
  std::vector<char*> remove;  // The words of "rm -rf DIRECTORY…", or empty.
};

constexpr std::array kEnvironment = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/",
    "TZ=UTC"};

// In the program's process: gives up our privileges and executes the program. Reports why if it
// cannot. `supervisor` is the process that forked it.
[[noreturn]] void become_program(const Launch& launch, pid_t supervisor) {
  const auto give_up = [] {
    const int error = -errno;
    (void)!::write(kReportFd, &error, sizeof error);
    end_child(127);
  };
  if (launch.identity.change &&
      (::setgroups(0, nullptr) != 0 || ::setgid(launch.identity.gid) != 0 ||
       ::setuid(launch.identity.uid) != 0)) {
    give_up();
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);             // After setuid(), which would clear it.
  if (::getppid() != supervisor) end_child(127);  // It ended before prctl().
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (launch.own_mask) ::umask(077);
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR);
  const int log = launch.log >= 0 ? launch.log : nothing;
  ::dup2(launch.input >= 0 ? launch.input : nothing, 0);
  ::dup2(launch.output >= 0 ? launch.output : log, 1);
  ::dup2(log, 2);
  if (::chdir(launch.directory.c_str()) != 0) give_up();
  ::execve(launch.words[0], launch.words.data(), launch.environment.data());
  give_up();
  end_child(127);
}

// Kills and reaps all children. What they leave behind becomes our child in turn, so repeats until
// there is none.
void kill_all_children() {
  const pid_t self = ::getpid();
  for (;;) {
    for_each_process([&](pid_t pid, pid_t parent) {
      if (parent == self) ::kill(pid, SIGKILL);
    });
    const pid_t ended = ::waitpid(-1, nullptr, 0);
    if (ended < 0 && errno == ECHILD) return;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }
}

int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

// The whole life of the supervisor: starts the program and waits for its end or for ours.
[[noreturn]] void supervise(const Launch& launch) {
  ::prctl(PR_SET_NAME, "ouro-supervisor");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::setsid();  // So that Ctrl-C on the terminal reaches only the process that started us.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &child_ended, nullptr);

  const pid_t self = ::getpid();
  const pid_t program = ::fork();
  if (program == 0) become_program(launch, self);
  // Only the program may keep these open: whoever reads its output waits for the end of it.
  for (const int fd : {launch.input, launch.output}) {
    if (fd >= 0) ::close(fd);
  }
  (void)!::write(kReportFd, &program, sizeof program);
  ::close(kReportFd);
  if (program < 0) end_child(127);

  std::array<struct pollfd, 2> events = {{{kControlFd, POLLIN, 0}, {}}};
  events[1] = {::signalfd(-1, &child_ended, SFD_CLOEXEC), POLLIN, 0};
  for (;;) {
    if (::poll(events.data(), events.size(), -1) < 0) continue;
    if (events[1].revents != 0) {
      struct signalfd_siginfo ignored;
      (void)!::read(events[1].fd, &ignored, sizeof ignored);
      int status = 0;
      for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
        if (ended != program) continue;
        kill_all_children();
        end_child(exit_status(status));
      }
    }
    if (events[0].revents != 0) {
      char order = 0;
      const bool vanished = ::read(kControlFd, &order, 1) == 0;
      kill_all_children();
      if (vanished && !launch.remove.empty()) {
        const pid_t remover = ::fork();
        if (remover == 0) {
          ::execve(launch.remove[0], launch.remove.data(), launch.environment.data());
          end_child(127);
        }
        ::waitpid(remover, nullptr, 0);
      }
      end_child(128 + SIGKILL);
    }
  }
}

// In the supervisor: moves the descriptors that it needs to fixed numbers and closes all others. If
// it kept the pipe of another supervisor open, that one would not notice when we end.
void keep_only(int control, int report, Launch& launch) {
  const std::array<int*, 5> kept = {&control, &report, &launch.input, &launch.output, &launch.log};
  // First to numbers of 10 and more, so that dup2() below overwrites none of them.
  for (int* fd : kept) {
    if (*fd >= 0) *fd = ::fcntl(*fd, F_DUPFD, 10);
  }
  int next = kControlFd;
  for (int* fd : kept) {
    if (*fd < 0) continue;
    ::dup2(*fd, next);
    *fd = next++;
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(next), ~0U, 0);
  for (const int* fd : kept) {
    if (*fd >= 0) ::fcntl(*fd, F_SETFD, FD_CLOEXEC);
  }
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

struct Descriptor {
  int fd = -1;
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

}  // namespace

Result<Process> Process::start(const Program& program) {
  const Result<Identity> identity = identity_of(program.user);
  if (!identity.ok()) return identity.error();
  std::vector<std::string> words = program.words;
  std::vector<std::string> environment(kEnvironment.begin(), kEnvironment.end());
  if (program.our_environment) {
    environment.clear();
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  }
  std::vector<std::string> remove = {"/bin/rm", "-rf"};
  for (const std::filesystem::path& path : program.scratch) remove.push_back(path.string());
  Launch launch{.words = pointers(words),
                .environment = pointers(environment),
                .identity = *identity,
                .directory = program.directory.string(),
                .own_mask = !program.our_environment};
  if (!program.scratch.empty()) launch.remove = pointers(remove);
  Descriptor log;
  if (!program.log.empty()) {
    log.fd = ::open(program.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log.fd < 0) return Error{.file = program.log.string(), .what = system_message(errno)};
  }
  int control[2];
  int report[2];
  if (::pipe2(control, O_CLOEXEC) != 0) return Error{.what = system_message(errno)};
  Descriptor control_read{control[0]};
  Descriptor control_write{control[1]};
  if (::pipe2(report, O_CLOEXEC) != 0) return Error{.what = system_message(errno)};
  Descriptor report_read{report[0]};
  Descriptor report_write{report[1]};

  const pid_t supervisor = ::fork();
  if (supervisor < 0) return Error{.what = "cannot start a process: " + system_message(errno)};
  if (supervisor == 0) {
    launch.input = program.input;
    launch.output = program.output;
    launch.log = log.fd;
    keep_only(control_read.fd, report_write.fd, launch);
    supervise(launch);
  }
  report_write.reset();
  Process process;
  process.supervisor_ = supervisor;
  process.control_ = std::exchange(control_write.fd, -1);
  // The report is the program's process number, followed by a negative errno if it could not be
  // executed. It ends when both writers, supervisor and program, have closed their ends; executing
  // the program does that.
  int error = 0;
  for (int number = 0;;) {
    const ssize_t size = ::read(report_read.fd, &number, sizeof number);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof number) break;
    (number > 0 ? process.program_ : error) = number;
  }
  if (error == 0 && process.program_ > 0) return process;
  process.kill();
  return Error{.what = fmt::format("cannot start {}: {}", program.words[0],
                                   system_message(error != 0 ? -error : EAGAIN))};
}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(supervisor_, other.supervisor_);
  std::swap(program_, other.program_);
  std::swap(control_, other.control_);
  std::swap(status_, other.status_);
  return *this;
}

std::optional<int> Process::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (supervisor_ < 0) return status_;
    int status = 0;
    const pid_t ended = ::waitpid(supervisor_, &status, WNOHANG);
    if (ended == supervisor_ || (ended < 0 && errno == ECHILD)) {
      status_ = ended < 0 ? -1 : exit_status(status);
      supervisor_ = -1;
      ::close(std::exchange(control_, -1));
      return status_;
    }
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(2ms);
  }
}

bool Process::running() { return supervisor_ >= 0 && !wait(0ms); }

void Process::signal(int number) {
  if (running()) ::kill(program_, number);
}

void Process::pause() {
  if (!running()) return;
  // Twice: a process may have started another just before the first pass stopped it.
  for (int pass = 0; pass < 2; ++pass) {
    for (const pid_t pid : descendants(supervisor_)) ::kill(pid, SIGSTOP);
  }
}

void Process::resume() {
  if (!running()) return;
  for (const pid_t pid : descendants(supervisor_)) ::kill(pid, SIGCONT);
}

void Process::kill() {
  if (!running()) return;
  (void)!::write(control_, "k", 1);
  (void)wait(30s);
}

void Process::stop(int signal_number, std::chrono::milliseconds patience) {
  if (!running()) return;
  signal(signal_number);
  resume();
  if (!wait(patience)) kill();
}

Status run_program(const Program& program, std::chrono::milliseconds limit,
                   const std::atomic<bool>* cancelled) {
  Result<Process> process = Process::start(program);
  if (!process.ok()) return process.error();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::optional<int> status;
  while (!status) {
    status = process->wait(20ms);
    if (status) break;
    const bool stop = cancelled != nullptr && *cancelled;
    if (stop || std::chrono::steady_clock::now() >= deadline) {
      process->kill();
      return Error{.what = fmt::format("{} {}", program.words[0],
                                       stop ? "was interrupted" : "took too long")};
    }
  }
  if (*status == 0) return {};
  return Error{.what = fmt::format("{} failed with status {}: {}", program.words[0], *status,
                                   last_lines(program.log, 3))};
}

std::string last_lines(const std::filesystem::path& file, std::size_t count) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
    if (lines.size() > count) lines.erase(lines.begin());
  }
  return lines.empty() ? "it printed nothing" : fmt::format("{}", fmt::join(lines, "; "));
}

std::string complaints(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < 2 && std::getline(in, line);) {
    for (const char* word : {"ERROR", "FATAL", "PANIC"}) {
      if (line.find(word) == std::string::npos) continue;
      lines.push_back(line);
      break;
    }
  }
  return lines.empty() ? last_lines(log, 3) : fmt::format("{}", fmt::join(lines, "; "));
}

Result<TemporaryFolder> make_scratch(const std::string& user) {
  const Result<Identity> identity = identity_of(user);
  if (!identity.ok()) return identity.error();
  constexpr std::size_t kLongest = 60;  // The path of a Unix socket has at most 107 bytes.
  auto folder = TemporaryFolder::make("ouro", kLongest);
  if (!folder.ok()) return folder;
  const std::string path = folder->path().string();
  if (identity->change && ::chown(path.c_str(), identity->uid, identity->gid) != 0) {
    return Error{.file = path, .what = system_message(errno)};
  }
  return folder;
}

Result<int> free_port() {
  // The ports 15000 to 29999 are below the range from which the kernel takes ports for clients. We
  // begin at a port that differs by process and count up, so that two servers that we start do not
  // get the same port before they listen.
  static std::atomic<unsigned> next{static_cast<unsigned>(::getpid()) * 61};
  for (int attempt = 0; attempt < 2000; ++attempt) {
    const int port = 15000 + static_cast<int>(next++ % 15000);
    Descriptor listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in address {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The interface of sockets demands the cast.
    if (::bind(listener.fd, reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0) {
      return port;
    }
  }
  return Error{.what = "no free port of 127.0.0.1 between 15000 and 30000"};
}

}  // namespace ouro::db
