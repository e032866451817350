// Where placed transactions go: to a file in native text, and to a service (ouro serve).
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "net/http_client.h"
#include "ouro/result.h"
#include "tap/assembler.h"

namespace ouro::tapping {

// Appends the line of a transaction, with its line break.
void print_placed(const Placed& placed, std::string& out);
// Appends the line that says what a key held at first.
void print_initial(const std::string& key, const std::string& value, std::string& out);

class Outputs final : public Receiver {
 public:
  struct Options {
    std::string history;     // A file; empty: none.
    std::string statements;  // A file for the SQL of every transaction; empty: none.
    std::string server;      // Goes into the header of the history.
    std::string serve;       // URL of a service; empty: none.
    std::string token;
  };
  [[nodiscard]] static Result<std::unique_ptr<Outputs>> open(Options options);

  void initial(const std::string& key, const std::string& value) override;
  void transaction(const Placed& placed) override;
  // Sends and writes what is left. The error is the first that happened.
  [[nodiscard]] Status finish();

 private:
  explicit Outputs(Options options) : options_(std::move(options)) {}
  void put();
  void send();
  void fail(Error error);

  const Options options_;
  std::ofstream history_, statements_;
  std::optional<net::HttpClient> client_;
  std::string name_;          // Ours, as a source of the service.
  std::uint64_t number_ = 0;  // Of the last batch.
  std::string line_;
  std::string batch_;
  std::optional<Error> problem_;
};

}  // namespace ouro::tapping
