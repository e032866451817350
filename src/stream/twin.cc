#include "stream/twin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <string_view>

namespace ouro::stream {
namespace {

// An answer is this mark alone if all went well; else this mark, Error::file, the mark,
// Error::what.
constexpr char kMark = '\n';

void tell(int answer, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(answer, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Status status_of(std::string_view told) {
  if (told == std::string_view(&kMark, 1)) return {};
  Error error;
  const std::size_t second = told.find(kMark, 1);
  if (told.empty() || second == told.npos) {
    error.what = "the process that writes it ended early; is there enough memory?";
    return error;
  }
  error.file = std::string(told.substr(1, second - 1));
  error.what = std::string(told.substr(second + 1));
  return error;
}

// Ends the copy without running exit handlers or flushing buffers: they belong to the original
// process.
[[noreturn]] void end_copy() {
  while (true) ::kill(::getpid(), SIGKILL);
}

[[noreturn]] void work_as_twin(const std::function<Status()>& work, pid_t parent, int answer) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) {
    ::signal(signal, SIG_IGN);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) end_copy();
  const auto number = static_cast<unsigned>(answer);
  if (number > 3) ::close_range(3, number - 1, 0);
  ::close_range(number + 1, ~0U, 0);
  std::string text(1, kMark);
  try {
    if (const Status status = work(); !status.ok()) {
      text += status.error().file + kMark + status.error().what;
    }
  } catch (const std::exception& problem) {
    text = std::string(2, kMark) + problem.what();
  }
  tell(answer, text);
  end_copy();
}

}  // namespace

bool Twin::begin(const std::function<Status()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  // Signals are blocked, so that none reaches the copy before it ignores them. It leaves all
  // blocked.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) work_as_twin(work, parent, ends[1]);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return false;
  }
  pid_ = pid;
  answer_ = ends[0];
  told_.clear();
  return true;
}

std::optional<Status> Twin::ended() {
  pollfd waiting{answer_, POLLIN, 0};
  while (::poll(&waiting, 1, 0) > 0) {
    std::array<char, 4096> some;
    const ssize_t got = ::read(answer_, some.data(), some.size());
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      told_.append(some.data(), static_cast<std::size_t>(got));
      continue;
    }
    forget();
    return status_of(told_);
  }
  return std::nullopt;
}

void Twin::stop() {
  if (!at_work()) return;
  ::kill(pid_, SIGKILL);
  forget();
}

void Twin::forget() {
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::close(answer_);
  pid_ = 0;
  answer_ = -1;
}

}  // namespace ouro::stream
