#include "ouro/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "net/address.h"
#include "serve/batch_queue.h"
#include "serve/event_hub.h"
#include "serve/http_service.h"
#include "serve/line_input.h"
#include "serve/monitor.h"
#include "serve/sources.h"
#include "serve/state_folder.h"
#include "serve/stream_thread.h"
#include "serve/tcp_server.h"
#include "serve/webhook.h"

namespace ouro {
namespace {

using namespace serving;

Error complain(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

Status check_options(const ServeOptions& options) {
  if (!decidable(options.stream.level, Evidence::Timestamps)) {
    return complain(fmt::format("timestamps cannot decide {}; see 'ouro levels'",
                                info(options.stream.level).name));
  }
  if (options.http.empty() && options.tcp.empty() && options.input < 0 && options.follow.empty()) {
    return complain("no input; name an address, a file to follow, or '-'");
  }
  if (options.stream.memory > 0 && options.stream.folder.empty() && options.state.empty()) {
    return complain("a memory limit needs a folder for what does not fit; name one with --state");
  }
  if (!options.token.empty() || options.insecure) return {};
  for (const std::string& text : {options.http, options.tcp}) {
    if (text.empty()) continue;
    const auto address = net::parse_address(text);
    if (!address.ok() || net::is_loopback(address->host)) continue;
    return complain(fmt::format(
        "{}: other machines can connect there; set a token (OURO_TOKEN), or say --insecure", text));
  }
  return {};
}

// One service: makes its parts, runs them, and stops them in the right order.
class Service {
 public:
  explicit Service(const ServeOptions& given) : options_(with_folder(given)) {}

  Result<ServeReport> run() {
    if (auto ready = open(); !ready) return ready.error();
    if (auto started = start_inputs(); !started) {
      stream_thread_->refuse(started.error());
      stop();
      return started.error();
    }
    Result<StreamSummary> summary = StreamSummary{};
    std::thread checker([&] { summary = stream_thread_->run(); });
    if (options_.ready) options_.ready(addresses_);
    wait();
    stop_inputs();
    checker.join();
    stop();
    if (!summary.ok()) return summary.error();
    return report(*summary);
  }

 private:
  // The options with a folder for what does not fit into memory, and a `note` that is thread-safe.
  static ServeOptions with_folder(ServeOptions options) {
    if (!options.state.empty() && options.stream.folder.empty()) {
      options.stream.folder = options.state + "/spill";
    }
    options.stream.faults_apart = true;
    const auto mutex = std::make_shared<std::mutex>();  // Notes are made by many threads.
    if (options.note) {
      options.note = [mutex, note = options.note](const std::string& text) {
        const std::lock_guard lock(*mutex);
        note(text);
      };
    }
    return options;
  }

  // The options that must stay the same as long as a state folder is used.
  [[nodiscard]] std::string settings() const {
    const StreamOptions& stream = options_.stream;
    return fmt::format("level {}\ntimeout_ms {}\nclock_drift {}\ninitial {}\n",
                       info(stream.level).name, stream.timeout.count(), stream.clock_drift,
                       options_.initial ? std::to_string(*options_.initial) : "null");
  }

  [[nodiscard]] std::size_t queue_limit() const {
    constexpr std::size_t kMost = std::size_t{64} << 20;
    constexpr std::size_t kShare = 16;  // Of the memory that the check may use.
    if (options_.queue_limit > 0) return options_.queue_limit;
    return options_.stream.memory == 0 ? kMost : std::min(kMost, options_.stream.memory / kShare);
  }

  // Opens everything except the inputs.
  Status open() {
    if (!options_.state.empty()) {
      const auto on_damage =
          options_.repair ? StateFolder::OnDamage::Keep : StateFolder::OnDamage::Refuse;
      auto state = StateFolder::open(options_.state, settings(), on_damage);
      if (!state.ok()) return state.error();
      state_.emplace(*std::move(state));
    } else if (options_.note && listens()) {
      options_.note("no state folder: a restart forgets everything; see --state");
    }
    queue_.emplace(queue_limit());
    hub_.emplace(EventHub::Options{
        .file = state_ ? state_->events_file() : "",
        .file_limit = options_.events_limit,
        .delivers = !options_.webhook.empty(),
        .event = options_.event,
        .event_after = options_.event_after,
        .counters = state_ ? state_->counters_file() : "",
        .has_counters = state_ && state_->has_counters(),
        .on_damage = options_.repair ? EventLog::OnDamage::Keep : EventLog::OnDamage::Refuse});
    if (auto opened = hub_->open(); !opened) return opened;
    monitor_.emplace(options_.stream, *queue_, *hub_);
    stream_thread_.emplace(options_, state_ ? &*state_ : nullptr, *queue_, *hub_, *monitor_);
    if (auto opened = stream_thread_->open(); !opened) return opened;
    if (options_.webhook.empty()) return {};
    auto webhook = Webhook::start({.url = options_.webhook,
                                   .secret = options_.webhook_secret,
                                   .file = state_ ? state_->webhook_file() : "",
                                   .repair = options_.repair,
                                   .note = options_.note},
                                  *hub_);
    if (!webhook.ok()) return webhook.error();
    webhook_ = *std::move(webhook);
    return {};
  }

  Status start_inputs() {
    const BatchRules rules{.durable = state_.has_value(), .initial = options_.initial};
    for (const std::string& path : options_.follow) {
      readers_.emplace_back([this, path, rules, begin = stream_thread_->position_of(path)] {
        follow_file(path, begin, line_options(path, rules), *queue_, *monitor_);
      });
    }
    if (options_.input >= 0) {
      reading_ = true;
      readers_.emplace_back([this, rules] {
        read_input(options_.input, line_options("standard input", rules), *queue_, *monitor_);
        reading_ = false;
      });
    }
    if (!options_.tcp.empty()) {
      auto address = net::parse_address(options_.tcp);
      if (!address.ok()) return address.error();
      tcp_.emplace(TcpServer::Options{options_.token, options_.body_limit, rules}, *queue_,
                   *monitor_);
      const auto port = tcp_->start(*address);
      if (!port.ok()) return port.error();
      address->port = *port;
      addresses_.tcp = net::to_string(*address);
    }
    if (options_.http.empty()) return {};
    auto address = net::parse_address(options_.http);
    if (!address.ok()) return address.error();
    http_.emplace(HttpService::Options{options_.token, options_.body_limit, rules}, *queue_, *hub_,
                  *monitor_);
    const auto port = http_->start(*address);
    if (!port.ok()) return port.error();
    address->port = *port;
    addresses_.http = fmt::format("http://{}/", net::to_string(*address));
    return {};
  }

  [[nodiscard]] LineOptions line_options(const std::string& name, const BatchRules& rules) {
    return {.name = name,
            .rules = rules,
            .line_limit = options_.body_limit,
            .stop = &stopping_,
            .note = options_.note};
  }

  // Whether there are inputs that never end.
  [[nodiscard]] bool listens() const {
    return !options_.http.empty() || !options_.tcp.empty() || !options_.follow.empty();
  }

  // Waits until the service is told to stop, or all inputs have ended.
  void wait() const {
    while (!(options_.stop != nullptr && *options_.stop) && !stream_thread_->failed() &&
           (listens() || reading_)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  void stop() {
    stop_inputs();
    hub_->stop();
    if (webhook_) webhook_->end();
    if (http_) http_->stop();  // Meanwhile the webhook gets the last events.
    webhook_.reset();
  }

  // Accepts no more batches. HTTP stays up, so that clients can watch the last events.
  void stop_inputs() {
    stopping_ = true;
    for (std::thread& reader : std::exchange(readers_, {})) reader.join();
    if (tcp_) tcp_->stop();
    queue_->close();
  }

  [[nodiscard]] ServeReport report(const StreamSummary& summary) const {
    return {.level = options_.stream.level,
            .outcome = monitor_->outcome(),
            .summary = summary,
            .doubts = monitor_->doubts(),
            .events = hub_->last(),
            .rejected = monitor_->rejected(),
            .seconds = std::chrono::duration<double>(Clock::now() - started_).count()};
  }

  using Clock = std::chrono::steady_clock;
  const ServeOptions options_;
  const Clock::time_point started_ = Clock::now();
  // In the order in which they are made; each may use those above it.
  std::optional<StateFolder> state_;
  std::optional<BatchQueue> queue_;
  std::optional<EventHub> hub_;
  std::optional<Monitor> monitor_;
  std::optional<StreamThread> stream_thread_;
  std::unique_ptr<Webhook> webhook_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> reading_{false};  // Standard input has not ended.
  std::vector<std::thread> readers_;
  std::optional<TcpServer> tcp_;
  std::optional<HttpService> http_;
  ServeAddresses addresses_;
};

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// "1 flip", "2,000 flips".
std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

}  // namespace

Result<ServeReport> serve(const ServeOptions& options) {
  if (auto fine = check_options(options); !fine) return fine.error();
  return Service(options).run();
}

std::string describe(const ServeReport& report) {
  const StreamSummary& summary = report.summary;
  std::string why;
  for (std::size_t i = 0; i < summary.counts.size(); ++i) {
    if (summary.counts[i] == 0) continue;
    why += fmt::format("{}{} {}", why.empty() ? "" : ", ", grouped(summary.counts[i]),
                       info(static_cast<AnomalyKind>(i)).name);
  }
  if (why.empty() && report.outcome == Outcome::Undecided) {
    if (summary.lost_stragglers > 0) {
      why = counted(summary.lost_stragglers, "transaction") + " came too late";
    }
    if (summary.faults > 0) {
      why += why.empty() ? "" : ", ";
      why += counted(summary.faults, "transaction") + " without timestamps";
    }
    for (const std::string& doubt : report.doubts) why += (why.empty() ? "" : ", ") + doubt;
    if (why.empty()) why = counted(summary.undecided, "violation") + " could not be judged";
  }
  std::string text = fmt::format("{} {} by timestamps{}\n",
                                 report.outcome == Outcome::Violated    ? "VIOLATED"
                                 : report.outcome == Outcome::Undecided ? "UNDECIDED"
                                                                        : "holds",
                                 info(report.level).name, why.empty() ? "" : " (" + why + ")");
  text += fmt::format("\n{}, {}, {} left out, {}, {}", counted(summary.txns, "transaction"),
                      counted(summary.operations, "operation"), grouped(summary.left_out),
                      counted(summary.stragglers, "straggler"), counted(summary.flips, "flip"));
  if (summary.undecided > 0) text += fmt::format(", {} undecided", grouped(summary.undecided));
  if (report.rejected > 0) text += fmt::format(", {} rejected", grouped(report.rejected));
  return text + fmt::format(", {:.1f} s\n", report.seconds);
}

}  // namespace ouro
