// Remembers which batches of which clients were applied.
//
// Clients send a batch again if it was not acknowledged. For each client the largest kNumbers
// numbers are kept; smaller numbers count as seen. So batches may overtake each other a little.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace ouro::serving {

class SeenBatches {
 public:
  static constexpr std::size_t kNumbers = 256;     // How many numbers are kept for each client.
  static constexpr std::size_t kClients = 10'000;  // With more, the longest silent is forgotten.

  struct Client {
    std::uint64_t floor = 0;        // This number and all below count as seen.
    std::set<std::uint64_t> above;  // The seen numbers above `floor`.
    std::uint64_t last_use = 0;     // The value of uses_ when the client was last heard.
  };

  [[nodiscard]] bool contains(const std::string& client, std::uint64_t number) const;
  void add(const std::string& client, std::uint64_t number);
  // All numbers of the client up to `floor` count as seen.
  void raise(const std::string& client, std::uint64_t floor);

  [[nodiscard]] const std::map<std::string, Client>& clients() const { return clients_; }

 private:
  std::map<std::string, Client> clients_;
  std::uint64_t uses_ = 0;  // Counts the calls of add() and raise().
};

}  // namespace ouro::serving
