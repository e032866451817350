// A proxy between clients and a PostgreSQL server: bytes go both ways, with an Observer in between.
//
// One thread watches all connections and waits for none. A client that reads slowly makes the
// server wait, not the tap: what is kept for it has a limit.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "db/url.h"
#include "net/address.h"
#include "ouro/result.h"
#include "tap/ledger.h"

namespace ouro::tapping {

class Proxy {
 public:
  // Listens. `ledger` must outlive this. `observes`: false: copies bytes only, to compare with.
  [[nodiscard]] static Result<std::unique_ptr<Proxy>> open(const net::Address& listen,
                                                           const db::Host& server, Ledger& ledger,
                                                           bool observes);
  ~Proxy();

  [[nodiscard]] std::uint16_t port() const;
  // Serves until `stop` turns true; then closes all connections.
  [[nodiscard]] Status serve(const std::atomic<bool>& stop);

 private:
  struct State;
  explicit Proxy(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ouro::tapping
