#include "tests/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

namespace ouro {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read = ends[0];
    write = ends[1];
  }
};

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, Output output) {
  const Pipe in, err;
  Pipe out;
  if (output == Output::Closed) close_fd(out.read);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    ::dup2(err.write, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  for (const int fd : {in.read, out.write, err.write}) ::close(fd);
  in_ = in.write;
  out_ = out.read;
  err_ = err.read;
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (int* fd : {&in_, &out_, &err_}) close_fd(*fd);
}

void Program::write_input(const std::string& bytes) {
  std::signal(SIGPIPE, SIG_IGN);  // The program may end before it read everything.
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(in_, bytes.data() + done, bytes.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

void Program::close_input() { close_fd(in_); }

void Program::send(int signal) { ::kill(pid_, signal); }

void Program::send_when_caught(int signal) {
  const std::uint64_t wanted = std::uint64_t{1} << (signal - 1);
  for (;;) {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    std::uint64_t caught = 0;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigCgt:")) caught = std::stoull(line.substr(7), nullptr, 16);
    }
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if ((caught & wanted) != 0 || ended.si_pid != 0) break;
    ::usleep(1000);
  }
  send(signal);
}

Ran Program::wait() {
  Ran ran;
  while (out_ >= 0 || err_ >= 0) {
    std::array<pollfd, 2> fds{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t count = ::read(fds[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        (i == 0 ? ran.out : ran.err).append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        close_fd(i == 0 ? out_ : err_);
      }
    }
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

Ran run_program(const std::vector<std::string>& arguments, const std::string& input) {
  Program program(arguments);
  program.write_input(input);
  program.close_input();
  return program.wait();
}

}  // namespace ouro
