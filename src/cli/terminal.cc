#include "cli/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "ouro/format.h"

namespace ouro::cli {
namespace {

int g_output_errno = 0;
bool g_left_behind = false;
std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// Kills the process by the signal, as soon as this returns, without leaving a half-written file.
void die_of(int signal) {
  remove_half_written();
  set_handler(signal, SIG_DFL);
  ::raise(signal);
}

void on_interrupt_signal(int signal) {
  g_interrupted = true;
  set_handler(signal, die_of);
}

// What kills as long as nobody catches it shall leave no half-written file either.
void die_cleanly_of(int signal) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  if (now.sa_handler == SIG_DFL) set_handler(signal, die_of);
}

}  // namespace

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

namespace {

constexpr auto kStep = std::chrono::milliseconds(10);    // Between looks at what is watched.
constexpr auto kPatience = std::chrono::seconds(1);      // Before the line is shown first.
constexpr auto kPause = std::chrono::milliseconds(250);  // Between updates of the line.

class ProgressLine {
 public:
  ProgressLine() : wanted_(::isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // The time that is shown begins anew when `what` changes.
  void update(const std::string& what) {
    if (what != what_) {
      erase();
      what_ = what;
      start_ = std::chrono::steady_clock::now();
      next_ = kPatience;
    }
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    if (!wanted_ || elapsed < next_) return;
    next_ = elapsed + kPause;
    const double seconds = std::chrono::duration<double>(elapsed).count();
    print_error(fmt::format("\r\033[K{} … {:.1f} s", what_, seconds));
    shown_ = true;
  }

  void erase() {
    if (shown_) print_error("\r\033[K");
    shown_ = false;
  }

 private:
  std::string what_;
  bool wanted_;
  bool shown_ = false;
  std::chrono::steady_clock::duration next_ = kPatience;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What the thread that watches and the one that works share.
struct Watched {
  std::mutex mutex;
  std::condition_variable ended;
  std::string what;     // What the line of progress says.
  std::string printed;  // What is to be printed on standard output before it goes on.
  bool done = false;
  std::exception_ptr failure;
};

// Does what watched() does; `stop` may be empty. `work` may change state->what.
bool watch(const std::shared_ptr<Watched>& state, const std::function<bool()>& stop,
           std::function<void()> work) {
  std::thread worker([state, work = std::move(work)] {
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(state->mutex);
    state->failure = failure;
    state->done = true;
    state->ended.notify_one();
  });
  {
    ProgressLine progress;
    std::unique_lock lock(state->mutex);
    while (!state->ended.wait_for(lock, kStep, [&] { return state->done; })) {
      if (stop && stop()) {
        worker.detach();
        g_left_behind = true;
        return false;
      }
      if (!state->printed.empty()) {
        progress.erase();
        print(std::exchange(state->printed, {}));
      }
      progress.update(state->what);
    }
  }
  print(state->printed);
  worker.join();
  if (state->failure) std::rethrow_exception(state->failure);
  return true;
}

}  // namespace

void print(std::string_view text) {
  if (g_output_errno == 0) g_output_errno = write_all(STDOUT_FILENO, text);
}

void print_error(std::string_view text) { write_all(STDERR_FILENO, text); }

bool output_closed() {
  if (g_output_errno == EPIPE) return true;
  // The library may write to standard output, too, past print(); so ask the pipe itself.
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

std::string output_error() {
  if (g_output_errno == 0 || g_output_errno == EPIPE) return {};
  return fmt::format("cannot write to standard output: {}", std::strerror(g_output_errno));
}

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }
bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

void catch_interrupt() {
  set_handler(SIGINT, on_interrupt_signal);
  die_cleanly_of(SIGTERM);
  die_cleanly_of(SIGHUP);
}

void catch_termination() {
  set_handler(SIGTERM, on_interrupt_signal);
  set_handler(SIGHUP, on_interrupt_signal);
}

const std::atomic<bool>& interrupted() { return g_interrupted; }

void forget_interrupt() { g_interrupted = false; }

bool watched(const std::string& what, const std::function<bool()>& stop,
             std::function<void()> work) {
  const auto state = std::make_shared<Watched>();  // Shared, since work left behind uses it.
  state->what = what;
  return watch(state, stop, std::move(work));
}

void watched(const std::string& what, std::function<void()> work) {
  watched(what, nullptr, std::move(work));
}

bool work_left_behind() { return g_left_behind; }

void keep_until_exit(std::shared_ptr<const void> what) {
  static std::vector<std::shared_ptr<const void>>& kept =
      *new std::vector<std::shared_ptr<const void>>();
  kept.push_back(std::move(what));
}

void watched_in_stages(std::function<void(const TellStage&)> work) {
  const auto state = std::make_shared<Watched>();
  watch(state, nullptr, [&state, &work] {
    work([&state](std::string what, std::string printed) {
      const std::lock_guard lock(state->mutex);
      state->what = std::move(what);
      state->printed += printed;
    });
  });
}

void leave(int status) {
  std::fflush(nullptr);
  std::_Exit(status);
}

}  // namespace ouro::cli
