// What a stream can take, how often it changes its mind, and what memory it needs.
//
//   ouro_bench_stream throughput [TXNS [KEYS]]  for 1k, 1M and 10M keys and TPC-C
//   ouro_bench_stream predicates [TXNS [ROWS]]  5 operations, one in ten a select by a column
//   ouro_bench_stream flips                     CSV: flip-flops by the spread of delays
//   ouro_bench_stream steady [SECONDS [MB]]     CSV: resident memory at 50,000 transactions a
//                                               second
//   ouro_bench_stream keys [KEYS [MB [TXNS]]]   more keys than fit into memory: CSV by the million
//                                               while they are loaded, then by time
//   ouro_bench_stream save [KEYS [MB [TXNS]]]   how long a checkpoint takes, and how long
//                                               the stream must wait for it; 0 MB: no limit
//   ouro_bench_stream send PORT [SECONDS [RATE [KEYS]]]  feeds a service (bench/serve/hour.py)

#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "online/feed.h"
#include "online/send.h"

namespace ouro::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Of this thread, so that others on the machine do not count.
double cpu_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

// Of the threads that the stream has beside this one.
double cpu_seconds_aside() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds(); }

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

int fail(std::string_view what) {
  fmt::print(stderr, "ouro_bench_stream: {}\n", what);
  return 1;
}

std::uint64_t violations(const StreamSummary& summary) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : summary.counts) sum += count;
  return sum;
}

// Feeds all, and prints what the stream itself took once all keys are loaded: transactions a second
// by the clock, and by the processor time of the thread that feeds it; what other threads made
// ready meanwhile is aside. What is right must be found right.
bool measure(const char* name, const FeedOptions& options) {
  StreamOptions stream_options;
  stream_options.level = options.level;
  auto stream = Stream::open(stream_options);
  if (!stream.ok()) return false;
  Feed feed(options);
  for (Delivery load = feed.next_load(); load.batch != nullptr; load = feed.next_load()) {
    if (!stream->append(std::move(load.batch), load.at).ok()) return false;
  }
  const StreamSummary loaded = stream->summary();
  double seconds = 0;
  double wall = 0;
  double worst = 0;
  const double aside = cpu_seconds_aside();
  std::vector<Delivery> some;  // Made ahead, so that making them does not disturb.
  for (bool more = true; more;) {
    some.clear();
    while (some.size() < 200 && more) {
      some.push_back(feed.next());
      if (some.back().batch == nullptr) {
        some.pop_back();
        more = false;
      }
    }
    for (Delivery& delivery : some) {
      const auto from = Clock::now();
      const double begin = cpu_seconds();
      if (!stream->append(std::move(delivery.batch), delivery.at).ok()) return false;
      stream->advance(delivery.at);
      if (!stream->poll().empty()) return false;
      const double took = cpu_seconds() - begin;
      seconds += took;
      wall += seconds_since(from);
      worst = std::max(worst, took);
    }
  }
  const auto from = Clock::now();
  const double begin = cpu_seconds();
  StreamSummary summary = stream->finish();
  seconds += cpu_seconds() - begin;
  wall += seconds_since(from);
  summary.txns -= loaded.txns;
  summary.operations -= loaded.operations;
  fmt::print(
      "{:10} {:22} {:>9} txns {:>9.0f}/s, {:>9.0f}/cpu s {:>6.1f} ns/op, aside {:.1f} ns/op  "
      "worst batch {:.2f} ms  flips {}  memory {} MB\n",
      name, info(options.level).name, summary.txns, static_cast<double>(summary.txns) / wall,
      static_cast<double>(summary.txns) / seconds,
      seconds * 1e9 / static_cast<double>(summary.operations),
      (cpu_seconds_aside() - aside) * 1e9 / static_cast<double>(summary.operations), worst * 1e3,
      summary.flips, summary.memory >> 20);
  return violations(summary) == 0;
}

// `keys`: only that many, or zero for all.
int throughput(std::uint64_t txns, std::uint64_t keys) {
  if (keys > 0) {
    const FeedOptions options{.txns = txns, .keys = keys};
    return measure("", options) ? 0 : fail("a violation where there is none");
  }
  for (const Level level : {Level::SessionSi, Level::SessionSerializable}) {
    FeedOptions options{.level = level, .txns = txns};
    bool right = true;
    options.keys = 1'000;
    right &= measure("1k keys", options);
    options.keys = 1'000'000;
    right &= measure("1M keys", options);
    options.keys = 10'000'000;
    right &= measure("10M keys", options);
    options.tpcc = true;
    right &= measure("TPC-C", options);
    if (!right) return fail("a violation where there is none");
  }
  return 0;
}

int predicates(std::uint64_t txns, std::uint64_t rows) {
  for (const Level level : {Level::SessionSi, Level::SessionSerializable}) {
    FeedOptions options{.level = level, .txns = txns, .keys = rows};
    options.ops = 5;
    options.predicate_share = 0.1;
    options.rate = 50'000;
    if (!measure("predicates", options)) return fail("a violation where there is none");
  }
  return 0;
}

// As in figures 13 and 14 of the Aion paper: 10,000 transactions in batches of 500, normally
// distributed delays.
int flips() {
  fmt::print(
      "mean_ms,deviation_ms,txns,flips,flipped_txns,once,twice,three_times,more,"
      "below_1ms,below_10ms,below_100ms,below_1s,longer\n");
  for (const double mean : {0.0, 50.0, 100.0, 150.0, 200.0}) {
    for (const double deviation : {1.0, 10.0, 20.0, 30.0, 40.0, 50.0}) {
      FeedOptions options{.txns = 10'000, .keys = 1'000};
      options.rate = 10'000;
      options.late_share = 0;
      options.delay_mean_ms = mean;
      options.delay_deviation_ms = deviation;
      auto stream = Stream::open({});
      if (!stream.ok()) return fail(stream.error().to_string());
      Feed feed(options);
      for (Delivery next = feed.next(); next.batch != nullptr; next = feed.next()) {
        if (!stream->append(next.batch, next.at).ok()) return fail("a batch was refused");
        stream->advance(next.at);
      }
      const StreamSummary summary = stream->finish();
      if (violations(summary) != 0) return fail("a violation where there is none");
      fmt::print("{},{},{},{},{},{},{}\n", mean, deviation, summary.txns, summary.flips,
                 summary.flipped_txns, fmt::join(summary.flipped, ","),
                 fmt::join(summary.flip_waits, ","));
    }
  }
  return 0;
}

int steady(std::uint64_t seconds, std::size_t limit_mb, const std::string& folder) {
  StreamOptions stream_options;
  stream_options.memory = limit_mb << 20;
  stream_options.folder = folder;
  auto stream = Stream::open(stream_options);
  if (!stream.ok()) return fail(stream.error().to_string());
  FeedOptions options;
  options.rate = 50'000;
  options.txns = seconds * options.rate;
  Feed feed(options);
  const auto begin = Clock::now();
  StreamTime reported{0};
  StreamTime first{0};
  double busy = 0;
  double worst = 0;
  fmt::print("second,txns,resident_kib,accounted_kib,disk_kib,keys,busy_share,worst_ms\n");
  for (Delivery next = feed.next(); next.batch != nullptr; next = feed.next()) {
    if (first.count() == 0) first = reported = next.at;
    std::this_thread::sleep_until(begin + (next.at - first));
    const auto from = Clock::now();
    if (!stream->append(std::move(next.batch), next.at).ok()) return fail("a batch was refused");
    stream->advance(next.at);
    busy += seconds_since(from);
    worst = std::max(worst, seconds_since(from));
    if (next.at - reported < std::chrono::seconds(1)) continue;
    const StreamSummary now = stream->summary();
    fmt::print("{:.0f},{},{},{},{},{},{:.3f},{:.1f}\n", seconds_since(begin), now.txns,
               resident_kib(), now.memory >> 10, now.disk >> 10, now.keys, busy, worst * 1e3);
    std::fflush(stdout);
    reported = next.at;
    busy = worst = 0;
  }
  const StreamSummary summary = stream->finish();
  if (summary.txns != options.txns) return fail("transactions were lost");
  return violations(summary) == 0 ? 0 : fail("a violation where there is none");
}

// What a stream with a limit does, by wall time, as lines of CSV.
class Ledger {
 public:
  Ledger(Stream& stream, std::size_t feed_kib) : stream_(stream), feed_kib_(feed_kib) {
    fmt::print(
        "phase,txns,operations,txns_per_s,txns_per_cpu_s,ops_per_cpu_s,resident_mb,accounted_mb,"
        "disk_mb,keys,keys_left,keys_back,worst_ms,cpu_s,aside_cpu_s\n");
  }
  bool take(Delivery delivery) {
    const auto from = Clock::now();
    const double cpu_from = cpu_seconds();
    if (!stream_.append(std::move(delivery.batch), delivery.at).ok()) return false;
    stream_.advance(delivery.at);
    cpu_ += cpu_seconds() - cpu_from;
    const double took = seconds_since(from);
    seconds_ += took;
    worst_ = std::max(worst_, took);
    return stream_.poll().empty();
  }
  // Since the last line; resident memory without that of the feed.
  void print(const char* phase) {
    const StreamSummary now = stream_.summary();
    const auto txns = static_cast<double>(now.txns - before_.txns);
    const auto ops = static_cast<double>(now.operations - before_.operations);
    fmt::print("{},{},{},{:.0f},{:.0f},{:.0f},{},{},{},{},{},{},{:.1f},{:.2f},{:.2f}\n", phase,
               now.txns, now.operations, txns / seconds_, txns / cpu_, ops / cpu_,
               (resident_kib() - std::min(resident_kib(), feed_kib_)) >> 10, now.memory >> 20,
               now.disk >> 20, now.keys, now.keys_left, now.keys_back, worst_ * 1e3, cpu_,
               cpu_seconds_aside() - aside_);
    aside_ = cpu_seconds_aside();
    std::fflush(stdout);
    before_ = now;
    seconds_ = cpu_ = worst_ = 0;
  }

 private:
  Stream& stream_;
  std::size_t feed_kib_;
  StreamSummary before_;
  double seconds_ = 0;
  double cpu_ = 0;    // Seconds of this thread.
  double aside_ = 0;  // Of others, until the last line.
  double worst_ = 0;
};

int many_keys(std::uint64_t keys, std::size_t limit_mb, std::uint64_t txns,
              const std::string& folder) {
  StreamOptions stream_options;
  stream_options.memory = limit_mb << 20;
  stream_options.folder = folder;
  auto stream = Stream::open(stream_options);
  if (!stream.ok()) return fail(stream.error().to_string());
  FeedOptions options{.txns = txns, .keys = keys};
  options.rate = 50'000;
  Feed feed(options);
  Ledger ledger(*stream, resident_kib());
  // 200,000 keys in a second of the stream's time, as 50,000 transactions write.
  StreamTime now{0};
  const std::uint64_t lines = std::max<std::uint64_t>(keys / 20, 1);
  std::uint64_t printed = 0;
  for (Delivery next = feed.next_load(); next.batch != nullptr; next = feed.next_load()) {
    now += std::chrono::microseconds(5 * next.batch->op_count());
    next.at = now;
    if (!ledger.take(std::move(next))) return fail("a batch was refused, or a violation");
    if (stream->summary().operations < printed + lines) continue;
    printed = stream->summary().operations;
    ledger.print("load");
  }
  std::uint64_t count = 0;
  for (Delivery next = feed.next(); next.batch != nullptr; next = feed.next()) {
    next.at += now;
    if (!ledger.take(std::move(next))) return fail("a batch was refused, or a violation");
    if (++count % (txns / options.batch / 20 + 1) == 0) ledger.print("run");
  }
  const StreamSummary summary = stream->finish();
  ledger.print("end");
  return violations(summary) == 0 ? 0 : fail("a violation where there is none");
}

// How long a stream with so many keys and so many transactions that wait cannot go on.
int save(std::uint64_t keys, std::size_t limit_mb, std::uint64_t txns, const std::string& folder) {
  StreamOptions stream_options;
  stream_options.memory = limit_mb << 20;
  if (limit_mb > 0) stream_options.folder = folder;
  auto stream = Stream::open(stream_options);
  if (!stream.ok()) return fail(stream.error().to_string());
  FeedOptions options{.txns = txns, .keys = keys};
  options.rate = 50'000;
  Feed feed(options);
  StreamTime now{0};
  for (Delivery next = feed.next_load(); next.batch != nullptr; next = feed.next_load()) {
    now += std::chrono::microseconds(5 * next.batch->op_count());
    if (!stream->append(std::move(next.batch), now).ok()) return fail("a batch was refused");
    stream->advance(now);
  }
  for (Delivery next = feed.next(); next.batch != nullptr; next = feed.next()) {
    next.at += now;
    if (!stream->append(std::move(next.batch), next.at).ok()) return fail("a batch was refused");
    stream->advance(next.at);
  }
  const std::string file = folder + ".checkpoint";
  fmt::print("keys,in_memory,waiting_txns,paused_s,seconds,file_mb\n");
  for (int i = 0; i < 3; ++i) {
    const auto from = Clock::now();
    if (Status begun = stream->begin_save(file); !begun.ok()) {
      return fail(begun.error().to_string());
    }
    const double paused = seconds_since(from);
    std::optional<Status> saved;
    while (!saved) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      saved = stream->saved();
    }
    if (!saved->ok()) return fail(saved->error().to_string());
    const StreamSummary summary = stream->summary();
    fmt::print("{},{},{},{:.3f},{:.3f},{}\n", keys, summary.keys, summary.window_txns, paused,
               seconds_since(from), std::filesystem::file_size(file) >> 20);
  }
  std::filesystem::remove(file);
  return 0;
}

}  // namespace
}  // namespace ouro::bench

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "throughput";
  const auto number = [&](int i, std::uint64_t fallback) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : fallback;
  };
  if (what == "throughput") return ouro::bench::throughput(number(2, 2'000'000), number(3, 0));
  if (what == "predicates") return ouro::bench::predicates(number(2, 200'000), number(3, 1'000));
  if (what == "flips") return ouro::bench::flips();
  if (what == "steady") {
    return ouro::bench::steady(number(2, 600), number(3, 256),
                               argc > 4 ? argv[4] : "/tmp/ouro-stream");
  }
  if (what == "keys") {
    return ouro::bench::many_keys(number(2, 10'000'000), number(3, 256), number(4, 1'000'000),
                                  argc > 5 ? argv[5] : "/tmp/ouro-stream");
  }
  if (what == "save") {
    return ouro::bench::save(number(2, 10'000'000), number(3, 256), number(4, 300'000),
                             argc > 5 ? argv[5] : "/tmp/ouro-stream");
  }
  if (what == "send" && argc > 2) {
    return ouro::bench::send(std::atoi(argv[2]), number(3, 3'600), number(4, 20'000),
                             number(5, 1'000'000));
  }
  return ouro::bench::fail(
      "throughput [TXNS], predicates [TXNS], flips, steady [SECONDS [LIMIT_MB [FOLDER]]], keys "
      "[KEYS [LIMIT_MB [TXNS [FOLDER]]]], save [KEYS [LIMIT_MB [TXNS [FOLDER]]]], or send PORT "
      "[SECONDS [RATE [KEYS]]]");
}
