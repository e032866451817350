// The predicate reads of a stream. Each has the moment at which its transaction begins, and is
// judged by the rows as they are at that moment.
//
// A late version of a key concerns the reads after it, up to the key's next version, and of those
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

// Moments at which reads can no longer be judged, since a row came too late. Without `until` it has
// no end.
struct LostRange {
  Moment from;
  std::optional<Moment> until;
};

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
  // From here on rows are kept. Begins with the rows that the first `txns` transactions wrote, all
  // that came so far. `memory`: the memory limit of the stream; zero: none. With a limit, rows are
  // moved to disk meanwhile whenever they have grown by a quarter of it.
  void turn_on(Arrival txns, std::size_t memory, StreamTime now);

  // The transactions that come next are of this batch. `prints` must live until the next call.
  // REQUIRES: on(), here and below.
  void enter(std::shared_ptr<const History> batch, Fingerprints& prints);
  // The initial value of a key of the batch has changed.
  void set_initial(KeyId key);
  // Adds operation `op` of a transaction of the batch, a predicate read. Returns whether it is
  // wrong by what is known now; nothing if what is needed to judge it was dropped.
  std::optional<bool> add(TxnId txn, const Moment& begin, std::uint32_t op);
  // Adds the versions that a transaction of the batch wrote, and judges reads again.
  void install(TxnId txn, const Moment& commit);
  // The reads whose judgement has changed since the last call, in the order of the timeline. Sets
  // `lost` if something that should have been judged again, or is needed for that, is gone.
  // Reads that can no longer be judged count as right.
  [[nodiscard]] std::vector<Change> take_changes(bool& lost);
  // Where reads that are gone should have been judged again, since the last call.
  [[nodiscard]] std::vector<LostRange> take_lost() { return std::exchange(lost_ranges_, {}); }
  // Whether a read at `moment` may be gone, and whether this one is not.
  [[nodiscard]] bool may_be_gone(const Moment& moment) const { return archive_.is_dropped(moment); }
  [[nodiscard]] bool has(const ReadMoment& read) const { return reads_.contains(read); }
  // The read can no longer be judged, and counts as right. The caller knows what that changes.
  void doubt(const ReadMoment& read);

  // Whether the read is known, and wrong.
  [[nodiscard]] bool wrong(const Moment& begin, std::uint32_t op);
  // What the read should have returned, as JSON, and some of the writers of these rows, or of what
  // replaced the rows that came back.
  struct Expected {
    std::string text;
    std::vector<Arrival> writers;
  };
  [[nodiscard]] Expected expected(const Moment& begin, std::uint32_t op);
  // Call it when the transaction that begins at `begin` is final: frees memory of its reads.
  void close(const Moment& begin);
  // Frees what can be made again from the batches, if there is much of it.
  void tidy();
  // Moves reads before `until`, and versions that are replaced by then, to disk. The error is a
  // disk that fails.
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
  // A batch, and its keys in the table. The vectors are indexed by KeyId of the batch.
  struct Sheet {
    std::shared_ptr<const History> history;
    Fingerprints* prints = nullptr;
    std::vector<RowKey*> keys;      // Null: not looked up yet.
    std::vector<TxnId> written_by;  // The last transaction that was seen to write the key.
  };
  // A read that was judged again since the last take_changes().
  struct Touched {
    bool was_wrong = false;
    bool changed = false;  // Whether what it should have returned has changed.
  };
  using Reads = TimedReads;

  // Makes the table's store copy from this batch from now on.
  void use(Sheet& sheet);
  // current_ if it is that batch, else recalled_, which is made the sheet of that batch.
  Sheet& sheet_of(const std::shared_ptr<const History>& batch);
  // The key in the table; adds it if it is not there.
  RowKey& key_of(Sheet& sheet, KeyId key);
  // A value of initials_ as a value of the table.
  [[nodiscard]] Seen seen_of(const Initials::Initial& initial);
  void set_initials();
  void install_all(Sheet& sheet, Arrival first);
  void install(Sheet& sheet, TxnId txn, const Moment& commit);
  [[nodiscard]] Seen written(Sheet& sheet, const Op& op);
  Asked make(Sheet& sheet, TxnId txn, std::uint32_t op);
  // Adds what the transaction wrote before its operation `until`.
  void add_own(Sheet& sheet, TxnId txn, OpId until, Asked& asked);
  // What the read asked, made again from its batch if necessary; null if that is gone.
  [[nodiscard]] const Asked* asked(Reads::iterator read);
  // From `from` to `until` (nothing: without end) the key now holds `now` instead of `before`:
  // judges its share of all reads between again.
  void rejudge(const RowKey& key, const Moment& from, const std::optional<Moment>& until,
               const Seen& before, const Seen& now);
  void drop_list(RowKey& key);
  Touched& touch(Reads::iterator read);
  // The read can no longer be judged.
  void doubt(Reads::iterator read);
  // Judges an aggregate. Returns whether what it should have returned has changed.
  bool judge_aggregate(const ReadMoment& moment, TimedRead& read, const Asked& asked);
  // Frees all Askeds; they are made again when they are needed.
  void release_all();

  ColdKeys& keys_;
  Initials& initials_;
  const LevelRules& rules_;
  FindTxn find_;
  bool on_ = false;
  bool lost_ = false;  // See take_changes().
  std::vector<LostRange> lost_ranges_;
  RowTable table_;
  Reads reads_;
  RowArchive archive_;
  Sheet current_;   // The batch given to enter() last.
  Sheet recalled_;  // An earlier batch.
  Fingerprints recalled_prints_;
  const Sheet* used_ = nullptr;  // The batch that the store reads from now.
  absl::btree_map<ReadMoment, Touched> touched_;
  std::vector<ReadMoment> made_;  // Reads that may have an Asked.
  // From so many bytes of the store on a sweep replaces it by a copy of what is needed.
  std::size_t compact_at_ = kSmallStore;
  static constexpr std::size_t kSmallStore = std::size_t{4} << 20;  // Bytes.
  static constexpr std::size_t kManyPredicates = std::size_t{1} << 18;
};

}  // namespace ouro::stream
