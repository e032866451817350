// The stream itself: takes transactions as they arrive, counts what is wrong, and reports it.
//
// batch_reader.h says what a transaction shows, timelines.h which judgements of reads it changes.
// The checker decides what to do with these. Findings about open transactions (window.h) are
// provisional: they are counted, but reported only if they still stand when the transaction becomes
// final. If a late transaction changes a finding that was reported, the report is withdrawn.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/level_rules.h"
#include "ouro/stream.h"
#include "stream/archive.h"
#include "stream/batch_reader.h"
#include "stream/cold_keys.h"
#include "stream/fingerprint.h"
#include "stream/initials.h"
#include "stream/key_table.h"
#include "stream/numbered_sessions.h"
#include "stream/predicates.h"
#include "stream/real_time.h"
#include "stream/story.h"
#include "stream/timelines.h"
#include "stream/twin.h"
#include "stream/window.h"

namespace ouro::stream {

// The public functions do what those of the same name in Stream do (ouro/stream.h).
class Checker {
 public:
  explicit Checker(const StreamOptions& options);
  // The error is a folder that cannot be used.
  Status open();

  Status append(std::shared_ptr<const History> batch, StreamTime now);
  void advance(StreamTime now);
  void finish();
  [[nodiscard]] std::vector<StreamEvent> poll();
  [[nodiscard]] StreamSummary summary() const;

  [[nodiscard]] bool sweeping() const { return archive_.sweeping(); }
  void limit(std::size_t memory) { options_.memory = memory; }
  void number_events_after(std::uint64_t number) { event_count_ = std::max(event_count_, number); }
  Status save(const std::string& file);
  Status begin_save(const std::string& file);
  [[nodiscard]] std::optional<Status> saved();
  // REQUIRES: nothing was called yet, not even open(). After an error the checker is of no use.
  Status restore(const std::string& file);

 private:
  // The transaction of a session with the latest commit so far.
  struct Session {
    Moment commit;
    Arrival txn = kNobody;
  };
  // What identifies a reported violation that may be withdrawn later.
  struct Reported {
    Arrival txn = 0;
    std::uint32_t op = 0;
    AnomalyKind kind = AnomalyKind::SnapshotMismatch;
    bool operator==(const Reported&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Reported& r) {
      return H::combine(std::move(h), r.txn, r.op, r.kind);
    }
  };
  // A reported violation of a read, in the order of keys and moments; of a predicate read the name
  // is all zero. It is kept even if all else about the read was dropped, so that a straggler that
  // is lost otherwise can still explain it.
  struct Accused {
    Name key;
    Moment begin;
    std::uint32_t op = 0;
    auto operator<=>(const Accused&) const = default;
  };
  struct Accusation {
    std::uint64_t value = 0;   // What it returned; see OuterRead.
    Moment expected;           // The moment of the version that it should have returned.
    std::uint8_t open = 0;     // See OuterRead.
    std::uint8_t known = 0;    // Whether `expected` is known.
    std::uint64_t number = 0;  // Of the event.
  };
  // The writer of a HiddenWrite.
  struct Hidden {
    Arrival txn = kNobody;
    bool has_moments = false;
    bool untimed = false;  // It takes part, but has no timestamps.
  };
  // The two writers of a value to name first if a read returns it: the first to arrive, those with
  // moments before others. Two, since one of them may be the reader itself.
  using HiddenPair = std::array<Hidden, 2>;

  // Takes in what the batch says about initial values, and judges reads again that these concern.
  void enter_initials(const std::shared_ptr<const History>& batch);
  void arrive(const Arriving& txn);
  // The error is a session of which transactions have numbers and others do not, or two the same.
  [[nodiscard]] Status check_numbers(const History& batch) const;
  void check_session(const Arriving& txn);
  void check_number(const Arriving& txn, std::int64_t sno);
  [[nodiscard]] Arrival missed_in_session(const Source& source, Arrival txn) const;
  void check_real_time(const Arriving& txn);
  void answer(RealTime& times, std::int64_t clock, const Moment& moment, Arrival txn);
  void ask(RealTime& times, std::optional<std::int64_t> clock, const Moment& moment, Arrival txn);
  // A transaction should have followed another one: in real time, or in its session.
  void apply(const RealTime::Change& change, AnomalyKind kind);
  [[nodiscard]] std::optional<std::int64_t> asked_by(const History& h, TxnId txn) const;
  [[nodiscard]] bool misses_main_rule(const Source& source, Arrival txn) const;
  [[nodiscard]] Arrival missed_in_time(const Source& source, Arrival txn) const;
  void report_untimely(AnomalyKind kind, Arrival txn, Arrival other, StreamTime arrived);
  void check_reads(const Arriving& txn, OpenTxn& open);
  void install(const Arriving& txn, const KeyWrite& write);
  void apply(const Change& change, KeyState& key);
  // Counts the change. If its transaction is final, withdraws what was reported of the read and
  // returns true: the caller must report it if it is wrong now.
  bool count(const Change& change, AnomalyKind kind);
  void count_flip(OpenTxn& open);
  void hide(const Arriving& txn);
  // A transaction without timestamps wrote these: nobody knows when, so whoever returned such a
  // value may be right. See StreamOptions::faults_apart.
  void excuse(const Arriving& txn);
  void excuse_predicates();
  [[nodiscard]] bool excuses(const KeyState& key, std::uint64_t value) const;
  // Whether the read is excused. If so, it no longer counts as wrong.
  bool excuse(KeyState& key, Read& read);

  // Predicate reads. The error is a first predicate read that comes when earlier transactions,
  // which are needed to judge it, have been dropped.
  [[nodiscard]] Status admit_predicates(const History& batch) const;
  void enter_predicates(const std::shared_ptr<const History>& batch,
                        const std::vector<KeyId>& changed);
  void check_predicates(const Arriving& txn, OpenTxn& open);
  void apply_predicates();
  // A row came so late that predicate reads between these moments can no longer be judged.
  void doubt_predicates(const LostRange& range);
  void report_predicate(Arrival txn, std::uint32_t op, const Moment& begin, StreamTime arrived);

  // The key held `value` from `moment` on, which was not known, and what follows may be dropped:
  // takes back what was reported of reads that this explains, or may explain.
  void reconsider(KeyState& key, const Moment& moment, std::uint64_t value);
  // Reports that not all that the transaction concerns can be judged.
  void report_lost(Arrival txn);
  // Reports that the transaction has no timestamps.
  void report_fault(Arrival txn);
  // Adds an event that names the transaction, but is no violation.
  void report_about(Arrival txn, StreamEvent::What what, AnomalyKind kind);
  // Drops what is older than the retention, and goes on with sweeping and merging in proportion to
  // the transactions and operations that just arrived.
  void limit_memory(std::size_t txns, std::size_t ops);
  // Begins a sweep if memory is short, or goes on with the one under way for `work` keys.
  void sweep(std::size_t work);
  // What memory() may be. An eighth of the option is left for what memory() does not count: gaps in
  // the pool, the program, buffers.
  [[nodiscard]] std::size_t memory_limit() const { return options_.memory - options_.memory / 8; }
  // How much memory must grow, at least, before the next sweep.
  [[nodiscard]] std::size_t grows_by() const { return memory_limit() / 8; }
  [[nodiscard]] Moment watermark();
  [[nodiscard]] std::size_t memory() const;

  // Makes the oldest open transaction final, and reports what is wrong with it.
  void close_first(StreamTime now);
  // Returns how many predicate reads are among them.
  std::int64_t report_wrong_reads(Arrival arrival, StreamTime arrived);
  void count_provisional(AnomalyKind kind, std::int64_t change);

  // Events. `arrived` is when the last transaction came that the finding depends on.
  void report(const StreamViolation& violation, StreamTime arrived);
  void withdraw(const Reported& earlier, StreamEvent::What what = StreamEvent::What::Withdrawal);
  // Remembers who is accused, and forgets accusations that were withdrawn.
  void accuse(const Accused& who, const Accusation& accusation);
  void tidy_accused();
  void report_inner(const Arriving& txn, const InnerFinding& inner);
  // Reports a wrong read of a transaction that begins at `begin`, and may be dropped by now.
  void report_read(KeyState& key, const Moment& begin, std::uint32_t op, StreamTime arrived);
  void report_clash(AnomalyKind kind, KeyState& key, const Clash& clash);
  [[nodiscard]] static Arrival last_writer(KeyState& key, const Moment& at);
  [[nodiscard]] OpOf source_of(KeyState& key, Arrival reader, std::uint64_t value);
  [[nodiscard]] std::string expected_text(KeyState& key, const Source& txn, std::uint32_t op,
                                          const Moment& begin);
  [[nodiscard]] std::string version_text(KeyState& key, const Moment& begin);
  [[nodiscard]] std::vector<std::string> list_texts(KeyState& key, const Moment& begin);
  [[nodiscard]] std::optional<Source> find(Arrival arrival);
  [[nodiscard]] Moment begin_of(const Source& txn, Arrival arrival) const;

  // The three steps of a checkpoint: prepare to write it to `file`; write it, to another name; and
  // replace the last checkpoint by it. The second step may run in a twin of the process.
  Status begin_checkpoint(const std::string& file);
  Status write_checkpoint();
  Status end_checkpoint();
  void save_options(Encoder& out) const;
  [[nodiscard]] bool restore_options(Decoder& in) const;
  void save_books(Encoder& out);
  // `former`: as the former version saved it; see kFormerMagic.
  void restore_books(Decoder& in, bool former);
  void save_window(Encoder& out);
  void restore_window(Decoder& in);
  void save_keys(Encoder& out);
  void restore_keys(Decoder& in, bool former);

  StreamOptions options_;
  const LevelRules& rules_;
  Pool pool_;
  KeyTable keys_{pool_};
  ColdKeys cold_{pool_, keys_};
  Initials initials_;
  BatchReader reader_;
  Timelines timelines_;
  RealTime real_time_;     // The rule of the level: see RealTimeRule.
  RealTime commit_times_;  // At the levels of snapshots: the rule about begins and commits.
  Window window_;
  Archive archive_{pool_, keys_, cold_, window_};
  Predicates predicates_;
  Arrival kept_ = 0;  // The first transaction that the retention has not dropped.
  // In bytes of memory(): when the next sweep may begin, and when the one under way must be
  // finished at once.
  std::size_t sweep_at_ = 0;
  std::size_t hurry_at_ = 0;
  absl::flat_hash_map<Name, Session> sessions_;  // Those without numbers.
  NumberedSessions numbered_;                    // The others.
  std::vector<Session*> batch_sessions_;         // By SessionId of the batch; null: unknown.
  absl::flat_hash_map<Reported, std::uint64_t> reported_;  // The numbers of their events.
  // Violations of reads; some may be withdrawn already. Empty without a memory limit.
  absl::btree_map<Accused, Accusation> accused_;
  // Writers of hidden writes, by key and fingerprint of the value.
  absl::flat_hash_map<std::pair<Name, std::uint64_t>, HiddenPair> hidden_;
  FindTxn find_;
  StreamTime now_{0};
  bool straggles_ = false;  // The transaction at hand changes what was final.
  bool lost_ = false;       // The transaction at hand concerns something that was dropped.
  StreamSummary summary_;
  std::vector<StreamEvent> events_;  // Those that poll() has not yet returned.
  std::uint64_t event_count_ = 0;    // Of all events ever.
  std::string checkpoint_;           // The file that is being written, or was written last.
  std::optional<Status> written_;    // How writing it ended, until saved() has told it.
  Twin twin_;
};

}  // namespace ouro::stream
