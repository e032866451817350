// Keys that left memory, in a file that is written once: sorted by hash, in pages, with a filter.
//
// A run is looked at for keys that mostly are not in it, one by one and in no order of their names,
// and is merged with others from front to end. What is known here makes it smaller and faster than
// the tables of version_store.h. Keys have a size of 32 bytes (lists 64) and hashes that are spread
// evenly. The page of a hash is found by a guess and a short search in the first hashes of all
// pages, 4 bytes for each 31 keys; so finding a key takes one read of 1 kB. The filter says of
// most keys that are not there that they are not, from one cache line: its blocks are in the order
// of the hashes, too, so that a run of any size is written in a few hundred kB of memory.
//
// File: the filter, the pages, the first hashes of the pages (their upper halves). What is needed
// to read it is in a RunInfo, which goes to the checkpoint.
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

// What is left of a key with nothing but a stub. Only lists have the second half.
struct ColdKey {
  Name name;
  std::uint64_t stub = 0;  // Of a list with a stub: its value.
  std::uint32_t last_epoch = 0;
  std::uint32_t bits = 0;  // All the rest, as ColdKeys packs it.
  std::array<std::uint64_t, 4> list{};

  static constexpr std::uint32_t kHasList = std::uint32_t{1} << 31;  // In `bits`.
  [[nodiscard]] std::size_t size() const { return (bits & kHasList) != 0 ? 64 : 32; }
};
static_assert(sizeof(ColdKey) == 64 && std::is_trivially_copyable_v<ColdKey>);

struct RunInfo {
  std::uint32_t number = 0;
  std::uint32_t probes = 0;  // Bits of the filter for each key.
  std::uint64_t keys = 0;
  std::uint64_t blocks = 0;  // Of the filter, 64 bytes each.
  std::uint64_t pages = 0;
  std::uint64_t bytes = 0;       // Of the file.
  std::uint64_t filter_sum = 0;  // Checksums.
  std::uint64_t index_sum = 0;
};

// One block of a filter.
using FilterBlock = std::array<std::uint64_t, 8>;

class RunWriter {
 public:
  // `keys`: about how many there will be, and how many bits of filter each gets.
  RunWriter(std::uint32_t number, std::uint64_t keys, double filter_bits);
  Status open(const std::string& path);
  // Makes room for an index of so many pages at once: a large one has no room to be copied.
  void expect_pages(std::uint64_t pages) { firsts_.reserve(pages); }
  // REQUIRES: ascending by hash, then name. `hash` is that of the key's name.
  Status add(const ColdKey& key, std::uint64_t hash);
  // Synced to disk.
  Result<RunInfo> finish();
  [[nodiscard]] std::size_t bytes() const;

 private:
  void end_page();
  Status note(std::uint64_t hash);
  Status flush_filter();
  Status flush_pages();

  RunFile file_;
  RunInfo info_;
  std::uint64_t block_ = 0;  // Of the filter, the one being made.
  FilterBlock bits_{};
  std::uint64_t filter_written_ = 0;  // Bytes.
  std::vector<FilterBlock> filter_;   // Not yet written.
  Checksum filter_sum_;
  std::uint64_t pages_written_ = 0;
  std::string pages_;         // Not yet written.
  std::size_t page_end_ = 0;  // Within the page being made; zero: there is none.
  std::vector<std::uint32_t> firsts_;
};

// A key that someone looks for.
struct Wanted {
  std::uint64_t hash = 0;
  Name name;
  std::uint32_t number = 0;  // Whose it is, for who asks.
  bool found = false;
};
struct FoundKey {
  ColdKey key;
  std::uint32_t number = 0;
};

class Run {
 public:
  // Keys that may be there.
  struct Candidate {
    std::size_t page = 0;
    Wanted* wanted = nullptr;
  };
  // For find(), to be used again.
  struct Search {
    std::vector<Candidate> candidates;
    std::vector<Candidate> waiting;
  };
  // The error is a file that is not what `info` says.
  static Result<std::unique_ptr<Run>> open(const std::string& path, const RunInfo& info);

  [[nodiscard]] const RunInfo& info() const { return info_; }
  // Marks those that are there, and adds them to `found`. Of pages that must come from the disk all
  // are asked for before one is waited for. REQUIRES: ascending by hash.
  // For several threads at once, each with a Search of its own.
  Status find(std::span<Wanted> wanted, Search& search, std::vector<FoundKey>& found) const;
  // From here on all is looked up without it: for a run that is about to go.
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
    std::uint64_t page_ = 0;   // To read next.
    std::size_t at_ = 0;       // Within the buffer, …
    std::size_t end_ = 0;      // … of the page at hand, …
    std::size_t loaded_ = 0;   // … and of what was read.
    std::size_t page_at_ = 0;  // Where the next page begins.
    ColdKey key_;
    std::uint64_t hash_ = 0;
    std::optional<Error> error_;
  };

 private:
  explicit Run(const RunInfo& info) : info_(info) {}
  [[nodiscard]] std::uint64_t page_offset(std::uint64_t page) const;
  [[nodiscard]] bool may_have(std::uint64_t hash) const;
  // The last page that does not begin behind `hash`.
  [[nodiscard]] std::size_t page_of(std::uint64_t hash) const;
  // The key of that name, if the page has it.
  [[nodiscard]] static std::optional<ColdKey> key_in(const std::byte* page, const Name& name);
  [[nodiscard]] Status check(const std::byte* page) const;
  Status find_in(std::size_t page, Wanted& wanted, std::vector<FoundKey>& found) const;

  RunFile file_;
  RunInfo info_;
  Pages filter_;
  std::vector<std::uint32_t> firsts_;
};

}  // namespace ouro::stream
