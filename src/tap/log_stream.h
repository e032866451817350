// The changes that a server commits, as they are logged: a temporary slot of logical decoding, read
// by the replication protocol. The server removes the slot when the connection ends, however it
// ends.
//
// Thread safety: none.
#pragma once

#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/url.h"
#include "ouro/result.h"

namespace ouro::tapping {

class LogStream {
 public:
  // Makes a slot. Waits until all transactions that are writing at present have ended. The error
  // says what the server lacks, or that `stop` turned true, which must outlive this.
  [[nodiscard]] static Result<std::unique_ptr<LogStream>> open(const db::Url& url,
                                                               const db::Host& host,
                                                               const std::atomic<bool>& stop);
  // The name of a snapshot that sees exactly what is before the log. Good until start().
  [[nodiscard]] const std::string& snapshot() const { return snapshot_; }
  // Starts to read.
  [[nodiscard]] Status start();
  // Appends the lines of test_decoding that have come. Waits for some, for so long.
  [[nodiscard]] Status read(std::chrono::milliseconds wait, std::vector<std::string>& lines);

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  // `snapshot`: set to the third value of the answer, unless it is null.
  [[nodiscard]] Status run(const std::string& command, std::string* snapshot = nullptr);
  // Waits for the answer to a command. False: it was told to stop.
  [[nodiscard]] bool await_answer() const;
  [[nodiscard]] Status take(std::vector<std::string>& lines);
  [[nodiscard]] Status confirm();

  std::unique_ptr<PGconn, Finish> connection_;
  const std::atomic<bool>* stop_ = nullptr;
  std::string place_;
  std::string slot_;
  std::string snapshot_;
  std::int64_t position_ = 0;  // In the log, up to which everything has come.
  std::chrono::steady_clock::time_point confirmed_;
};

}  // namespace ouro::tapping
