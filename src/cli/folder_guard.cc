#include "cli/folder_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ouro::cli {
namespace {

Error cannot_watch(const std::string& folder) {
  Error error;
  error.file = folder;
  error.what = std::string("cannot start the process that watches it: ") + std::strerror(errno);
  return error;
}

// What the process does. It is a fork of one that may have threads, so it makes system calls only.
[[noreturn]] void wait_and_remove(int pipe, const char* folder) {
  ::setsid();  // So that Ctrl-C on the terminal does not reach it.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  constexpr int kPipe = 3;
  ::dup2(pipe, kPipe);
  // Others wait for the end of pipes and sockets that the parent has, so they are not kept open.
  ::syscall(SYS_close_range, unsigned{kPipe + 1}, ~0U, 0);
  char dismissed = 0;
  ssize_t count = 0;
  do {
    count = ::read(kPipe, &dismissed, 1);
  } while (count < 0 && errno == EINTR);
  if (count == 0) static_cast<void>(::rmdir(folder));
  ::syscall(SYS_exit_group, 0);  // Without the exit handlers and destructors of the parent.
  __builtin_unreachable();
}

}  // namespace

Status FolderGuard::watch(const std::string& folder) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot_watch(folder);
  child_ = ::fork();
  if (child_ == 0) wait_and_remove(ends[0], folder.c_str());
  ::close(ends[0]);
  pipe_ = ends[1];
  return child_ > 0 ? Status{} : cannot_watch(folder);
}

FolderGuard::~FolderGuard() {
  if (pipe_ >= 0) {
    static_cast<void>(!::write(pipe_, "x", 1));
    ::close(pipe_);
  }
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

}  // namespace ouro::cli
