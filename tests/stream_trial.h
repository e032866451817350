// Feeds a history to a stream in some order, with some delays, and compares what the stream says in
// the end with what check() says of the same transactions in that order; and has it certified.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/stream.h"

namespace ouro::oracle {

// Violations as text, without details in which check() and the stream may differ, and how often
// each occurs.
using Findings = std::map<std::string, int>;

struct Step {
  StreamTime now{0};
  std::shared_ptr<const History> batch;  // Null: time passes.
};

struct Trial {
  History whole;            // In order of arrival; transactions are named by their number.
  std::vector<Step> steps;  // What the stream is told.
};

struct Arrivals {
  std::size_t reach = 4;      // How far a transaction may get ahead of others.
  std::size_t max_batch = 5;  // Transactions.
  std::int64_t max_wait_ms = 3;
};

// Where random tests begin to count their seeds: at 1, or at $OURO_SEED, to try others.
[[nodiscard]] std::uint64_t first_seed();

// The same transactions with initial values: one for all keys, or others for some; often values
// that are read.
[[nodiscard]] History with_initials(const History& history, std::uint64_t seed);

// The same transactions with numbers in their sessions, or in most of these; some numbers are left
// out.
[[nodiscard]] History with_numbers(const History& history, std::uint64_t seed);

// Transactions keep the order of their session, unless they have numbers in it, and are mixed
// otherwise. The initial value of a
// single key comes in any batch, sometimes after a batch with another value for it.
[[nodiscard]] Trial random_trial(const History& history, std::uint64_t seed,
                                 const Arrivals& arrivals);

// `sources`: whether to tell who wrote what a wrong read returned. A stream may name another
// writer, if not all have arrived yet.
[[nodiscard]] Findings findings_of(const History& whole, const Verdict& verdict, bool sources);
// The findings that a stream has reported and not withdrawn.
class Tally {
 public:
  explicit Tally(bool sources) : sources_(sources) {}
  // What is wrong with the events themselves (numbers, withdrawals), or "".
  [[nodiscard]] std::string add(const std::vector<StreamEvent>& events);
  [[nodiscard]] Findings left() const;
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  bool sources_;
  std::uint64_t count_ = 0;
  std::map<std::uint64_t, std::string> reported_;
};

// The name of a folder for this process; in memory, if the machine has that, since streams sync
// what they write.
[[nodiscard]] std::string scratch_folder_of(const std::string& test);

// The same trial with all times multiplied.
[[nodiscard]] Trial stretched(Trial trial, int factor);

// What differs between the stream's end and check(), or "". If stragglers were lost, the stream may
// miss violations, but must not invent any. `brief`: transactions that were dropped are missing
// from findings, so only those that are left are compared.
[[nodiscard]] std::string difference(const Trial& trial, Level level, std::int64_t clock_drift,
                                     const StreamSummary& summary, const Tally& tally, bool sources,
                                     bool brief = false);
// Runs all steps and finishes the stream. Returns what is wrong with it, or "".
[[nodiscard]] std::string complaint(const Trial& trial, const StreamOptions& options,
                                    StreamSummary* summary = nullptr);

// The same, but now and then the stream is saved, or is lost and restored; then the steps since are
// repeated, which must give the same events again. A stream with a memory limit is now and then
// restored without one; and it may name another writer of what a wrong read returned, if several
// wrote that, since it looks for one only in memory.
[[nodiscard]] std::string complaint_with_crashes(const Trial& trial, const StreamOptions& options,
                                                 std::uint64_t seed, const std::string& file);

}  // namespace ouro::oracle
