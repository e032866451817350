// Where placed transactions go: to a file in native text, and to a service (ouro serve).
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ouro/result.h"
#include "tap/assembler.h"
#include "tap/sender.h"

namespace ouro::tapping {

// Appends the line of a transaction, with its line break.
void print_placed(const Placed& placed, std::string& out);
// Appends the line that says what a key held at first.
void print_initial(const std::string& key, const std::string& value, const std::string& column,
                   std::string& out);

class Outputs final : public Receiver {
 public:
  struct Options {
    std::string history;     // A file; empty: none.
    std::string statements;  // A file for the SQL of every transaction; empty: none.
    std::string server;      // Goes into the header of the history.
    std::string serve;       // URL of a service; empty: none.
    std::string token;
    // Called when the service cannot be fed any more, or cannot judge; from any thread. May be
    // empty.
    std::function<void(const std::string& what)> notice;
  };
  [[nodiscard]] static Result<std::unique_ptr<Outputs>> open(Options options);

  void initial(const std::string& key, const std::string& value,
               const std::string& column) override;
  void transaction(const Placed& placed) override;
  void settled() override;
  void undecided(const std::string& why) override;
  // Sends and writes what is left. The error is the first that happened to a file.
  [[nodiscard]] Status finish();
  // Why the service did not get everything; empty: it did. For after finish().
  [[nodiscard]] const std::string& unsent() const { return unsent_; }

 private:
  explicit Outputs(Options options) : options_(std::move(options)) {}
  void put();
  void fail(Error error);

  const Options options_;
  std::ofstream history_, statements_;
  std::unique_ptr<Sender> sender_;  // Null: there is no service.
  std::string line_;
  std::string batch_;  // What the service shall get next.
  std::string unsent_;
  std::optional<Error> problem_;
};

}  // namespace ouro::tapping
