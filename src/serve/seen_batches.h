// Which batches of which clients were applied already.
//
// Clients send again what was not acknowledged. Of each client the largest numbers are kept, so
// that batches may overtake each other a little; smaller ones count as seen.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace ouro::serving {

class SeenBatches {
 public:
  static constexpr std::size_t kNumbers = 256;     // So many numbers are kept of each client.
  static constexpr std::size_t kClients = 10'000;  // The one that was silent longest goes first.

  struct Client {
    std::uint64_t floor = 0;  // This number and all below count as seen.
    std::set<std::uint64_t> above;
    std::uint64_t last_use = 0;
  };

  [[nodiscard]] bool contains(const std::string& client, std::uint64_t number) const;
  void add(const std::string& client, std::uint64_t number);
  // All up to `floor` count as seen.
  void raise(const std::string& client, std::uint64_t floor);

  [[nodiscard]] const std::map<std::string, Client>& clients() const { return clients_; }

 private:
  std::map<std::string, Client> clients_;
  std::uint64_t uses_ = 0;
};

}  // namespace ouro::serving
