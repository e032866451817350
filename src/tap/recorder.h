// Watches the server while clients use it: takes snapshots, reads the log, and gives both and what
// clients did to an Assembler. A thread of its own does all that.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "db/postgres_link.h"
#include "db/url.h"
#include "tap/assembler.h"
#include "tap/ledger.h"
#include "tap/log_stream.h"

namespace ouro::tapping {

class Recorder {
 public:
  // Connects, and takes a first snapshot. `load`: which tables to load, see load_tables(); empty:
  // none. If `stop` turns true, that is an error. All must outlive this.
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> open(const db::Url& url,
                                                              Assembler::Options options,
                                                              const std::string& load,
                                                              Ledger& ledger, Receiver& output,
                                                              const std::atomic<bool>& stop);
  ~Recorder();

  void start();
  // Waits for what clients did until now, and ends; if the server is silent for some seconds, ends
  // without that. REQUIRES: no client is connected any more.
  void finish();

  // These are for after finish().
  [[nodiscard]] const Assembler& assembler() const { return assembler_; }
  // Why recording ended before finish(); empty: it did not.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& server() const { return server_; }
  [[nodiscard]] std::uint64_t rows_loaded() const { return rows_loaded_; }

 private:
  Recorder(const db::Url& url, Assembler::Options options, Ledger& ledger, Receiver& output)
      : url_(url), ledger_(ledger), output_(output), assembler_(options, output) {}

  void run();
  [[nodiscard]] Status ask(const std::string& sql, db::PostgresRows& rows);
  [[nodiscard]] Status look_around();
  [[nodiscard]] Status load_catalog();
  [[nodiscard]] Status poll();
  [[nodiscard]] Status read_log(std::chrono::milliseconds wait);
  [[nodiscard]] Status take_line(const std::string& line);
  [[nodiscard]] Status step(std::chrono::milliseconds wait);
  // Places what can be placed, by a catalog that is newer than all of it.
  [[nodiscard]] Status settle();
  [[nodiscard]] Status end();
  [[nodiscard]] std::uint64_t whole_id(std::uint32_t id) const;

  const db::Url url_;
  Ledger& ledger_;
  Receiver& output_;
  Assembler assembler_;
  std::unique_ptr<db::PostgresLink> control_;
  std::unique_ptr<LogStream> log_;
  std::shared_ptr<const Catalog> catalog_;
  std::string server_;
  std::string problem_;
  std::uint64_t rows_loaded_ = 0;
  std::atomic<bool> finishing_{false};
  std::atomic<bool> giving_up_{false};  // The server is silent: no answer is waited for any more.
  std::atomic<bool> ended_{false};      // The thread is about to end.
  std::atomic<Nanos> heard_{0};         // When the server last answered.
  std::thread thread_;

  Logged open_txn_;              // Of the log, between BEGIN and COMMIT.
  Nanos next_settling_ = 0;
  std::uint64_t polls_ = 0;
  std::uint64_t settled_ = 0;  // The number of the last poll that was settled.
  std::deque<std::pair<std::uint64_t, Poll>> unsettled_;
  std::uint64_t near_ = 0;  // The next transaction id at the last poll.
  // What the marks of this tap in the log begin with; other taps on the database have others.
  const std::string prefix_ = fmt::format("ouro_tap_{}_{:08x}", ::getpid(), std::random_device{}());
  Nanos pushed_ = 0;  // When the server was last made to write its log.
};

}  // namespace ouro::tapping
