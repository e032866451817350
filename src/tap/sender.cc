#include "tap/sender.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

namespace ouro::tapping {
namespace {

using namespace std::chrono_literals;

std::string random_name() {
  std::random_device random;
  return fmt::format("tap-{}-{:08x}{:08x}", ::getpid(), random(), random());
}

// Whether the same may succeed later.
bool passes(const net::HttpAnswer& answer) {
  return answer.status == 0 || answer.status == 503 || answer.status == 507;
}

std::string describe_answer(const std::string& url, const net::HttpAnswer& answer) {
  return fmt::format("{}: {}", url,
                     answer.status == 0     ? answer.body + "; is 'ouro serve' running there?"
                     : answer.status == 401 ? "the service wants a token; set OURO_TOKEN"
                                            : fmt::format("status {}: {}", answer.status,
                                                          answer.body));
}

}  // namespace

Sender::Sender(Options options, net::HttpClient client)
    : options_(std::move(options)), name_(random_name()), client_(std::move(client)) {}

Result<std::unique_ptr<Sender>> Sender::connect(Options options) {
  auto client = net::HttpClient::make(options.url);
  if (!client.ok()) return client.error();
  auto sender = std::unique_ptr<Sender>(new Sender(std::move(options), *std::move(client)));
  const net::HttpAnswer answer = sender->post("/check", "", false);
  if (!answer.ok() && answer.status != 503) {
    return Error{.what = describe_answer(sender->options_.url, answer)};
  }
  sender->thread_ = std::thread([raw = sender.get()] { raw->run(); });
  return sender;
}

Sender::~Sender() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = over_ = true;
    batches_.clear();
    reasons_.clear();
    changed_.notify_all();
  }
  if (!thread_.joinable()) return;
  client_.stop();
  thread_.join();
}

void Sender::add(std::string lines) {
  bool too_many = false;
  {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
    bytes_ += lines.size();
    too_many = bytes_ > options_.most_bytes;
    batches_.push_back(std::move(lines));
    changed_.notify_all();
  }
  if (too_many) fail(options_.url + ": the service is slower than the application");
}

void Sender::undecided(const std::string& why) {
  const std::lock_guard lock(mutex_);
  reasons_.push_back(why);
  changed_.notify_all();
}

std::string Sender::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  return problem_;
}

void Sender::run() {
  for (;;) {
    std::string batch, reason;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return finishing_ || !batches_.empty() || !reasons_.empty(); });
      if (!reasons_.empty()) {
        reason = std::move(reasons_.front());
        reasons_.pop_front();
      } else if (!batches_.empty()) {
        batch = std::move(batches_.front());
        batches_.pop_front();
        bytes_ -= batch.size();
      } else {
        return;
      }
    }
    if (reason.empty()) {
      send(batch);
    } else {
      mark(reason);
    }
  }
}

net::HttpAnswer Sender::post(const std::string& path, const std::string& body, bool batch) {
  net::HttpHeaders headers = {{"X-Ouro-Source", name_}};
  if (batch) headers.emplace_back("X-Ouro-Batch", fmt::format("{}/{}", name_, number_));
  if (!options_.token.empty()) headers.emplace_back("Authorization", "Bearer " + options_.token);
  return client_.post(path, body, "application/x-ndjson", headers);
}

// Sends a batch, again and again if the service is away for a while.
void Sender::send(const std::string& batch) {
  ++number_;
  const auto deadline = std::chrono::steady_clock::now() + options_.patience;
  for (auto wait = 20ms;; wait = std::min(wait * 2, std::chrono::milliseconds(1000))) {
    const net::HttpAnswer answer = post("/check", batch, true);
    if (answer.ok()) return;
    if (!passes(answer) || std::chrono::steady_clock::now() > deadline) {
      return fail(describe_answer(options_.url, answer));
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, wait, [&] { return over_ || !problem_.empty(); })) return;
  }
}

void Sender::fail(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
    problem_ = why;
    batches_.clear();
    bytes_ = 0;
    reasons_.push_back("not everything that was recorded could be sent");
  }
  if (options_.notice) options_.notice(why + "; nothing more is sent to the service");
}

// Tells the service that the source is undecided; if that is away, until it is back or there is
// nothing else to do.
void Sender::mark(const std::string& why) {
  const std::string path = fmt::format("/source/{}/undecided", name_);
  for (;;) {
    const net::HttpAnswer answer = post(path, why, false);
    if (answer.ok()) return;
    std::unique_lock lock(mutex_);
    if (over_) return;
    if (!passes(answer) || finishing_) {
      const std::string what = fmt::format("the service was not told that it cannot judge: {}",
                                           describe_answer(options_.url, answer));
      if (problem_.empty()) problem_ = what;
      lock.unlock();
      if (options_.notice) options_.notice(what);
      return;
    }
    changed_.wait_for(lock, 1s, [&] { return over_ || finishing_; });
  }
}

}  // namespace ouro::tapping
