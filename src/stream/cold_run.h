// A run: a file of keys that left memory, written once, sorted by hash, in pages, with a filter.
//
// Runs are searched for keys that mostly are not in them, and are merged from front to end. They
// are smaller and faster than the tables of version_store.h, since keys have a fixed size of 32
// bytes (lists 64) and hashes that are spread evenly. To find the page of a hash, its position is
// guessed from the hash and corrected by a short search in the index, which has the upper half of
// the first hash of each page: 4 bytes for 31 keys. So finding a key takes one read of 1 kB. The
// filter is a blocked Bloom filter: it rules out most keys that are not there by a look at one
// cache line. Its blocks are in the order of the hashes, too, so that a run of any size is written
// with a few hundred kB of memory (and the index).
//
// File: the filter, the pages, the index. What is needed to read it is in a RunInfo, which is saved
// in the checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ouro/result.h"
#include "stream/codec.h"
#include "stream/fingerprint.h"
#include "stream/pool.h"
#include "stream/run_file.h"

namespace ouro::stream {

// The state of a key that has nothing but a stub. Only lists that have a stub have the second half.
struct ColdKey {
  Name name;
  std::uint64_t stub = 0;  // KeyState::stub; of a list with a stub: the stub's value.
  std::uint32_t last_epoch = 0;
  std::uint32_t bits = 0;               // All the rest, as ColdKeys packs it.
  std::array<std::uint64_t, 4> list{};  // The hashes and lengths of a list's stub.

  static constexpr std::uint32_t kHasList = std::uint32_t{1} << 31;  // In `bits`.
  [[nodiscard]] std::size_t size() const { return (bits & kHasList) != 0 ? 64 : 32; }
};
static_assert(sizeof(ColdKey) == 64 && std::is_trivially_copyable_v<ColdKey>);

// All counts are of things in the file.
struct RunInfo {
  std::uint32_t number = 0;
  std::uint32_t probes = 0;  // How many bits of the filter are set, and tested, for a key.
  std::uint64_t keys = 0;
  std::uint64_t blocks = 0;  // FilterBlocks.
  std::uint64_t pages = 0;
  std::uint64_t bytes = 0;       // The size of the file.
  std::uint64_t filter_sum = 0;  // Checksums of the filter and of the index.
  std::uint64_t index_sum = 0;
};

// The bits of a filter that stand for a range of hashes; one cache line.
using FilterBlock = std::array<std::uint64_t, 8>;

class RunWriter {
 public:
  // `keys`: about how many will be added. `filter_bits`: how many bits of filter each gets.
  RunWriter(std::uint32_t number, std::uint64_t keys, double filter_bits);
  Status open(const std::string& path);
  // Reserves memory for an index of `pages` pages: growing a large one would need twice its memory.
  void expect_pages(std::uint64_t pages) { firsts_.reserve(pages); }
  // `hash` is that of the key's name. REQUIRES: calls are in ascending order of hash, then name.
  Status add(const ColdKey& key, std::uint64_t hash);
  // Writes the rest and syncs the file to disk.
  Result<RunInfo> finish();
  [[nodiscard]] std::size_t bytes() const;

 private:
  void end_page();
  Status note(std::uint64_t hash);
  Status flush_filter();
  Status flush_pages();

  RunFile file_;
  RunInfo info_;
  std::uint64_t block_ = 0;           // The number of the filter block being made.
  FilterBlock bits_{};                // That block.
  std::uint64_t filter_written_ = 0;  // Bytes.
  std::vector<FilterBlock> filter_;   // Not yet written.
  Checksum filter_sum_;
  std::uint64_t pages_written_ = 0;
  std::string pages_;                  // Not yet written.
  std::size_t page_end_ = 0;           // Bytes used of the page being made; zero: there is none.
  std::vector<std::uint32_t> firsts_;  // The index.
};

// A key to look for.
struct Wanted {
  std::uint64_t hash = 0;
  Name name;
  std::uint32_t number = 0;  // A number of the caller's choice; copied to FoundKey.
  bool found = false;
};
struct FoundKey {
  ColdKey key;
  std::uint32_t number = 0;
};

class Run {
 public:
  // A key that the filter does not rule out, and the page to look at for it.
  struct Candidate {
    std::size_t page = 0;
    Wanted* wanted = nullptr;
  };
  // Buffers of find(), kept by the caller so that they are allocated once.
  struct Search {
    std::vector<Candidate> candidates;
    std::vector<Candidate> waiting;
  };
  // The error is a file that is not what `info` says.
  static Result<std::unique_ptr<Run>> open(const std::string& path, const RunInfo& info);

  [[nodiscard]] const RunInfo& info() const { return info_; }
  // Marks the keys of `wanted` that are in the run and not yet marked, and adds them to `found`.
  // All pages that must come from the disk are requested before the first is waited for. REQUIRES:
  // `wanted` is ascending by hash.
  // Thread safety: several threads may call it, each with a Search of its own.
  Status find(std::span<Wanted> wanted, Search& search, std::vector<FoundKey>& found) const;
  // Frees the filter, for a run that is about to be replaced. Later calls of find() read pages
  // instead.
  void forget_filter() { filter_ = Pages(); }
  [[nodiscard]] std::size_t bytes() const { return filter_.size() + firsts_.capacity() * 4; }

  // Goes through all keys in order.
  class Cursor {
   public:
    explicit Cursor(const Run& run) : run_(&run) {}
    // False: at the end, or an error.
    bool next();
    [[nodiscard]] const ColdKey& key() const { return key_; }
    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

   private:
    bool next_page();
    const Run* run_;
    std::vector<std::byte> buffer_;
    std::uint64_t page_ = 0;   // The page to read next.
    std::size_t at_ = 0;       // Where the next key is in the buffer.
    std::size_t end_ = 0;      // Where the keys of the current page end.
    std::size_t loaded_ = 0;   // How many bytes of the buffer are filled.
    std::size_t page_at_ = 0;  // Where the next page begins in the buffer.
    ColdKey key_;
    std::uint64_t hash_ = 0;
    std::optional<Error> error_;
  };

 private:
  explicit Run(const RunInfo& info) : info_(info) {}
  [[nodiscard]] std::uint64_t page_offset(std::uint64_t page) const;
  [[nodiscard]] bool may_have(std::uint64_t hash) const;
  // The last page whose first hash is not after `hash`, by the upper halves of both.
  [[nodiscard]] std::size_t page_of(std::uint64_t hash) const;
  // The key with `name`, if the page has it.
  [[nodiscard]] static std::optional<ColdKey> key_in(const std::byte* page, const Name& name);
  [[nodiscard]] Status check(const std::byte* page) const;
  Status find_in(std::size_t page, Wanted& wanted, std::vector<FoundKey>& found) const;

  RunFile file_;
  RunInfo info_;
  Pages filter_;
  std::vector<std::uint32_t> firsts_;  // The index.
};

}  // namespace ouro::stream
