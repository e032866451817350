// Re-checks certificates of histories that were checked in segments, piece by piece.
//
// The orders of the segments, one behind the other, are an order of the whole. So each segment is
// replayed with what keys hold after those before it, and nothing may have come in time, or in its
// session, before what is ordered before it. Nothing here depends on where the engines make cuts.

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <map>

#include "certify/clock.h"
#include "certify/rules.h"
#include "certify/segments.h"
#include "format/input.h"
#include "format/json_tree.h"
#include "history/columns.h"
#include "ouro/certificate.h"
#include "ouro/pieces.h"

namespace ouro {
namespace {

using Json = JsonTree::Node;
using recheck::Stored;

// The lines of a file.
class Lines {
 public:
  explicit Lines(Input input) : input_(std::move(input)) {}
  [[nodiscard]] const std::string& name() const { return input_.name(); }
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // The next line, without its end. The error is also the end of the file.
  Result<std::string> next() {
    ++number_;
    for (;;) {
      const std::size_t end = buffer_.find('\n', at_);
      if (end != std::string::npos) {
        std::string line = buffer_.substr(at_, end - at_);
        at_ = end + 1;
        return line;
      }
      buffer_.erase(0, at_);
      at_ = 0;
      const std::size_t size = buffer_.size();
      buffer_.resize(size + kBlock);
      const auto got = input_.read(buffer_.data() + size, kBlock);
      if (!got.ok()) return got.error();
      buffer_.resize(size + *got);
      if (*got == 0) return error_in(name(), "the certificate is cut off");
    }
  }
  Error wrong(std::string what) const { return error_at_line(name(), number_, std::move(what)); }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  Input input_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

// The certificate, section by section.
class Sections {
 public:
  explicit Sections(Input input) : lines_(std::move(input)) {}

  Result<SegmentsClaim> header() {
    const auto line = lines_.next();
    if (!line.ok()) return line.error();
    SegmentsClaim claim;
    if (!json_.parse(*line) || !json_.root().is_map()) return lines_.wrong("expected an object");
    const Json all = json_.root();
    const auto level = find_level(all.member("level").text().value_or(std::string_view()));
    const std::string_view print = all.member("history").text().value_or(std::string_view());
    const auto [end, problem] =
        std::from_chars(print.data(), print.data() + print.size(), claim.fingerprint, 16);
    if (all.member("ouro-segments").integer() != 1 || !level || problem != std::errc{} ||
        end != print.data() + print.size() || all.member("verdict").text() != "holds" ||
        all.member("evidence").text() != "observed") {
      return lines_.wrong("expected a certificate of segments, version 1, of what holds");
    }
    claim.level = *level;
    const auto number = [&](std::string_view key) {
      const std::int64_t found = all.member(key).integer().value_or(-1);
      fine_ = fine_ && found >= 0;
      return found;
    };
    claim.txns = static_cast<std::uint64_t>(number("transactions"));
    claim.ops = static_cast<std::uint64_t>(number("operations"));
    claim.segments = static_cast<std::uint64_t>(number("segments"));
    claim.clock_drift = number("clock_drift");
    if (!fine_) return lines_.wrong("counts and drift must be whole numbers");
    return claim;
  }

  Result<SegmentSection> next() {
    const auto line = lines_.next();
    if (!line.ok()) return line.error();
    if (!json_.parse(*line) || !json_.root().is_map()) return lines_.wrong("expected an object");
    const Json all = json_.root();
    std::vector<std::uint64_t> range;
    SegmentSection section;
    places(all, "segment", range);
    if (all.member("late").exists()) places(all, "late", section.late);
    if (all.member("without").exists()) places(all, "without", section.without);
    if (!fine_ || range.size() != 2) {
      return lines_.wrong("expected {\"segment\":[FIRST,LAST]} and lists of transactions");
    }
    section.first = range[0];
    section.end = range[1] + 1;
    std::string text;
    for (;;) {
      const auto part = lines_.next();
      if (!part.ok()) return part.error();
      text += *part;
      text += '\n';
      if (part->starts_with("{\"end\":")) break;
    }
    auto certificate =
        parse_certificate(text, fmt::format("{} before line {}", lines_.name(), lines_.number()));
    if (!certificate.ok()) return certificate.error();
    section.certificate = *std::move(certificate);
    return section;
  }

  // Whether the last line is right.
  Status finish(std::uint64_t sections) {
    const auto line = lines_.next();
    if (!line.ok()) return line.error();
    if (*line == fmt::format("{{\"segments\":{}}}", sections)) return {};
    return lines_.wrong("segments are missing");
  }

 private:
  void places(const Json& all, std::string_view key, std::vector<std::uint64_t>& out) {
    const Json list = all.member(key);
    if (!list.is_list()) {
      fine_ = false;
      return;
    }
    list.for_each([&](const Json& item) {
      const std::int64_t number = item.integer().value_or(0);
      fine_ = fine_ && number > 0;
      out.push_back(static_cast<std::uint64_t>(number) - 1);
    });
  }

  Lines lines_;
  JsonTree json_;
  bool fine_ = true;
};

// The transactions of the history, one after the other.
class Txns {
 public:
  explicit Txns(HistoryPieces pieces) : pieces_(std::move(pieces)) {}

  struct Txn {
    std::shared_ptr<const History> history;  // Null at the end.
    TxnId txn;
  };
  Result<Txn> next() {
    while (piece_ == nullptr || at_ == piece_->txn_count()) {
      auto piece = pieces_.next();
      if (!piece.ok()) return piece.error();
      if (*piece == nullptr) return Txn{};
      piece_ = *std::move(piece);
      identity_.add(*piece_);
      at_ = 0;
      new_.push_back(piece_);
    }
    return Txn{piece_, TxnId{at_++}};
  }
  // The pieces that were begun since the last call.
  std::vector<std::shared_ptr<const History>> new_pieces() { return std::exchange(new_, {}); }
  [[nodiscard]] const HistoryIdentity& identity() const { return identity_; }

 private:
  HistoryPieces pieces_;
  HistoryIdentity identity_;
  std::shared_ptr<const History> piece_;
  std::size_t at_ = 0;
  std::vector<std::shared_ptr<const History>> new_;
};

class SegmentsProof {
 public:
  SegmentsProof(Sections sections, Txns txns, SegmentsClaim claim)
      : sections_(std::move(sections)), txns_(std::move(txns)), claim_(claim) {}

  // What is wrong, or "".
  Result<std::string> run() {
    const recheck::Rules rules = recheck::rules_of(claim_.level);
    if (claim_.level != Level::StrongSi && claim_.level != Level::StrictSerializable) {
      return std::string("there are no certificates of segments of its level");
    }
    snapshots_ = rules.family == recheck::Family::Snapshot;
    while (checked_ < claim_.txns) {
      const auto section = sections_.next();
      if (!section.ok()) return section.error();
      ++count_;
      auto wrong = check(*section);
      if (!wrong.ok() || !wrong->empty()) return wrong;
    }
    if (Status ended = sections_.finish(count_); !ended.ok()) return ended.error();
    const auto more = txns_.next();
    if (!more.ok()) return more.error();
    const HistoryIdentity& history = txns_.identity();
    if (more->history != nullptr || count_ != claim_.segments || history.txns() != claim_.txns ||
        history.ops() != claim_.ops || history.fingerprint() != claim_.fingerprint) {
      return std::string("it is about another history");
    }
    return std::string();
  }

 private:
  // A transaction of unknown outcome that is in no segment yet.
  struct Waiting {
    std::shared_ptr<const History> history;  // It alone.
    std::string session;
  };
  // A segment, as it is put together.
  struct Draft {
    std::vector<Txns::Txn> txns;
    std::vector<std::uint64_t> places;
    std::vector<std::shared_ptr<const History>> late;
  };

  Result<std::string> check(const SegmentSection& section) {
    const Certificate& certificate = section.certificate;
    if (section.first != checked_ || section.end <= section.first || section.end > claim_.txns) {
      return std::string("its segments do not follow each other");
    }
    if (certificate.verdict.level != claim_.level ||
        certificate.verdict.evidence != Evidence::Observed ||
        certificate.verdict.outcome != Outcome::Holds ||
        certificate.clock_drift != claim_.clock_drift) {
      return std::string("a segment is about another claim than the whole");
    }
    Draft draft;
    auto wrong = gather(section, draft);
    if (!wrong.ok() || !wrong->empty()) return wrong;
    checked_ = section.end;
    auto plain = build(draft);
    if (!plain.ok()) return plain.error();
    if (plain->txn_count() != draft.places.size()) {
      return std::string("operations other than reads and writes of registers");
    }
    if (certificate.txns != plain->txn_count() || certificate.ops != plain->op_count() ||
        certificate.fingerprint != fingerprint(*plain)) {
      return std::string("a segment is about other transactions");
    }
    if (plain->txn_count() == 0) return std::string();
    auto history = begun(*plain, certificate.verdict);
    if (!history.ok()) return history.error();
    const auto certified = certify(
        *history, make_certificate(*history, certificate.verdict, certificate.clock_drift));
    if (!certified.ok()) return certified.error();
    if (!certified->accepted) {
      return fmt::format("transactions {} to {}: {}", section.first + 1, section.end,
                         certified->reason);
    }
    return advance(*history, draft, certificate.verdict);
  }

  Result<std::string> gather(const SegmentSection& section, Draft& draft) {
    for (const std::uint64_t place : section.late) {
      const auto found = waiting_.find(place);
      if (found == waiting_.end() || (!draft.places.empty() && draft.places.back() >= place)) {
        return fmt::format("transaction {} is no late one", place + 1);
      }
      draft.txns.push_back({found->second, TxnId{0}});
      draft.places.push_back(place);
      waiting_.erase(found);
    }
    const absl::flat_hash_set<std::uint64_t> without(section.without.begin(),
                                                     section.without.end());
    for (std::uint64_t place = section.first; place < section.end; ++place) {
      auto txn = txns_.next();
      if (!txn.ok()) return txn.error();
      if (txn->history == nullptr) return std::string("it is about another history");
      if (auto wrong = note_initials(); !wrong.empty()) return wrong;
      if (without.contains(place)) {
        if (auto wrong = let_wait(*txn, place); !wrong.empty()) return wrong;
        continue;
      }
      draft.txns.push_back(*txn);
      draft.places.push_back(place);
    }
    return std::string();
  }

  // Only a transaction of which nobody knows whether and when it ended may happen later.
  std::string let_wait(const Txns::Txn& txn, std::uint64_t place) {
    const History& h = *txn.history;
    if (h.status(txn.txn) != TxnStatus::Unknown || h.completed(txn.txn)) {
      return fmt::format("transaction {} belongs to its segment", place + 1);
    }
    if (!recheck::has_writes(h, txn.txn)) return {};
    HistoryBuilder builder;
    if (!recheck::copy_txn(h, txn.txn, builder)) return "operations that are not of registers";
    auto alone = std::move(builder).freeze();
    if (!alone.ok()) return alone.error().what;
    waiting_[place] = std::make_shared<const History>(*std::move(alone));
    return {};
  }

  // What keys hold at the start: the pieces say it, before the keys are used.
  std::string note_initials() {
    for (const auto& piece : txns_.new_pieces()) {
      if (!started_) default_initial_ = Stored(*piece, piece->default_initial());
      started_ = true;
      for (const KeyVersion& own : columns_of(*piece).key_initial) {
        const std::string key = piece->text(piece->key_name(own.key));
        const Stored value(*piece, own.value);
        const auto [at, added] = state_.try_emplace(key, value);
        if (!added && !(at->second == value)) {
          return "the initial value of key " + key + " is told after it was used";
        }
      }
    }
    return {};
  }

  // The transactions as a history.
  static Result<History> build(const Draft& draft) {
    HistoryBuilder builder;
    for (const Txns::Txn& txn : draft.txns) {
      if (!recheck::copy_txn(*txn.history, txn.txn, builder)) return History();
    }
    return std::move(builder).freeze();
  }

  // The same with what keys hold before. A transaction of unknown outcome that is in the order may
  // be read by a later segment only. It counts here as if it had committed: if nobody reads it, the
  // order is right without it, too.
  Result<History> begun(const History& plain, const Verdict& verdict) {
    std::vector<bool> ordered(plain.txn_count());
    for (const TxnId txn : verdict.order) {
      if (txn.valid() && txn.index() < ordered.size()) ordered[txn.index()] = true;
    }
    HistoryBuilder whole;
    for (std::size_t t = 0; t < plain.txn_count(); ++t) {
      (void)recheck::copy_txn(plain, TxnId{t}, whole);
      if (ordered[t] && plain.status(TxnId{t}) == TxnStatus::Unknown) {
        whole.status(TxnStatus::Committed);
      }
    }
    for (std::size_t k = 0; k < plain.key_count(); ++k) {
      const Value name = plain.key_name(KeyId{k});
      const auto held = state_.try_emplace(plain.text(name), default_initial_).first;
      whole.initial(whole.key(Stored(plain, name).in(whole)), held->second.in(whole));
    }
    return std::move(whole).freeze();
  }

  // Compares what counts in the segment with what counted before, in time and in sessions, and
  // takes over what it wrote.
  std::string advance(const History& h, const Draft& draft, const Verdict& verdict) {
    const auto behind = [&](std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
      return first && last && recheck::precedes_in_time(*first, *last, claim_.clock_drift);
    };
    const auto later = [](std::optional<std::int64_t>& greatest, std::optional<std::int64_t> at) {
      if (at && (!greatest || *at > *greatest)) greatest = at;
    };
    std::optional<std::int64_t> invoked = invoked_;
    std::optional<std::int64_t> asked = asked_;
    absl::flat_hash_map<std::string, std::uint64_t> last_of_session;
    for (const TxnId txn : verdict.order) {
      const std::uint64_t place = draft.places[txn.index()];
      if (behind(h.completed(txn), invoked_) ||
          (snapshots_ && (behind(h.completed(txn), asked_) ||
                          behind(recheck::latest_begin(h, txn), asked_)))) {
        return fmt::format("transaction {} comes in time before one of an earlier segment",
                           place + 1);
      }
      const std::string session = recheck::session_of(h, txn);
      if (!session.empty()) {
        const auto before = sessions_.find(session);
        if (before != sessions_.end() && before->second > place) {
          return fmt::format("transaction {} comes in its session before one of an earlier segment",
                             place + 1);
        }
        std::uint64_t& last = last_of_session[session];
        last = std::max(last, place + 1);
      }
      later(invoked, h.invoked(txn));
      later(asked, recheck::earliest_commit(h, txn));
      for (OpId id = h.first_op(txn); id < h.end_op(txn); ++id.value) {
        const Op op = h.op(id);
        if (is_write(op.kind)) state_[h.text(h.key_name(op.key))] = Stored(h, op.value);
      }
    }
    invoked_ = invoked;
    asked_ = asked;
    for (const auto& [session, last] : last_of_session) {
      std::uint64_t& all = sessions_[session];
      all = std::max(all, last - 1);
    }
    return {};
  }

  Sections sections_;
  Txns txns_;
  SegmentsClaim claim_;
  bool snapshots_ = false;
  std::uint64_t checked_ = 0;  // How many transactions.
  std::uint64_t count_ = 0;    // How many segments.
  bool started_ = false;
  Stored default_initial_;
  absl::flat_hash_map<std::string, Stored> state_;  // By key as JSON: what it holds.
  std::map<std::uint64_t, std::shared_ptr<const History>> waiting_;  // By place.
  // Of all that counted so far: the latest invocation, and the latest time at which a commit was
  // asked for at the earliest.
  std::optional<std::int64_t> invoked_;
  std::optional<std::int64_t> asked_;
  absl::flat_hash_map<std::string, std::uint64_t> sessions_;  // The last place of each.
};

}  // namespace

Result<bool> is_of_segments(const std::string& path) {
  auto input = Input::open(path);
  if (!input.ok()) return input.error();
  return input->head().starts_with("{\"ouro-segments\"");
}

Result<SegmentsCertification> certify_segments(const std::string& history,
                                               const std::string& certificate,
                                               std::size_t piece_bytes) {
  auto input = Input::open(certificate);
  if (!input.ok()) return input.error();
  Sections sections(*std::move(input));
  const auto claim = sections.header();
  if (!claim.ok()) return claim.error();
  auto pieces = HistoryPieces::open(history, piece_bytes);
  if (!pieces.ok()) return pieces.error();
  SegmentsProof proof(std::move(sections), Txns(*std::move(pieces)), *claim);
  auto wrong = proof.run();
  if (!wrong.ok()) return wrong.error();
  SegmentsCertification out;
  out.claim = *claim;
  out.accepted = wrong->empty();
  out.reason = *std::move(wrong);
  return out;
}

}  // namespace ouro
