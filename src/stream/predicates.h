// The predicate reads of a stream: each stands where its transaction begins, and is judged by the
// rows that are seen there.
//
// A late version of a key concerns the reads behind it, up to the key's next version, and of those
// only the key's share (asked.h). Nothing is kept until the first predicate read comes; then all
// batches so far are gone through once more.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/level_rules.h"
#include "ouro/stream.h"
#include "stream/asked.h"
#include "stream/cold_keys.h"
#include "stream/initials.h"
#include "stream/row_archive.h"
#include "stream/row_table.h"
#include "stream/story.h"
#include "stream/timelines.h"

namespace ouro::stream {

class Predicates {
 public:
  Predicates(Pool& pool, ColdKeys& keys, Initials& initials, const LevelRules& rules, FindTxn find)
      : keys_(keys),
        initials_(initials),
        rules_(rules),
        find_(std::move(find)),
        table_(pool),
        archive_(table_, reads_) {}

  [[nodiscard]] bool on() const { return on_; }
  // From here on rows are kept. `txns` is how many came before: all of them must be found.
  // `memory`: about how much to use meanwhile; zero: no limit.
  void turn_on(Arrival txns, std::size_t memory, StreamTime now);

  // The transactions that come next are of this batch. REQUIRES: on(), here and below.
  void enter(std::shared_ptr<const History> batch, Fingerprints& prints);
  // A key of the batch turned out to hold something else at the start.
  void set_initial(KeyId key);
  // Adds a read. Returns whether it is wrong by what is known now; nothing if what it needs was
  // dropped.
  std::optional<bool> add(TxnId txn, const Moment& begin, std::uint32_t op);
  // Adds what the transaction wrote.
  void install(TxnId txn, const Moment& commit);
  // What changed since the last call, in the order of the timeline; `lost` is set if some of what
  // should have been judged again is gone.
  [[nodiscard]] std::vector<Change> take_changes(bool& lost);

  // Whether the read is known, and wrong.
  [[nodiscard]] bool wrong(const Moment& begin, std::uint32_t op);
  // What the read should have returned, as JSON, and some of the writers of these rows, or of what
  // replaced the rows that came back.
  struct Expected {
    std::string text;
    std::vector<Arrival> writers;
  };
  [[nodiscard]] Expected expected(const Moment& begin, std::uint32_t op);
  // Call it when the transaction that begins there is final.
  void close(const Moment& begin);
  // Gives back memory that is no longer used, if that is worth it.
  void tidy();
  // Moves what is of no use at `until` or later to disk. The error is a disk that fails.
  Status sweep(const Moment& until, StreamTime now);

  [[nodiscard]] RowArchive& archive() { return archive_; }
  [[nodiscard]] const RowArchive& archive() const { return archive_; }
  [[nodiscard]] std::size_t bytes() const {
    return table_.bytes() + reads_.size() * (sizeof(ReadMoment) + sizeof(TimedRead) + 8) +
           made_.size() * (sizeof(ReadMoment) + sizeof(Asked) + 64);
  }
  void save(Encoder& out);
  Status restore(Decoder& in, const std::string& folder, bool limited);

 private:
  // A batch, and what its keys are in the table.
  struct Sheet {
    std::shared_ptr<const History> history;
    Fingerprints* prints = nullptr;
    std::vector<RowKey*> keys;
    std::vector<TxnId> written_by;  // The last transaction that was seen to write the key.
  };
  struct Touched {
    bool was_wrong = false;
    bool changed = false;  // Whether what it should have returned changed.
  };
  using Reads = TimedReads;

  void use(Sheet& sheet);
  Sheet& sheet_of(const std::shared_ptr<const History>& batch);
  RowKey& key_of(Sheet& sheet, KeyId key);
  // A value of initials_ as a value of the table.
  [[nodiscard]] Seen seen_of(const Initials::Initial& initial);
  void set_initials();
  void install_all(Sheet& sheet, Arrival first);
  void install(Sheet& sheet, TxnId txn, const Moment& commit);
  [[nodiscard]] Seen written(Sheet& sheet, const Op& op);
  Asked make(Sheet& sheet, TxnId txn, std::uint32_t op);
  void add_own(Sheet& sheet, TxnId txn, OpId until, Asked& asked);
  // Null if its batch is gone.
  [[nodiscard]] const Asked* asked(Reads::iterator read);
  void rejudge(const RowKey& key, const Moment& from, const std::optional<Moment>& until,
               const Seen& before, const Seen& now);
  void drop_list(RowKey& key);
  Touched& touch(Reads::iterator read);
  // Judges the whole read. Returns whether what it should have returned changed.
  bool judge_aggregate(const ReadMoment& moment, TimedRead& read, const Asked& asked);
  void release_all();

  ColdKeys& keys_;
  Initials& initials_;
  const LevelRules& rules_;
  FindTxn find_;
  bool on_ = false;
  bool lost_ = false;
  RowTable table_;
  Reads reads_;
  RowArchive archive_;
  Sheet current_;
  Sheet recalled_;
  Fingerprints recalled_prints_;
  const Sheet* used_ = nullptr;  // The batch that the store reads from now.
  absl::btree_map<ReadMoment, Touched> touched_;
  std::vector<ReadMoment> made_;  // Reads that may have an Asked.
  std::size_t compact_at_ = kSmallStore;
  static constexpr std::size_t kSmallStore = std::size_t{4} << 20;  // Bytes.
  static constexpr std::size_t kManyPredicates = std::size_t{1} << 18;
};

}  // namespace ouro::stream
