// Merges several runs into one, in a thread of its own.
//
// Each key that leaves memory is written four to six times until it is in the oldest run; with
// more keys than fit into memory that is a third of all work. Runs never change, so nobody has to
// wait for a merge: the stream uses the old runs until the new one is done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "stream/cold_run.h"

namespace ouro::stream {

class RunMerge {
 public:
  // Begins to merge `runs`, the oldest first, into `writer`. REQUIRES: the runs outlive the merge,
  // or are used no more after finish() has returned.
  RunMerge(std::vector<const Run*> runs, std::unique_ptr<RunWriter> writer);
  // Gives up if the merge is not done.
  ~RunMerge();
  RunMerge(const RunMerge&) = delete;
  RunMerge& operator=(const RunMerge&) = delete;

  // Waits until the merge is done; returns the new run. REQUIRES: called once.
  Result<RunInfo> finish();
  // Whether finish() would return an error, if that is known already.
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  // The most memory that the merge may take.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void work();
  Result<RunInfo> run();
  Status add_next();

  std::vector<Run::Cursor> inputs_;  // Of the runs that are not at their end, the oldest first.
  std::unique_ptr<RunWriter> writer_;
  std::size_t bytes_ = 0;
  Result<RunInfo> result_;
  std::atomic<bool> gives_up_ = false;
  std::atomic<bool> failed_ = false;
  std::thread thread_;  // The last member, because it uses all others.
};

}  // namespace ouro::stream
