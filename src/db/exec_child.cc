#include "db/exec_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/printable.h"
#include "base/system_error.h"

namespace ouro::db {
namespace {

using namespace std::chrono_literals;

// How long to wait for a descriptor; at least 0.
int milliseconds_until(std::chrono::steady_clock::time_point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

// The start of a line, for a message.
std::string shown(std::string_view line) {
  constexpr std::size_t kShown = 120;
  std::string text(line.substr(0, kShown));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return line.size() > kShown ? text + "…" : text;
}

}  // namespace

Result<std::shared_ptr<ExecChild>> ExecChild::start(const std::string& command,
                                                    const std::filesystem::path& log) {
  std::array<int, 2> in{-1, -1};
  std::array<int, 2> out{-1, -1};
  std::shared_ptr<ExecChild> child(new ExecChild);
  if (::pipe2(in.data(), O_CLOEXEC) != 0) return system_error("", "cannot make a pipe");
  child->to_kept_ = in[0];
  child->to_ = in[1];
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return system_error("", "cannot make a pipe");
  child->from_ = out[0];
  child->log_ = log;
  ::fcntl(child->to_, F_SETFL, O_NONBLOCK);
  ::fcntl(child->from_, F_SETFL, O_NONBLOCK);
  std::error_code ignored;
  Program program{.words = {"/bin/sh", "-c", command},
                  .user = {},
                  .directory = std::filesystem::current_path(ignored),
                  .log = log,
                  .scratch = {},
                  .input = in[0],
                  .output = out[1],
                  .our_environment = true};
  auto process = Process::start(program);
  ::close(out[1]);
  if (!process.ok()) return process.error();
  child->process_ = *std::move(process);
  return child;
}

ExecChild::~ExecChild() {
  if (broken() || to_ < 0) {
    process_.kill();
  } else {
    stop(500ms);
  }
  for (const int fd : {to_, to_kept_, from_}) {
    if (fd >= 0) ::close(fd);
  }
}

bool ExecChild::broken() const {
  const std::lock_guard lock(mutex_);
  return !broken_.ok();
}

void ExecChild::stop(std::chrono::milliseconds patience) {
  if (to_ < 0) return;
  ::close(std::exchange(to_, -1));
  ::close(std::exchange(to_kept_, -1));
  if (!process_.wait(patience)) process_.kill();
}

ExecChild::Outcome ExecChild::ask(std::string_view members, Clock::time_point deadline,
                                  JsonTree& answer, const std::atomic<bool>* stop) {
  const auto stopped = [&] { return stop != nullptr && *stop; };
  // Whoever may be stopped looks for that now and then.
  const auto wait_until = [&] {
    return stop == nullptr ? deadline : std::min(deadline, Clock::now() + 50ms);
  };
  std::unique_lock lock(mutex_);
  if (!broken_.ok()) return broken_;
  Question question{.id = ++last_id_, .answer = &answer};
  open_.push_back(&question);
  lock.unlock();
  const bool written = write(fmt::format("{{\"id\":{},{}}}\n", question.id, members), deadline);
  lock.lock();
  while (written && !question.answered && broken_.ok() && Clock::now() < deadline && !stopped()) {
    if (reading_) {
      changed_.wait_until(lock, wait_until());
      continue;
    }
    reading_ = true;
    read(lock, wait_until());
    reading_ = false;
    changed_.notify_all();
  }
  std::erase(open_, &question);
  if (question.answered) return {};
  if (!broken_.ok()) return broken_;
  // Half a line would spoil the next one.
  if (!written) fail(Heard::Ended, "it reads no more requests");
  late_.push_back(question.id);
  return {Heard::Late, stopped() ? "interrupted" : "it did not answer in time"};
}

bool ExecChild::write(std::string_view line, Clock::time_point deadline) {
  const std::lock_guard turn(writing_);
  while (!line.empty()) {
    const ssize_t count = ::write(to_, line.data(), line.size());
    if (count > 0) {
      line.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      // A process that ended reads nothing, but we keep the pipe open: so we look for its end, too.
      std::array<struct pollfd, 2> events = {{{to_, POLLOUT, 0}, {from_, 0, 0}}};
      const int ready = ::poll(events.data(), events.size(), milliseconds_until(deadline));
      if (ready == 0 || events[1].revents != 0) return false;
    } else if (count < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

void ExecChild::read(std::unique_lock<std::mutex>& lock, Clock::time_point deadline) {
  lock.unlock();
  std::array<char, 65536> bytes;
  struct pollfd event = {from_, POLLIN, 0};
  // Other threads may begin to wait with earlier deadlines; they wake up by themselves.
  const int ready = ::poll(&event, 1, milliseconds_until(deadline));
  const ssize_t count = ready > 0 ? ::read(from_, bytes.data(), bytes.size()) : -1;
  const bool again = ready <= 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  const std::string words = count <= 0 && !again ? last_words() : "";
  lock.lock();
  if (again) return;
  if (count <= 0) return fail(Heard::Ended, words);
  input_.append(bytes.data(), static_cast<std::size_t>(count));
  take_lines();
}

void ExecChild::take_lines() {
  std::size_t start = 0;
  for (std::size_t end = 0; broken_.ok(); start = end + 1) {
    end = input_.find('\n', start);
    if (end == std::string::npos) break;
    take_line(std::string_view(input_).substr(start, end - start));
  }
  input_.erase(0, std::min(start, input_.size()));
  if (input_.size() > kLongestLine) {
    fail(Heard::Nonsense,
         fmt::format("it wrote a line of more than {} MiB: {}", kLongestLine >> 20, shown(input_)));
  }
}

void ExecChild::take_line(std::string_view line) {
  if (!tree_.parse(line) || !tree_.root().is_map()) {
    return fail(Heard::Nonsense, fmt::format("it wrote what is no JSON object: {}", shown(line)));
  }
  if (const auto twice = tree_.repeated_member()) {
    return fail(Heard::Nonsense, fmt::format("a map of its answer has \"{}\" twice: {}",
                                             shown(*twice), shown(line)));
  }
  const auto id = tree_.root().member("id").integer();
  if (!id) return fail(Heard::Nonsense, fmt::format("an answer has no \"id\": {}", shown(line)));
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const Question* question) {
    return question->id == static_cast<std::uint64_t>(*id);
  });
  if (found != open_.end() && !(*found)->answered) {
    (*found)->answered = true;
    std::swap(*(*found)->answer, tree_);
    return;
  }
  if (std::erase(late_, static_cast<std::uint64_t>(*id)) > 0) return;
  fail(Heard::Nonsense,
       fmt::format("it answered to \"id\" {}, which is no open request: {}", *id, shown(line)));
}

void ExecChild::fail(Heard heard, std::string what) {
  if (broken_.ok()) broken_ = {heard, std::move(what)};
}

std::string ExecChild::last_words() {
  const auto status = process_.wait(500ms);
  std::string text = !status          ? "it closed its standard output"
                     : *status >= 128 ? fmt::format("it was ended by signal {}", *status - 128)
                                      : fmt::format("it ended with status {}", *status);
  std::error_code none;
  if (std::filesystem::file_size(log_, none) > 0 && !none) {
    text += ": " + printable(last_lines(log_, 3));
  }
  return text;
}

}  // namespace ouro::db
