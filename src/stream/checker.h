// The stream itself: takes transactions as they arrive, keeps the books, and reports.
//
// batch_reader.h says what a transaction shows, timelines.h what it changes; here is decided what
// of that is provisional, final, or to be taken back.
#pragma once

#include <absl/container/flat_hash_map.h>

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
#include "stream/predicates.h"
#include "stream/real_time.h"
#include "stream/story.h"
#include "stream/timelines.h"
#include "stream/twin.h"
#include "stream/window.h"

namespace ouro::stream {

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

  // The same as Stream has.
  [[nodiscard]] bool sweeping() const { return archive_.sweeping(); }
  Status save(const std::string& file);
  Status begin_save(const std::string& file);
  [[nodiscard]] std::optional<Status> saved();
  // REQUIRES: nothing was done yet, not even open(). After an error it is of no use.
  Status restore(const std::string& file);

 private:
  // The transaction of a session that committed last.
  struct Session {
    Moment commit;
    Arrival txn = kNobody;
  };
  // A violation that may be taken back: what transaction, operation and kind it is of.
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
  struct Hidden {
    Arrival txn = kNobody;
    bool has_moments = false;
  };
  // The two writers that explain a read best: two, as one of them may be the reader itself.
  using HiddenPair = std::array<Hidden, 2>;

  // Judges reads again whose keys hold something else at the start than was known.
  void enter_initials(const std::shared_ptr<const History>& batch);
  void arrive(const Arriving& txn);
  void check_session(const Arriving& txn);
  void check_real_time(const Arriving& txn);
  void apply(const RealTime::Change& change);
  void report_untimely(Arrival txn, Arrival other, StreamTime arrived);
  void check_reads(const Arriving& txn, OpenTxn& open);
  void install(const Arriving& txn, const KeyWrite& write);
  void apply(const Change& change, KeyState& key);
  // Counts the change. True if its transaction is final, so that the change must be reported.
  bool count(const Change& change, AnomalyKind kind);
  void count_flip(OpenTxn& open);
  void hide(const Arriving& txn);

  // Predicate reads. The error is a first predicate read that comes when what was before is gone.
  [[nodiscard]] Status admit_predicates(const History& batch) const;
  void enter_predicates(const std::shared_ptr<const History>& batch,
                        const std::vector<KeyId>& changed);
  void check_predicates(const Arriving& txn, OpenTxn& open);
  void apply_predicates();
  void report_predicate(Arrival txn, std::uint32_t op, const Moment& begin, StreamTime arrived);

  // Whether what the transaction at hand needs to know of the key is in memory now.
  bool prepare(KeyState& key, const Moment& begin) {
    if (archive_.prepare(key, begin)) return true;
    lost_ = true;
    return false;
  }
  // Goes on with sweeping, in proportion to the transactions and operations that just arrived.
  void limit_memory(std::size_t txns, std::size_t ops);
  void sweep(std::size_t work);
  // An eighth is left for what memory() does not count: gaps in the pool, the program, buffers.
  [[nodiscard]] std::size_t memory_limit() const { return options_.memory - options_.memory / 8; }
  // How much memory must grow, at least, before the next sweep.
  [[nodiscard]] std::size_t grows_by() const { return memory_limit() / 8; }
  [[nodiscard]] Moment watermark();
  [[nodiscard]] std::size_t memory() const;

  void close_first(StreamTime now);
  void report_wrong_reads(Arrival arrival, StreamTime arrived);

  // Events.
  void report(const StreamViolation& violation, StreamTime arrived);
  void withdraw(const Reported& earlier);
  void report_inner(const Arriving& txn, const InnerFinding& inner);
  void report_read(KeyState& key, Arrival txn, std::uint32_t op, StreamTime arrived);
  void report_clash(AnomalyKind kind, const KeyState& key, const Clash& clash);
  [[nodiscard]] OpOf source_of(KeyState& key, Arrival reader, std::uint64_t value);
  [[nodiscard]] std::string expected_text(KeyState& key, const Source& txn, std::uint32_t op,
                                          const Moment& begin);
  [[nodiscard]] std::string version_text(KeyState& key, const Moment& begin);
  [[nodiscard]] std::vector<std::string> list_texts(KeyState& key, const Moment& begin);
  [[nodiscard]] std::optional<Source> find(Arrival arrival);
  [[nodiscard]] Moment begin_of(const Source& txn, Arrival arrival) const;

  // Prepares everything for a checkpoint in `file`; then writes it; then puts it in place of the
  // last one.
  Status begin_checkpoint(const std::string& file);
  Status write_checkpoint();
  Status end_checkpoint();
  void save_options(Encoder& out) const;
  [[nodiscard]] bool restore_options(Decoder& in) const;
  void save_books(Encoder& out);
  void restore_books(Decoder& in);
  void save_window(Encoder& out);
  void restore_window(Decoder& in);
  void save_keys(Encoder& out);
  void restore_keys(Decoder& in);

  StreamOptions options_;
  const LevelRules& rules_;
  Pool pool_;
  KeyTable keys_{pool_};
  ColdKeys cold_{pool_, keys_};
  Initials initials_;
  BatchReader reader_;
  Timelines timelines_;
  RealTime real_time_;
  Window window_;
  Archive archive_{pool_, keys_, cold_, window_};
  Predicates predicates_;
  std::size_t sweep_at_ = 0;  // A sweep begins when so many bytes are in use.
  std::size_t hurry_at_ = 0;  // The sweep under way is finished at once when so many bytes are.
  absl::flat_hash_map<Name, Session> sessions_;
  std::vector<Session*> batch_sessions_;
  absl::flat_hash_map<Reported, std::uint64_t> reported_;
  absl::flat_hash_map<std::pair<Name, std::uint64_t>, HiddenPair> hidden_;
  FindTxn find_;
  StreamTime now_{0};
  bool straggles_ = false;  // The transaction at hand changes what was final.
  bool lost_ = false;       // The transaction at hand concerns something that was dropped.
  StreamSummary summary_;
  std::vector<StreamEvent> events_;
  std::uint64_t event_count_ = 0;
  std::string checkpoint_;         // The file that is being written, or was written last.
  std::optional<Status> written_;  // How writing it ended, until saved() has told it.
  Twin twin_;
};

}  // namespace ouro::stream
