// Sends transactions to a service (ouro serve) while the run goes on.
//
// Lines wait here until their timestamps are known. They are sent in the order in which they were
// added, in numbered batches, which the service recognises if they are sent twice. If the service
// is slower than the clients, the clients wait.
//
// Thread safety: add() may be called from any thread; the others from one thread.
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
  // Fails if the service cannot be reached or refuses us.
  [[nodiscard]] static Result<std::unique_ptr<Feeder>> connect(const Options& options);
  // Drops the lines that were not sent; call finish() before if they are wanted.
  ~Feeder();

  // Starts the thread that sends. It calls database.recover_new(). REQUIRES: `database` is prepared
  // and outlives finish().
  void start(db::Database& database);
  // Adds a transaction: a line of native text, with its line break. `token` is that of its trace if
  // its timestamps must still be asked for, else zero. Waits if too many lines wait.
  void add(const std::string& line, std::uint64_t token);
  // Sends the lines that are left. Returns how many lines the service took in all; the error says
  // why it did not take all.
  [[nodiscard]] Result<std::uint64_t> finish();

 private:
  struct Line {
    std::string text;
    std::uint64_t token = 0;
  };

  Feeder(net::HttpClient client, Options options);
  void send_all();  // What the thread does.
  // Asks the database for timestamps.
  [[nodiscard]] Status learn_times();
  // Moves lines from the front of `lines` to `batch`, up to the first whose timestamps are not
  // known yet. `last`: no more timestamps will come, so moves those, too. Returns how many it
  // moved.
  std::uint64_t gather(std::deque<Line>& lines, bool last, std::string& batch);
  // Sends a batch, again and again if the service is away.
  [[nodiscard]] Status send(const std::string& batch);
  [[nodiscard]] net::HttpAnswer post(const std::string& batch);
  [[nodiscard]] net::HttpHeaders headers() const;
  void tell_undecided();
  void give_up(const Error& error);

  const Options options_;
  net::HttpClient client_;
  // Our name as a client of the service, and as a source of transactions; random, so that different
  // runs have nothing to do with each other.
  std::string name_;
  std::uint64_t number_ = 0;  // The number of the last batch.
  db::Database* database_ = nullptr;
  std::unordered_map<std::uint64_t, db::Recovered::Times> times_;  // By token.
  std::thread sender_;

  std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::deque<Line> waiting_;
  bool finishing_ = false;
  std::uint64_t taken_ = 0;       // Lines that the service took.
  std::optional<Error> problem_;  // Nothing more is sent then.
};

}  // namespace ouro::running
