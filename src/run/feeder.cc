#include "run/feeder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <utility>

#include "run/transcript.h"

namespace ouro::running {
namespace {

constexpr std::size_t kMaxWaiting = 50'000;  // Lines; with more, add() waits.
constexpr std::size_t kBatchLines = 500;
constexpr auto kFeederPause = std::chrono::milliseconds(10);  // Between batches that are not full.
// How long a service may be away before we give up and the run goes on without it.
constexpr auto kPatience = std::chrono::seconds(30);

Error complain(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

}  // namespace

Feeder::Feeder(net::HttpClient client, Options options)
    : options_(std::move(options)), client_(std::move(client)) {
  std::random_device random;
  name_ = fmt::format("run-{}-{:08x}{:08x}", ::getpid(), random(), random());
}

Feeder::~Feeder() {
  if (!sender_.joinable()) return;
  give_up(complain("the run ended"));
  (void)finish();
}

Result<std::unique_ptr<Feeder>> Feeder::connect(const Options& options) {
  auto client = net::HttpClient::make(options.url);
  if (!client.ok()) return client.error();
  auto feeder = std::unique_ptr<Feeder>(new Feeder(*std::move(client), options));
  const net::HttpAnswer answer = feeder->post("");
  if (answer.status == 401) {
    return complain(options.url + ": the service wants a token; set OURO_TOKEN");
  }
  if (answer.status == 0) {
    return complain(
        fmt::format("{}: {}; is 'ouro serve' running there?", options.url, answer.body));
  }
  if (!answer.ok() && answer.status != 503) {
    return complain(
        fmt::format("{}: status {}; is that 'ouro serve'?", options.url, answer.status));
  }
  return feeder;
}

void Feeder::start(db::Database& database) {
  database_ = &database;
  sender_ = std::thread([this] { send_all(); });
}

void Feeder::add(const std::string& line, std::uint64_t token) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return problem_ || waiting_.size() < kMaxWaiting; });
  if (problem_) return;
  waiting_.push_back({line, token});
  if (waiting_.size() == kBatchLines) changed_.notify_all();
}

Result<std::uint64_t> Feeder::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    changed_.notify_all();
  }
  if (sender_.joinable()) sender_.join();
  if (problem_) return *problem_;
  return taken_;
}

void Feeder::give_up(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!problem_) problem_ = error;
  changed_.notify_all();
}

void Feeder::send_all() {
  std::deque<Line> lines;
  for (bool last = false; !last || !lines.empty();) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kFeederPause,
                        [&] { return problem_ || finishing_ || waiting_.size() >= kBatchLines; });
      if (problem_) break;
      // finish() is called after the last add(), so once finishing_ is set these are the last
      // lines.
      last = finishing_;
      for (Line& line : waiting_) lines.push_back(std::move(line));
      waiting_.clear();
      changed_.notify_all();
    }
    Status status = learn_times();
    while (status && !lines.empty()) {
      std::string batch;
      const std::uint64_t count = gather(lines, last, batch);
      if (count == 0) break;
      status = send(batch);
      const std::lock_guard lock(mutex_);
      if (status) taken_ += count;
    }
    if (!status) {
      give_up(status.error());
      break;
    }
  }
  if (problem_) tell_undecided();
}

// What the service did not get would make it accuse those who read it, so it shall not judge this
// source. Once more at the end if it is away.
void Feeder::tell_undecided() {
  const auto tell = [&] {
    return client_
        .post("/source/" + name_ + "/undecided", "not everything that happened could be sent",
              "text/plain", headers())
        .status;
  };
  if (tell() != 0) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finishing_; });
  lock.unlock();
  (void)tell();
}

Status Feeder::learn_times() {
  auto times = database_->recover_new();
  if (!times.ok()) return times.error();
  for (const db::Recovered::Times& found : *times) times_[found.token] = found;
  return {};
}

std::uint64_t Feeder::gather(std::deque<Line>& lines, bool last, std::string& batch) {
  std::uint64_t count = 0;
  while (!lines.empty() && count < kBatchLines) {
    const Line& line = lines.front();
    const auto found = line.token == 0 ? times_.end() : times_.find(line.token);
    if (line.token != 0 && found == times_.end() && !last) break;
    if (found != times_.end()) {
      batch += '{';
      print_times(found->second.start, found->second.commit, batch);
      batch.append(line.text, 1);
      times_.erase(found);
    } else {
      batch += line.text;
    }
    lines.pop_front();
    ++count;
  }
  return count;
}

net::HttpHeaders Feeder::headers() const {
  net::HttpHeaders headers = {{"X-Ouro-Source", name_}};
  if (!options_.token.empty()) headers.emplace_back("Authorization", "Bearer " + options_.token);
  return headers;
}

net::HttpAnswer Feeder::post(const std::string& batch) {
  net::HttpHeaders all = headers();
  if (!batch.empty()) all.emplace_back("X-Ouro-Batch", fmt::format("{}/{}", name_, number_));
  return client_.post("/check", batch, "application/x-ndjson", all);
}

Status Feeder::send(const std::string& batch) {
  ++number_;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto pause = std::chrono::milliseconds(20);
  for (;;) {
    const net::HttpAnswer answer = post(batch);
    if (answer.ok()) return {};
    const std::string why =
        fmt::format("{}: {}", options_.url,
                    answer.status == 0 ? answer.body
                                       : fmt::format("status {}: {}", answer.status, answer.body));
    const bool again = answer.status == 0 || answer.status == 503;
    if (!again || std::chrono::steady_clock::now() >= deadline) return complain(why);
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, pause, [&] { return problem_.has_value(); })) return *problem_;
    pause = std::min(pause * 2, std::chrono::milliseconds(1000));
  }
}

}  // namespace ouro::running
