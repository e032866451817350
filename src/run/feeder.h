// Sends transactions to a service (ouro serve) while the run goes on.
//
// Lines wait here until their timestamps are known; then they go out in the order in which they
// came, in batches that the service recognises if they have to be sent twice. If the service is
// slower than the clients, the clients wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "db/database.h"
#include "net/http_client.h"
#include "ouro/result.h"

namespace ouro::running {

class Feeder {
 public:
  struct Options {
    std::string url;
    std::string token;  // Empty: none.
  };
  // The error is a service that cannot be reached or does not want us.
  [[nodiscard]] static Result<std::unique_ptr<Feeder>> connect(const Options& options);
  // Gives up what is left.
  ~Feeder();

  // Begins to send. REQUIRES: `database` is prepared and outlives finish().
  void start(db::Database& database);
  // A line of native text, with its line break. `token`: of one whose commit timestamp is still to
  // be asked for; else zero. Waits if too many lines wait.
  void add(const std::string& line, std::uint64_t token);
  // Sends what is left, for a while. Returns how many were taken; the error is why not all.
  [[nodiscard]] Result<std::uint64_t> finish();

 private:
  struct Line {
    std::string text;
    std::uint64_t token = 0;
  };

  Feeder(net::HttpClient client, Options options);
  void send_all();
  [[nodiscard]] Status learn_times();
  // Moves lines whose times are known into `batch`; `last`: all lines.
  std::uint64_t gather(std::deque<Line>& lines, bool last, std::string& batch);
  [[nodiscard]] Status send(const std::string& batch);
  [[nodiscard]] net::HttpAnswer post(const std::string& batch);
  void give_up(const Error& error);

  const Options options_;
  net::HttpClient client_;
  std::string name_;          // What the service knows us by.
  std::uint64_t number_ = 0;  // The number of the last batch.
  db::Database* database_ = nullptr;
  std::unordered_map<std::uint64_t, db::Recovered::Times> times_;  // By token.
  std::thread sender_;

  std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::deque<Line> waiting_;
  bool finishing_ = false;
  std::uint64_t taken_ = 0;
  std::optional<Error> problem_;
};

}  // namespace ouro::running
