// Makes one run of several, in a thread of its own.
//
// Each key that leaves memory is written four to six times until it lies in the oldest run; with
// more keys than fit into memory that is a third of all work. Runs never change, so nobody has to
// wait for it: the stream goes on with the old runs until the new one is due.
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
  // `runs`: the oldest first. They must stay until finish(), or until it is gone.
  RunMerge(std::vector<const Run*> runs, std::unique_ptr<RunWriter> writer);
  // Gives up if the merge is not done.
  ~RunMerge();
  RunMerge(const RunMerge&) = delete;
  RunMerge& operator=(const RunMerge&) = delete;

  // Waits until it is done. REQUIRES: it was not called before.
  Result<RunInfo> finish();
  // Whether finish() would return an error, if that is known already.
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  // The most memory that it may take.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void work();
  Result<RunInfo> run();
  Status add_next();

  std::vector<Run::Cursor> inputs_;  // The oldest first, those that are not at their end.
  std::unique_ptr<RunWriter> writer_;
  std::size_t bytes_ = 0;
  Result<RunInfo> result_;
  std::atomic<bool> gives_up_ = false;
  std::atomic<bool> failed_ = false;
  std::thread thread_;  // The last member, because it uses all others.
};

}  // namespace ouro::stream
