// Where a stream puts what is older than its window: epochs, each written once, in order, and
// dropped as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro::stream {

class VersionStore {
 public:
  virtual ~VersionStore() = default;

  // An epoch being written.
  class Writer {
   public:
    virtual ~Writer() = default;
    // REQUIRES: ascending keys.
    virtual Status add(std::string_view key, std::string_view value) = 0;
    // Synced to disk; the bytes it takes.
    virtual Result<std::uint64_t> finish() = 0;
  };
  [[nodiscard]] virtual Result<std::unique_ptr<Writer>> write(std::uint32_t epoch) = 0;
  // The error is a disk that fails.
  [[nodiscard]] virtual Result<std::optional<std::string>> find(std::uint32_t epoch,
                                                                std::string_view key) = 0;
  // The value of the last key that is not behind `key`; and that key.
  struct Entry {
    std::string key;
    std::string value;
  };
  [[nodiscard]] virtual Result<std::optional<Entry>> find_before(std::uint32_t epoch,
                                                                 std::string_view key) = 0;
  virtual void drop(std::uint32_t epoch) = 0;
};

// In RocksDB's tables, one file an epoch, without the database around them: what is written once,
// never changes and goes as a whole needs no log, no memory table and no compaction. Makes the
// folder, and removes all epochs in it but those from `first` to `last`. The error is a folder that
// cannot be used, or a program without RocksDB.
[[nodiscard]] Result<std::unique_ptr<VersionStore>> open_version_store(const std::string& folder,
                                                                       std::uint32_t first,
                                                                       std::uint32_t last);

}  // namespace ouro::stream
