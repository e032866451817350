// Numbers about the service, for metrics and for the page.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ouro/stream.h"
#include "serve/batch_queue.h"
#include "serve/event_hub.h"
#include "serve/sources.h"

namespace ouro::serving {

// A histogram of how long checks took: for each bound, in seconds, how many took at most as long.
class Durations {
 public:
  static constexpr std::array<double, 12> kBounds{1e-5, 2.5e-5, 1e-4, 2.5e-4, 1e-3, 2.5e-3,
                                                  1e-2, 2.5e-2, 1e-1, 2.5e-1, 1.0,  2.5};
  void add(double seconds);
  [[nodiscard]] std::uint64_t below(std::size_t bound) const { return counts_[bound]; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  std::array<std::uint64_t, kBounds.size()> counts_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

// What the stream thread reports. `stream` counts since the stream began, also across restarts; the
// others count since this process began.
struct Vitals {
  StreamSummary stream;  // Of all sources together.
  struct Source {
    std::uint32_t number = 0;
    std::string name;
    StreamSummary stream;
    Doubt doubt;
    std::optional<std::uint64_t> behind = {};  // Messages that wait for it, if they are counted.
    [[nodiscard]] Outcome outcome() const { return outcome_of(stream, doubt.scope); }
  };
  std::vector<Source> sources;
  [[nodiscard]] Outcome outcome() const;  // The worst of them.
  std::array<std::uint64_t, 3> txns{};    // Transactions taken, by TxnStatus.
  std::uint64_t batches = 0;              // Applied.
  std::uint64_t repeated = 0;             // Batches that had been applied before.
  double lag_seconds = 0;                 // From arrival to verdict, of the last batch.
  Durations checks;                       // One for each batch.
};

// Thread safety: all members may be called from any thread.
class Monitor {
 public:
  Monitor(const StreamOptions& options, const BatchQueue& queue, const EventHub& hub)
      : options_(options), queue_(queue), hub_(hub) {}

  void update(const Vitals& vitals);
  // Call it for each batch or line that could not be read or was refused.
  void count_rejected() { ++rejected_; }
  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }
  // Call it when input is missing that cannot be found again.
  void count_gap() { ++gaps_; }
  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }

  [[nodiscard]] Outcome outcome() const;
  // The sources with doubts, and why: "shop: the slot is lost".
  [[nodiscard]] std::vector<std::string> doubts() const;

  // In the text format of Prometheus.
  [[nodiscard]] std::string metrics() const;
  // One JSON object, for the page and for scripts; docs/serve.md describes it.
  [[nodiscard]] std::string summary() const;

 private:
  // What the page draws curves of; one for each second.
  struct Sample {
    std::uint64_t txns = 0;  // In this second.
    double lag_seconds = 0;
    std::uint64_t memory = 0;
    std::uint64_t window_txns = 0;
    std::uint64_t flips = 0;
    std::uint64_t violations = 0;
  };
  static constexpr std::size_t kSamples = 180;

  const StreamOptions options_;
  const BatchQueue& queue_;
  const EventHub& hub_;
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> gaps_{0};
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  mutable std::mutex mutex_;  // Guards all members below.
  Vitals vitals_;
  std::deque<Sample> samples_;
  std::chrono::steady_clock::time_point sampled_ = started_;  // The end of the last sample.
  std::uint64_t sampled_txns_ = 0;                            // In all samples so far.
};

// How many violations are final.
[[nodiscard]] std::uint64_t violation_count(const StreamSummary& summary);

}  // namespace ouro::serving
