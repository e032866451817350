// Tells a story in sentences: who is involved, why each transaction must precede the next, and
// where that is a contradiction.
//
// Transactions are numbered T1, T2 … in the order of the story. The initial transaction has no
// number; it is "the initial state". The functions are in several files: narrator.cc (edges),
// cases_story.cc (cases), in_short.cc, cycle_in_short.cc, bystanders.cc, plain_story.cc and
// timestamp_story.cc (what is no cycle), otherwise.cc.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/explain.h"
#include "report/notation.h"

namespace ouro {

inline constexpr std::size_t kShortStory = 24;  // Lines of a story, of one sort.
inline constexpr std::size_t kCasesTold = 8;    // The most cases that are told.

// Replaces the middle of more than `limit` lines by a line that says how many are left out.
[[nodiscard]] std::vector<std::string> without_middle(std::vector<std::string> lines,
                                                      std::string_view noun,
                                                      std::size_t limit = kShortStory);

class Narrator {
 public:
  // Both must outlive the narrator.
  Narrator(const History& history, const Story& story);

  // The transactions T1, T2 …
  [[nodiscard]] const std::vector<TxnId>& txns() const { return txns_; }
  [[nodiscard]] std::string label(TxnId txn) const;
  // The operations that the story rests on, in their order in the history.
  [[nodiscard]] const std::vector<OpId>& ops() const { return ops_; }

  // Where the rows and lists of the story differ.
  [[nodiscard]] Focus focus() const { return {columns_, elements_}; }

  // A line for each transaction: "T1  session a, line 3   r x=0   w x=1", in columns.
  [[nodiscard]] std::vector<std::string> cast() const;
  // What happened, in one sentence: "T1 and T2 both read x=0, and each overwrote …". If it holds in
  // one of several cases only, the mildest, it begins with "At best".
  [[nodiscard]] std::string in_short() const;
  // Whether lines() say more than in_short().
  [[nodiscard]] bool has_proof() const;
  // What is told below the cast: a sentence for each transaction of it that neither in_short() nor
  // lines() mention; then lines(), if they say more than in_short().
  [[nodiscard]] std::vector<std::string> proof() const;
  // A sentence for each transaction that neither in_short() nor `told` mention: what it did, and
  // who read that.
  [[nodiscard]] std::vector<std::string> others(std::span<const std::string> told) const;
  // The whole story: each case with its contradiction, or one sentence. Lines of a case that rests
  // on an assumption are indented.
  [[nodiscard]] std::vector<std::string> lines() const;
  // The parts of lines(). What they begin with: totals that cannot be, and who wrote what open
  // reads returned.
  [[nodiscard]] std::vector<std::string> opening() const;
  // Whether there is one case only, which assumes nothing: it needs no premise.
  [[nodiscard]] bool is_certain() const;
  // The cases to tell, by their numbers in the story: not those in which a read would only have
  // returned something else; of many the first ones and the one that the story is named by.
  struct ToldCases {
    std::vector<std::size_t> numbers;
    std::size_t left = 0;  // How many others there are to tell.
    // Whether it is enough to say which case is the same with other names.
    [[nodiscard]] bool mirrored(const Case& each) const {
      return each.mirrors && std::binary_search(numbers.begin(), numbers.end(), *each.mirrors);
    }
  };
  [[nodiscard]] ToldCases told_cases(std::size_t most) const;
  // What makes the case impossible if it has no cycle; "" if it has one.
  [[nodiscard]] std::string wrong_at_once(const Case& each) const;
  // "Supposed: T3 saw T1's x.": an edge that stands for what a case assumes.
  [[nodiscard]] std::string supposition(const Edge& edge) const;
  // "… and 3 more cases, until no order of the writes is left."
  [[nodiscard]] static std::string left_cases(std::size_t count);
  // How a case differs from the earlier one that it mirrors: "T1 and T2 swapped", "T3 for T2".
  [[nodiscard]] std::string other_names(const Case& each) const;
  // What lines() end with: a sentence on the cases that are not told; "" if that needs none.
  [[nodiscard]] std::string closing() const;
  // "If T1 wrote x first:"; "In any case:" without an assumption.
  [[nodiscard]] std::string premise(const Case& each) const;
  [[nodiscard]] Value returned(const ReadSource& said) const;
  // The part of the premise that is about reads: "If T3 read x=50 from T1"; "" for none.
  [[nodiscard]] bool is_untold(const ReadSource& said) const;
  [[nodiscard]] std::string untold_premise(const ReadSource& said) const;
  [[nodiscard]] std::string element_name(const ReadSource& said) const;
  [[nodiscard]] bool is_other_result(const Case& each) const;
  [[nodiscard]] std::string sources_premise(const Case& each) const;
  [[nodiscard]] TxnId incrementer(const ReadSource& said) const;
  [[nodiscard]] bool is_about_counter(const Case& each) const;
  [[nodiscard]] bool reads_counter_or_set(const Op& op) const;
  // A sentence for each open read that the cases are about: who wrote what it returned, or what it
  // did not return.
  [[nodiscard]] std::vector<std::string> open_reads() const;
  [[nodiscard]] std::vector<std::string> totals() const;
  // What the `i`th edge of a cycle says: "But T2 < T1, because …: a contradiction."
  [[nodiscard]] std::string sentence(std::span<const Edge> cycle, std::size_t i) const;
  // A sentence for each edge of a cycle, the last one with the contradiction; of a long cycle those
  // in the middle are left out.
  [[nodiscard]] std::vector<std::string> sentences(std::span<const Edge> cycle) const;
  // Why `edge` runs that way: "T2 read x=1, which T1 wrote".
  [[nodiscard]] std::string because(const Edge& edge) const;
  // What would follow if `edge` ran the other way: "T2 would have read x=1 before T1 wrote it".
  [[nodiscard]] std::string otherwise(const Edge& edge) const;

 private:
  void add(TxnId txn);
  void add(OpId op);
  void find_columns();
  void find_elements();
  // short_text(), assignment() and notation(), with what matters of long values.
  [[nodiscard]] std::string text(Value value) const;
  [[nodiscard]] std::string assigned(KeyId key, Value value) const;
  [[nodiscard]] std::string noted(const Op& op) const;
  [[nodiscard]] std::string shown_ops(TxnId txn) const;
  [[nodiscard]] std::string deed(const Op& op) const;
  [[nodiscard]] std::string readers_of(OpId write) const;
  [[nodiscard]] std::string writers_of(OpId read) const;
  [[nodiscard]] std::string role(TxnId txn) const;
  [[nodiscard]] bool acts(TxnId txn) const;
  [[nodiscard]] std::string read_phrase(OpId op, KeyId key) const;
  [[nodiscard]] std::string_view what_changes(OpId aggregate) const;
  [[nodiscard]] std::string because_read(const Edge& edge) const;
  [[nodiscard]] std::string because_overwritten(const Edge& edge) const;
  [[nodiscard]] std::string as_read(KeyId key, Value older, Value newer) const;
  [[nodiscard]] std::string because_missed(const Edge& edge) const;
  [[nodiscard]] std::string because_forced(const Edge& edge) const;
  [[nodiscard]] std::string because_of_time(const Edge& edge) const;
  [[nodiscard]] std::string whose_clocks() const;
  [[nodiscard]] std::string otherwise_read(const Edge& edge) const;
  [[nodiscard]] std::string otherwise_missed(const Edge& edge) const;
  [[nodiscard]] bool only_writers(const Assumption& given) const;
  [[nodiscard]] std::string how_seen(const Edge& edge, TxnId reader) const;
  [[nodiscard]] KeyId key_seen(const Edge& edge) const;
  [[nodiscard]] std::string yet_read(const Edge& forced) const;
  [[nodiscard]] std::span<const Edge> path(TxnId from, TxnId to) const;
  [[nodiscard]] std::string in_this_case(std::string sentence) const;
  [[nodiscard]] std::string everybody() const;
  [[nodiscard]] std::string work(TxnId txn, OpId write, KeyId key) const;
  [[nodiscard]] OpId write_of(TxnId txn, KeyId key) const;
  [[nodiscard]] std::string pattern_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string both_updated(TxnId one, TxnId other, std::string_view what,
                                         bool appended) const;
  [[nodiscard]] std::string overwriting_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string traced_back(std::span<const Edge> steps) const;
  [[nodiscard]] std::string lost_by_time_in_short() const;
  [[nodiscard]] std::string lost_update_in_short(const Edge& missed) const;
  [[nodiscard]] std::string missed_in_short(const Edge& edge) const;
  [[nodiscard]] std::string aggregate_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string skew_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string half_seen(std::span<const Edge> cycle, std::string_view end) const;
  [[nodiscard]] std::string stale_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string cause_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string fork_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string cycle_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string missed(const Edge& edge) const;
  [[nodiscard]] std::string held(const Edge& edge) const;
  [[nodiscard]] std::string wrong_anyway_in_short(const Case& naming) const;
  [[nodiscard]] std::string supposed_sight(const Case& each) const;
  [[nodiscard]] std::string reader_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string phantom_in_short(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string plain_sentence() const;
  [[nodiscard]] KeyId common_key(OpId one, OpId two) const;
  [[nodiscard]] bool returned(OpId read, KeyId key) const;
  [[nodiscard]] std::string dirty_sentence(OpId read, OpId write) const;
  [[nodiscard]] std::string done_before(Op write) const;
  [[nodiscard]] std::string implied_sentence(OpId read) const;
  [[nodiscard]] OpId first_own_write(OpId read) const;
  [[nodiscard]] std::string rows_asked_for(OpId read) const;
  [[nodiscard]] std::string result_sentence(OpId read) const;
  [[nodiscard]] bool is_about_timestamps() const;
  [[nodiscard]] std::string timestamp_sentence() const;
  [[nodiscard]] std::string mismatch_sentence() const;
  [[nodiscard]] std::string rows_sentence() const;
  [[nodiscard]] std::string missing_sentence() const;
  [[nodiscard]] std::string precedence_sentence() const;
  [[nodiscard]] std::string real_time_reason(TxnId earlier, TxnId later) const;
  [[nodiscard]] std::string written_by(OpId write) const;
  [[nodiscard]] std::string returned_from(const Op& read, OpId source, OpId due) const;
  [[nodiscard]] OpId find_op(bool writes, std::size_t nth) const;

  const History& history_;
  const Story& story_;
  std::vector<TxnId> txns_;
  absl::flat_hash_map<TxnId, std::size_t> number_;  // From 1, by transaction.
  std::vector<OpId> ops_;
  std::vector<ColumnId> columns_;  // In which rows of the story differ.
  std::vector<Value> elements_;    // At which lists of the story begin to differ.
};

}  // namespace ouro
