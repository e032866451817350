// Checks an order: it must be that of the timestamps, and replaying it must explain every read.

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "certify/clock.h"
#include "certify/orders.h"
#include "certify/rows.h"
#include "certify/timestamps.h"
#include "certify/undone.h"
#include "history/columns.h"

namespace ouro::recheck {
namespace {

class Rerun {
 public:
  Rerun(const History& history, const Certificate& certificate)
      : h_(history),
        rules_(rules_of(certificate.verdict.level)),
        drift_(certificate.clock_drift),
        clock_(history, rules_),
        index_(history),
        table_(history, index_),
        writer_(history.key_count()),
        began_(history.txn_count(), kNever),
        committed_(history.txn_count(), kNever),
        before_(before_in_sessions(h_, [&](TxnId txn) { return clock_.is_known(txn); })),
        agreed_(columns_of(history).trunk_end.size(), 0),
        agreed_key_(columns_of(history).trunk_end.size()) {}

  std::string run(std::span<const Event> schedule) {
    for (std::size_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId txn{i};
      if (!clock_.takes_part(txn)) continue;
      if (!clock_.is_known(txn)) return txn_name(txn) + " lacks a timestamp";
      if (clock_.is_inverted(txn)) return txn_name(txn) + " starts after it commits";
    }
    std::optional<Clock::Moment> last;
    for (const Event& event : schedule) {
      if (!event.txn.valid() || event.txn.index() >= h_.txn_count() ||
          !clock_.is_known(event.txn)) {
        return "the order has a transaction that has no place in it";
      }
      const Clock::Moment moment =
          event.commit ? clock_.commit(event.txn) : clock_.begin(event.txn);
      if (last && !(*last < moment)) {
        return txn_name(event.txn) + " is not where its timestamps put it";
      }
      last = moment;
      std::string wrong = event.commit ? commit(event.txn) : begin(event.txn);
      if (!wrong.empty()) return wrong;
      ++now_;
    }
    return commits_ == clock_.known() ? "" : "the order leaves out a transaction";
  }

 private:
  static constexpr std::size_t kNever = ~std::size_t{0};

  std::string begin(TxnId txn) {
    began_[txn.index()] = now_;
    const TxnId before = before_[txn.index()];
    if (rules_.sessions && before.valid() && committed_[before.index()] == kNever) {
      return fmt::format("{} begins before {} of its session commits", txn_name(txn),
                         txn_name(before));
    }
    if (rules_.real_time && !rules_.commit_to_commit) note_invocation(txn);
    if (orders_commits() && precedes(h_.began(txn), last_asked_)) {
      return txn_name(txn) + " had begun before one asked for its commit that it does not precede";
    }
    // Own writes are made at once, and taken back before the next event.
    own_.clear();
    std::string wrong;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn) && wrong.empty(); ++id.value) {
      const Op op = h_.op(id);
      if (is_predicate_read(op.kind)) {
        if (!table_.returned_right_within(txn, id)) wrong = "does not get the rows that it should";
      } else if (ouro::is_write(op.kind)) {
        table_.apply_for_now(op);
        ++own_[op.key];
      } else if (is_open_read(op.kind)) {
        const bool right = table_.content(op.key).value != op.value;
        if (!right) wrong = fmt::format("should not have failed to set {}", h_.key_label(op.key));
      } else if (op.kind == OpKind::ReadBack) {
        if (contradicted_write(h_, txn, id).valid()) wrong = "does not read what it wrote before";
      } else if (!ouro::is_read(op.kind)) {  // Neither reads nor writes.
        continue;
      } else if (!op.value.is_unobserved() && !reads_right(op)) {
        wrong = fmt::format("does not read {} as it was", h_.key_label(op.key));
      }
    }
    table_.take_back();
    return wrong.empty() ? "" : fmt::format("{} {}", txn_name(txn), wrong);
  }

  [[nodiscard]] bool reads_right(const Op& read) {
    const Content& content = table_.content(read.key);
    if (!content.list) return read.value == content.value;
    const std::size_t length = read.value.is_list() ? read.value.length() : 0;
    if (length != content.elements.size()) return false;
    if (length == 0) return true;
    // What others committed never changes, so it is remembered how far the trunk agrees with that.
    const auto own = own_.find(read.key);
    const std::size_t lasting = length - (own == own_.end() ? 0 : own->second);
    const auto shown = h_.list(read.value);
    std::size_t& agreed = agreed_[read.value.trunk()];
    if (agreed_key_[read.value.trunk()] != read.key) agreed = 0;
    agreed_key_[read.value.trunk()] = read.key;
    while (agreed < lasting && shown[agreed] == content.elements[agreed]) ++agreed;
    if (agreed < lasting) return false;
    return std::equal(shown.begin() + static_cast<std::ptrdiff_t>(lasting), shown.end(),
                      content.elements.begin() + static_cast<std::ptrdiff_t>(lasting));
  }

  std::string commit(TxnId txn) {
    if (began_[txn.index()] == kNever) return txn_name(txn) + " commits before it begins";
    committed_[txn.index()] = now_;
    ++commits_;
    if (rules_.real_time && precedes(h_.completed(txn), last_invoked_)) {
      return txn_name(txn) + " completed before one was invoked that it does not precede";
    }
    if (orders_commits() && precedes(h_.completed(txn), last_asked_)) {
      return txn_name(txn) + " completed before one asked for its commit that it does not precede";
    }
    // One that wrote nothing has no commit of its own among the timestamps.
    if (clock_.writes(txn)) {
      last_asked_ = std::max(last_asked_, earliest_commit(h_, txn).value_or(last_asked_));
    }
    if (rules_.commit_to_commit) note_invocation(txn);
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (!ouro::is_write(op.kind)) continue;
      TxnId& latest = writer_[op.key.index()];
      if (latest.valid() && latest != txn) {
        const bool overlap = committed_[latest.index()] > began_[txn.index()];
        if (overlap || clock_.commit_ts(latest) == clock_.commit_ts(txn)) {
          return fmt::format("{} and {} write {} at the same time", txn_name(latest), txn_name(txn),
                             h_.key_label(op.key));
        }
      }
      latest = txn;
      table_.apply(op);
    }
    return "";
  }

  // Whether real time orders begins and commits before later commits.
  [[nodiscard]] bool orders_commits() const {
    return rules_.real_time && rules_.family == Family::Snapshot;
  }
  void note_invocation(TxnId txn) {
    last_invoked_ = std::max(last_invoked_, h_.invoked(txn).value_or(last_invoked_));
  }
  [[nodiscard]] bool precedes(std::optional<std::int64_t> answered, std::int64_t asked) const {
    return answered && precedes_in_time(*answered, asked, drift_);
  }

  const History& h_;
  const Rules rules_;
  const std::int64_t drift_;
  const Clock clock_;
  std::size_t now_ = 0;
  std::size_t commits_ = 0;
  const RowIndex index_;
  Table table_;
  std::vector<TxnId> writer_;  // By key: of the last committed version.
  std::vector<std::size_t> began_;
  std::vector<std::size_t> committed_;
  std::vector<TxnId> before_;                    // By transaction: the one before in its session.
  absl::flat_hash_map<KeyId, std::size_t> own_;  // Own writes of the transaction at hand so far.
  std::vector<std::size_t> agreed_;  // By trunk, how much of it is known to be the list …
  std::vector<KeyId> agreed_key_;    // … of this key.
  // The latest clocks so far: of invocations, and of commits that were asked for.
  std::int64_t last_invoked_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_asked_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

std::string check_timestamp_order(const History& history, const Certificate& certificate) {
  const Verdict& verdict = certificate.verdict;
  if (rules_of(verdict.level).family == Family::Snapshot) {
    return Rerun(history, certificate).run(verdict.schedule);
  }
  std::vector<Event> schedule;
  schedule.reserve(verdict.order.size() * 2);
  for (const TxnId txn : verdict.order) {
    schedule.push_back({txn, false});
    schedule.push_back({txn, true});
  }
  return Rerun(history, certificate).run(schedule);
}

}  // namespace ouro::recheck
