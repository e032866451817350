// Stores what is older than a stream's window in epochs: files of entries (a key and a value, both
// bytes) that are sorted by key, written once, never changed, and deleted as a whole. So there is
// no log, no table in memory and no compaction.
//
// File: blocks of entries, an index and a footer. A block has entries in ascending order of keys,
// about 16 KB of them or a single larger one. The index has the first key, position and checksum of
// each block, and is in memory while the file is open. So finding an entry takes one read.
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
    std::uint64_t at = 0;    // Where it begins in the file.
    std::uint64_t size = 0;  // Bytes.
    std::uint64_t sum = 0;   // Its checksum.
  };

  // An epoch being written.
  class Writer {
   public:
    // REQUIRES: calls are in ascending order of keys.
    Status add(std::string_view key, std::string_view value);
    // Writes the rest and syncs the file to disk. Returns its size in bytes.
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
    std::string first_key_;      // The first key of that block.
    std::vector<Block> blocks_;
  };
  [[nodiscard]] Result<std::unique_ptr<Writer>> write(std::uint32_t epoch);

  // The value of `key`; nothing if the epoch does not have it. The error is a disk that fails.
  [[nodiscard]] Result<std::optional<std::string>> find(std::uint32_t epoch, std::string_view key);
  // The last entry whose key is not after `key`.
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
  // The table of an epoch; a few that were used last stay open. The next call may invalidate it.
  Result<Table*> open(std::uint32_t epoch);

  std::string folder_;
  std::list<std::pair<std::uint32_t, std::unique_ptr<Table>>> open_;  // The last used first.
};

}  // namespace ouro::stream
