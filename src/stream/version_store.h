// Where a stream puts what is older than its window: epochs, each a sorted file that is written
// once, never changes and goes as a whole. So there is no log, no table in memory and no
// compaction.
//
// File: blocks of entries, an index and a footer. A block has entries in ascending order of keys,
// 16 KB of them or one that is larger; the index has the first key, place and checksum of each
// block, and is in memory while the file is open. So finding an entry takes one read.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/result.h"
#include "stream/run_file.h"

namespace ouro::stream {

class VersionStore {
 public:
  // Makes the folder, and removes all epochs in it but those from `first` to `last`. The error is a
  // folder that cannot be used.
  static Result<std::unique_ptr<VersionStore>> open(const std::string& folder, std::uint32_t first,
                                                    std::uint32_t last);
  ~VersionStore();

  // A block of a file.
  struct Block {
    std::string first_key;
    std::uint64_t at = 0;  // Bytes.
    std::uint64_t size = 0;
    std::uint64_t sum = 0;
  };

  // An epoch being written.
  class Writer {
   public:
    // REQUIRES: ascending keys.
    Status add(std::string_view key, std::string_view value);
    // Synced to disk; the bytes it takes.
    Result<std::uint64_t> finish();

   private:
    friend class VersionStore;
    Writer() = default;
    void end_block();
    Status flush();

    RunFile file_;
    std::string buffer_;         // Not yet written.
    std::uint64_t written_ = 0;  // Bytes.
    std::size_t block_at_ = 0;   // Where the block being made begins in the buffer.
    std::string first_key_;      // Of that block.
    std::vector<Block> blocks_;
  };
  [[nodiscard]] Result<std::unique_ptr<Writer>> write(std::uint32_t epoch);

  // The error is a disk that fails.
  [[nodiscard]] Result<std::optional<std::string>> find(std::uint32_t epoch, std::string_view key);
  // The value of the last key that is not behind `key`; and that key.
  struct Entry {
    std::string key;
    std::string value;
  };
  [[nodiscard]] Result<std::optional<Entry>> find_before(std::uint32_t epoch, std::string_view key);
  void drop(std::uint32_t epoch);

 private:
  class Table;

  explicit VersionStore(std::string folder);
  Status keep_only(std::uint32_t first, std::uint32_t last);
  [[nodiscard]] std::string path(std::uint32_t epoch) const;
  // Those used last stay open.
  Result<Table*> open(std::uint32_t epoch);

  std::string folder_;
  std::list<std::pair<std::uint32_t, std::unique_ptr<Table>>> open_;
};

}  // namespace ouro::stream
