// Moves versions of rows and predicate reads that are older than the window to disk, and brings
// them back; what archive.h is for keys.
//
// Of each row the newest version stays in memory. Everything that is moved was of use until some
// moment: a version until the moment of the next one, a read until its own moment. What one sweep
// moves is sorted by these moments and cut into slabs, a file each. A late transaction brings back
// only slabs that have something of use at its moment or later. A slab comes back whole, and the
// next sweep moves its contents again.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ouro/stream.h"
#include "stream/asked.h"
#include "stream/codec.h"
#include "stream/dropped.h"
#include "stream/row_table.h"
#include "stream/version_store.h"

namespace ouro::stream {

// A predicate read, by the moment at which its transaction begins.
struct ReadMoment {
  Moment begin;
  std::uint32_t op = 0;  // Counted within the transaction.
  constexpr auto operator<=>(const ReadMoment&) const = default;
};

// What is known of a predicate read.
struct TimedRead {
  std::uint32_t wrong = 0;  // How many keys have a wrong share; of an aggregate: 1 if it is wrong.
  // A row came so late that the read can no longer be judged; `wrong` stays zero.
  bool unsure = false;
  std::uint64_t expected = 0;    // Of an aggregate: a hash of what it should have returned.
  std::unique_ptr<Asked> asked;  // Null: is made again when it is needed.
};
using TimedReads = absl::btree_map<ReadMoment, TimedRead>;

// `wrong` and `unsure` as one number, for slabs and checkpoints.
[[nodiscard]] constexpr std::uint32_t packed(const TimedRead& read) {
  return read.wrong | (read.unsure ? 0x80000000 : 0);
}
constexpr void unpack(std::uint32_t bits, TimedRead& read) {
  read.wrong = bits & 0x7fffffff;
  read.unsure = (bits & 0x80000000) != 0;
}

class RowArchive {
 public:
  RowArchive(RowTable& table, TimedReads& reads) : table_(table), reads_(reads) {}

  // Uses the folder "rows" in `folder`, the stream's. The error is a folder that cannot be used.
  Status open(const std::string& folder);
  [[nodiscard]] bool is_open() const { return store_ != nullptr; }

  // Brings back all that is of use at `moment` or later. False if some of it is gone for good.
  bool prepare(const Moment& moment) {
    return moment > newest_ || (prepare_late(moment) && !is_dropped(moment));
  }
  // Whether something that was of use at `moment` is gone for good.
  [[nodiscard]] bool is_dropped(const Moment& moment) const {
    return newest_dropped_ && !(*newest_dropped_ < moment);
  }
  // Moves all that is of no use at `until` or later. The error is a disk that fails; then all stays
  // in memory.
  Status sweep(const Moment& until, StreamTime now);
  // Forgets slabs written before `until`.
  void drop_before(StreamTime until);

  void save(Encoder& out) const;
  Status restore(Decoder& in, const std::string& folder, bool limited);
  // See Dropped.
  void begin_checkpoint() { dropped_.begin_checkpoint(); }
  void end_checkpoint() {
    dropped_.end_checkpoint([this](std::uint32_t slab) { store_->drop(slab); });
  }
  void set_error(Error error) { error_ = std::move(error); }
  [[nodiscard]] std::optional<Error> take_error() { return std::exchange(error_, std::nullopt); }
  [[nodiscard]] std::uint64_t disk_bytes() const { return disk_bytes_; }
  [[nodiscard]] std::uint64_t spilled() const { return spilled_; }
  [[nodiscard]] std::uint64_t recalled() const { return recalled_; }

 private:
  struct Slab {
    std::uint32_t number = 0;
    Moment newest;  // The last moment at which any of it was of use.
    StreamTime written{0};
    std::uint64_t bytes = 0;
  };
  // What is to be moved: a version of `key` if that is not null, else a read.
  struct Moved {
    Moment until;  // The last moment at which it is of use.
    const RowKey* key = nullptr;
    const RowVersion* version = nullptr;
    TimedReads::const_iterator read;
  };

  bool prepare_late(const Moment& moment);
  bool load(const Slab& slab);
  // Counts the slab out and lets its file be deleted; the caller erases it from slabs_.
  void remove(const Slab& slab);
  void tidy();
  void take_in(Decoder& in);
  [[nodiscard]] std::vector<Moved> gather(const Moment& until);
  Result<Slab> write(const Moved* first, const Moved* last, StreamTime now);
  void encode(const Moved& moved, Encoder& out);

  RowTable& table_;
  TimedReads& reads_;
  std::unique_ptr<VersionStore> store_;
  std::vector<Slab> slabs_;
  std::uint32_t next_ = 1;  // The number of the next slab.
  Moment newest_;           // The newest of all slabs, those that were dropped included.
  std::optional<Moment> newest_dropped_;
  Dropped dropped_;
  std::uint64_t disk_bytes_ = 0;
  std::uint64_t spilled_ = 0;
  std::uint64_t recalled_ = 0;
  std::optional<Error> error_;
};

}  // namespace ouro::stream
