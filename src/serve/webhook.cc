#include "serve/webhook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "net/hmac.h"
#include "serve/small_file.h"

namespace ouro::serving {
namespace {

// The pause after a failed delivery doubles from the first to the longest.
constexpr auto kFirstPause = std::chrono::milliseconds(100);
constexpr auto kLongestPause = std::chrono::milliseconds(30'000);
constexpr auto kLastMoment = std::chrono::seconds(1);  // For deliveries after the service stopped.
constexpr auto kStopPause = std::chrono::milliseconds(50);  // Between attempts to end a delivery.
constexpr std::size_t kAtOnce = 64;                         // Events taken from the hub at a time.

}  // namespace

Webhook::Webhook(Options options, EventHub& hub, net::HttpClient client, std::uint64_t delivered)
    : options_(std::move(options)),
      hub_(hub),
      client_(std::move(client)),
      delivered_(delivered),
      thread_([this] {
        deliver_all();
        const std::lock_guard lock(mutex_);
        ended_ = true;
        wake_.notify_all();
      }) {}

Result<std::unique_ptr<Webhook>> Webhook::start(Options options, EventHub& hub) {
  auto client = net::HttpClient::make(options.url);
  if (!client.ok()) return client.error();
  std::uint64_t delivered = 0;
  if (!options.file.empty()) {
    const SealedText saved = read_sealed(options.file);
    const bool missing = saved.state == SealedText::State::Missing;
    if (saved.state == SealedText::State::Whole) {
      const std::uint64_t said = std::strtoull(saved.text.c_str(), nullptr, 10);
      delivered = std::min(hub.last(), said);
    } else if (!missing && !options.repair) {
      return damaged_file(options.file, "is damaged");
    } else if (!missing && options.note) {
      options.note("lost: " + options.file + " is damaged: all events are delivered again");
    }
  }
  hub.delivered(delivered);
  return std::unique_ptr<Webhook>(
      new Webhook(std::move(options), hub, *std::move(client), delivered));
}

void Webhook::end() {
  const std::lock_guard lock(mutex_);
  if (stopping_.exchange(true)) return;
  give_up_ = std::chrono::steady_clock::now() + kLastMoment;
  wake_.notify_all();
}

Webhook::~Webhook() {
  end();
  {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, give_up_, [&] { return ended_; });
    // Whoever takes a request and never answers must not keep the service from ending. One that
    // begins just now is not stopped by the first attempt.
    while (!ended_) {
      client_.stop();
      wake_.wait_for(lock, kStopPause, [&] { return ended_; });
    }
  }
  thread_.join();
}

void Webhook::deliver_all() {
  std::chrono::milliseconds pause = kFirstPause;
  for (;;) {
    const auto lines = hub_.after(delivered_, kAtOnce, std::chrono::milliseconds(250));
    if (lines.empty() && stopping_) return;
    if (lines.empty() && hub_.stopped()) rest(kFirstPause);
    const std::uint64_t before = delivered_;
    if (!lines.empty() && lines.front().number > delivered_ + 1) {
      note(fmt::format("webhook: {} events are no longer kept and were not delivered; use --state",
                       lines.front().number - delivered_ - 1));
    }
    bool taken = true;
    for (const EventHub::Line& line : lines) {
      taken = !is_over() && deliver(line);
      if (!taken) break;
      delivered_ = line.number;
    }
    if (delivered_ != before && !options_.file.empty()) {
      if (auto kept = write_sealed(options_.file, std::to_string(delivered_) + '\n'); !kept) {
        note(kept.error().to_string());
      } else {
        hub_.delivered(delivered_);
      }
    }
    if (taken) {
      pause = kFirstPause;
      continue;
    }
    if (is_over()) {
      note(fmt::format("webhook: {} events were not delivered", hub_.last() - delivered_));
      return;
    }
    rest(stopping_ ? kFirstPause : pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

bool Webhook::deliver(const EventHub::Line& line) {
  net::HttpHeaders headers = {{"X-Ouro-Event", std::to_string(line.number)}};
  if (!options_.secret.empty()) {
    headers.emplace_back("X-Ouro-Signature",
                         "sha256=" + net::hmac_sha256(options_.secret, line.text));
  }
  const net::HttpAnswer answer = client_.post("", line.text, "application/json", headers);
  if (answer.ok()) {
    if (std::exchange(told_trouble_, false)) note("webhook: delivers again");
    return true;
  }
  if (!std::exchange(told_trouble_, true)) {
    note(fmt::format("webhook: {}: {}; trying again", options_.url,
                     answer.status == 0 ? answer.body : fmt::format("status {}", answer.status)));
  }
  return false;
}

void Webhook::rest(std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, pause, [&] { return stopping_.load() && pause > kFirstPause; });
}

bool Webhook::is_over() const {
  const std::lock_guard lock(mutex_);
  return stopping_ && std::chrono::steady_clock::now() >= give_up_;
}

void Webhook::note(const std::string& text) const {
  if (options_.note) options_.note(text);
}

}  // namespace ouro::serving
