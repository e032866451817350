#include "cli/child.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

constexpr char kEnded = '.';  // Follows the text of work that returned.

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

[[noreturn]] void work_and_exit(const std::function<std::string()>& work, int file) {
  try {
    ::_exit(write_all(file, work() + kEnded));
  } catch (...) {
    ::_exit(kInternalError);
  }
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ChildResult in_child(const std::function<std::string()>& work) {
  ChildResult result;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return result;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work_and_exit(work, ends[1]);
  }
  ::close(ends[1]);
  if (child > 0) {
    result.text = read_all(ends[0]);
    rusage usage{};
    int status = 0;
    while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    result.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    result.ended = result.text.ends_with(kEnded);
    if (result.ended) result.text.pop_back();
  }
  ::close(ends[0]);
  return result;
}

}  // namespace ouro::cli
