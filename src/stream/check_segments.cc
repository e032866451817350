// check_segments(): reads a history piece by piece, cuts it where clients' clocks allow, and
// decides the segments while the next ones are read.
//
// Why that is exact. At strong-si and strict-serializable, whoever completed before another was
// invoked precedes it. So every legal order is one of the first segment, then one of the second,
// and so on; and the only thing that a segment has from those before it is what each key holds
// then. Of a key that a later segment reads, the read says what that is. Of one that it overwrites
// unread, nobody needs to know. So the history is legal if and only if each segment is, given what
// it reads of the time before it, and with a reader behind it that reads what later ones read of
// it.
//
// What is not exact is left undecided, with a reason: see Segment::doubt_violation().

#include "ouro/check_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <utility>

#include "base/parallel.h"
#include "base/temporary_folder.h"
#include "check/left_out.h"
#include "history/input_error.h"
#include "history/real_time.h"
#include "ouro/certificate.h"
#include "ouro/format.h"
#include "ouro/pieces.h"
#include "stream/segment_proof.h"
#include "stream/segmenter.h"

namespace ouro {
namespace {

using Clock = std::chrono::steady_clock;
using segments::Segment;
using segments::Segmenter;
using segments::SegmentOutcome;

// A segment that was decided.
struct Decided {
  SegmentVerdict verdict;
  std::int64_t completed = kNoClock;
  std::int64_t asked_until = kNoClock;
  SegmentOutcome outcome;         // With its history only if it is violated, and no earlier one is.
  std::filesystem::path section;  // Where its part of a certificate is, if that is wanted.
};

class SegmentsCheck {
 public:
  explicit SegmentsCheck(const SegmentsOptions& options)
      : options_(options),
        level_(segment_level(options.level)),
        threads_(thread_count(options.threads)),
        segmenter_(options.clock_drift, std::max<std::uint64_t>(options.least, 1), options.ahead) {}

  Result<CheckedSegments> run(const std::string& path);

 private:
  // Rough figures of what an operation takes: in a piece, in a segment that waits for later reads,
  // and in one that is being decided.
  static constexpr std::uint64_t kBytesHeld = 40;
  static constexpr std::uint64_t kBytesWaiting = 60;

  using Running = std::future<Result<Decided>>;

  Status read_all(HistoryPieces& pieces);
  Status take(std::shared_ptr<const History> piece);
  Status keep_within_memory();
  Status start_ready();
  Status collect(std::size_t at_most);
  Result<Decided> decide(std::unique_ptr<Segment> segment) const;
  void conclude(CheckedSegments& out);
  void judge(CheckedSegments& out) const;
  Status certify(const CheckedSegments& out) const;
  Result<bool> certify_violation(const std::string& path, const CheckedSegments& out) const;
  [[nodiscard]] std::string why_undecided() const;
  [[nodiscard]] bool stands(const Decided& decided) const;
  [[nodiscard]] bool stopped() const { return !stopped_.empty(); }
  void look_at_limits();

  const SegmentsOptions& options_;
  const Level level_;
  const unsigned threads_;
  const Clock::time_point start_ = Clock::now();
  TemporaryFolder folder_;
  Segmenter segmenter_;
  Coverage coverage_;
  HistoryIdentity identity_;  // If there is to be a certificate.
  std::deque<Running> running_;
  std::vector<Decided> decided_;
  std::uint64_t first_violated_ = ~std::uint64_t{0};  // Where the first such segment begins.
  std::uint64_t txns_ = 0;
  std::uint64_t ops_ = 0;
  segments::SegmentNeeds needs_;  // Of the violated segment that is told.
  std::string gap_;               // Why some transactions are in no segment; empty: none are.
  std::string stopped_;           // Why not all was read; empty: it was.
};

Result<Decided> SegmentsCheck::decide(std::unique_ptr<Segment> segment) const {
  CheckOptions options;
  options.clock_drift = options_.clock_drift;
  options.threads = 1;
  options.cancelled = options_.cancelled;
  options.examples = options_.examples;
  if (options_.time_limit.count() > 0) {
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
    options.time_limit = std::max(std::chrono::milliseconds(1), options_.time_limit - spent);
  }
  auto outcome = segment->decide(level_, options, !options_.certificate.empty());
  if (!outcome.ok()) return outcome.error();
  Decided decided{.verdict = {.first = segment->first + 1,
                              .last = segment->end,
                              .outcome = outcome->outcome,
                              .reason = outcome->reason},
                  .completed = segment->completed,
                  .asked_until = segment->asked_until,
                  .outcome = {},
                  .section = {}};
  if (!outcome->section.empty()) {
    decided.section = folder_.path() / fmt::format("{}.section", segment->number);
    const Status written = write_file(decided.section.string(), outcome->section);
    if (!written.ok()) return written.error();
  }
  if (outcome->outcome == Outcome::Violated) decided.outcome = *std::move(outcome);
  std::error_code ignored;
  if (!segment->file.empty()) std::filesystem::remove(segment->file, ignored);
  return decided;
}

// Waits until at most so many segments are being decided.
Status SegmentsCheck::collect(std::size_t at_most) {
  while (running_.size() > at_most) {
    auto decided = running_.front().get();
    running_.pop_front();
    if (!decided.ok()) return decided.error();
    if (decided->verdict.outcome == Outcome::Violated) {
      if (first_violated_ < decided->verdict.first) decided->outcome = {};
      first_violated_ = std::min(first_violated_, decided->verdict.first);
    }
    decided_.push_back(*std::move(decided));
  }
  return {};
}

Status SegmentsCheck::start_ready() {
  while (auto segment = segmenter_.next_ready()) {
    if (Status room = collect(threads_); !room.ok()) return room;
    running_.push_back(std::async(std::launch::async, [this, s = std::move(segment)]() mutable {
      return decide(std::move(s));
    }));
  }
  return {};
}

void SegmentsCheck::look_at_limits() {
  if (options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed)) {
    stopped_ = "interrupted";
  } else if (options_.time_limit.count() > 0 && Clock::now() - start_ > options_.time_limit) {
    stopped_ = "the time limit was reached";
  }
}

Status SegmentsCheck::keep_within_memory() {
  const std::uint64_t limit = options_.memory_limit;
  if (segmenter_.held_ops() * kBytesHeld > limit / 2) {
    if (gap_.empty()) {
      gap_ = segmenter_.blocked()
                 ? "no moment is quiet: a transaction that committed does not say when it completed"
                 : fmt::format(
                       "no moment is quiet for {} operations, which is what the memory limit "
                       "allows: at any time some transaction was under way",
                       segmenter_.held_ops());
    }
    segmenter_.give_up();
  }
  return segmenter_.put_away(limit / 4 / kBytesWaiting, folder_.path());
}

Status SegmentsCheck::take(std::shared_ptr<const History> piece) {
  coverage_.add(*piece);
  txns_ += piece->txn_count();
  ops_ += piece->op_count();
  if (piece->has_snos()) {
    return error_at(piece->place(TxnId{0}),
                    "a \"sno\" counts by timestamps and in whole histories only; use --evidence "
                    "timestamps, or sort the sessions and leave it out");
  }
  if (Status taken = segmenter_.add(std::move(piece)); !taken.ok()) return taken;
  if (Status cut = segmenter_.cut(false); !cut.ok()) return cut;
  if (Status kept = keep_within_memory(); !kept.ok()) return kept;
  return start_ready();
}

Status SegmentsCheck::read_all(HistoryPieces& pieces) {
  const auto read = [&] {
    auto piece = pieces.next();
    if (!options_.certificate.empty() && piece.ok() && *piece != nullptr) identity_.add(**piece);
    return piece;
  };
  for (auto coming = std::async(std::launch::async, read);;) {
    auto piece = coming.get();
    if (!piece.ok()) return piece.error();
    if (*piece == nullptr) return {};
    look_at_limits();
    if (stopped() || segmenter_.straggler()) return {};
    coming = std::async(std::launch::async, read);
    if (Status taken = take(*std::move(piece)); !taken.ok()) {
      coming.wait();
      return taken;
    }
  }
}

// A transaction that came before a cut may have written what was read on both sides of it.
bool SegmentsCheck::stands(const Decided& decided) const {
  if (stopped()) return false;  // Nor is it known what was not read.
  if (!segmenter_.straggler()) return true;
  const auto invoked = segmenter_.straggler()->invoked;
  if (!invoked) return false;
  const auto before = [&](std::int64_t completed) {
    return completed == kNoClock || completed_before(completed, *invoked, options_.clock_drift);
  };
  return decided.completed != kNoClock && before(decided.completed) && before(decided.asked_until);
}

std::string SegmentsCheck::why_undecided() const {
  if (segmenter_.straggler()) {
    return fmt::format(
        "{} may have begun before a transaction that stands more than {} lines before it had "
        "completed; bring the lines into the order of time",
        segmenter_.straggler()->place, options_.ahead);
  }
  if (stopped()) return stopped_;
  if (!gap_.empty()) return gap_;
  for (const Decided& decided : decided_) {
    if (decided.verdict.outcome != Outcome::Undecided) continue;
    return fmt::format("transactions {} to {}: {}", decided.verdict.first, decided.verdict.last,
                       decided.verdict.reason);
  }
  return {};
}

// What the segments come to at the level that they were checked against.
void SegmentsCheck::conclude(CheckedSegments& out) {
  std::sort(decided_.begin(), decided_.end(),
            [](const Decided& a, const Decided& b) { return a.verdict.first < b.verdict.first; });
  for (Decided& decided : decided_) {
    SegmentVerdict& verdict = decided.verdict;
    if (verdict.outcome != Outcome::Undecided && !stands(decided)) {
      verdict.outcome = Outcome::Undecided;
      verdict.reason = stopped() ? stopped_ : "a later transaction may belong to it";
    }
    if (verdict.outcome == Outcome::Violated && out.verdict.outcome != Outcome::Violated) {
      out.history = std::move(decided.outcome.history);
      out.verdict = std::move(decided.outcome.verdict);
      needs_ = std::move(decided.outcome.needs);
    }
    out.segments.push_back(verdict);
  }
  if (out.verdict.outcome == Outcome::Violated) return;
  out.verdict = {.level = level_, .evidence = Evidence::Observed};
  out.verdict.reason = why_undecided();
  if (out.verdict.reason.empty()) out.verdict.outcome = Outcome::Holds;
}

// What follows for the level that was asked for.
void SegmentsCheck::judge(CheckedSegments& out) const {
  Verdict& verdict = out.verdict;
  if (verdict.outcome == Outcome::Violated && options_.level != level_) {
    // What is wrong within one transaction is so wherever it stands.
    std::erase_if(verdict.anomalies,
                  [](const Anomaly& anomaly) { return anomaly.kind != AnomalyKind::Internal; });
    if (verdict.anomalies.empty()) {
      verdict = {.level = options_.level, .evidence = Evidence::Observed};
      verdict.reason = fmt::format(
          "the history violates {}, and only at that level quiet moments order transactions; check "
          "the history as a whole, without --stream",
          info(level_).name);
      return;
    }
    for (std::size_t kind = 0; kind < kAnomalyKindCount; ++kind) {
      if (kind != static_cast<std::size_t>(AnomalyKind::Internal)) verdict.counts[kind] = 0;
    }
    verdict.refutation = {};
    verdict.cases.clear();
  }
  verdict.level = options_.level;
  if (verdict.outcome == Outcome::Holds) {
    verdict.left_out = coverage_.left_out(options_.level, Evidence::Observed);
  }
}

// Of what holds: the parts of all segments, one behind the other.
Status SegmentsCheck::certify(const CheckedSegments& out) const {
  SegmentsCertificateWriter writer;
  const SegmentsClaim claim{.level = level_,
                            .clock_drift = options_.clock_drift,
                            .segments = decided_.size(),
                            .txns = out.txns,
                            .ops = out.operations,
                            .fingerprint = identity_.fingerprint()};
  if (Status begun = writer.begin(options_.certificate, claim); !begun.ok()) return begun;
  for (const Decided& decided : decided_) {
    std::ifstream file(decided.section, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (Status added = writer.add(text); !added.ok()) return added;
    std::error_code ignored;
    std::filesystem::remove(decided.section, ignored);
  }
  return writer.finish();
}

// Reads the history once more. False if the proof was not found again: then there is none.
Result<bool> SegmentsCheck::certify_violation(const std::string& path,
                                              const CheckedSegments& out) const {
  if (path == "-" || needs_.places.empty()) return false;
  auto pieces = HistoryPieces::open(path, options_.piece_bytes);
  if (!pieces.ok()) return pieces.error();
  segments::SegmentProof proof(needs_);
  HistoryIdentity identity;  // Not all was read before, if there is a straggler.
  for (;;) {
    const auto piece = pieces->next();
    if (!piece.ok()) return piece.error();
    if (*piece == nullptr) break;
    identity.add(**piece);
    proof.add(**piece);
  }
  CheckOptions options;
  options.clock_drift = options_.clock_drift;
  options.cancelled = options_.cancelled;
  options.examples = options_.examples;
  auto verdict = proof.find(out.verdict.level, options);
  if (!verdict.ok()) return verdict.error();
  if (verdict->outcome != Outcome::Violated) return false;
  const Status written = write_certificate(
      make_certificate(identity, *std::move(verdict), options_.clock_drift), options_.certificate);
  if (!written.ok()) return written.error();
  return true;
}

Result<CheckedSegments> SegmentsCheck::run(const std::string& path) {
  if (Status drift = check_clock_drift(options_.clock_drift); !drift.ok()) return drift.error();
  auto folder = TemporaryFolder::make("ouro");
  if (!folder.ok()) return folder.error();
  folder_ = *std::move(folder);
  auto pieces = HistoryPieces::open(path, options_.piece_bytes);
  if (!pieces.ok()) return pieces.error();
  Status done = read_all(*pieces);
  if (done.ok() && !stopped()) done = segmenter_.cut(true);
  segmenter_.finish();
  if (done.ok() && !stopped()) done = start_ready();
  if (Status rest = collect(0); done.ok()) done = std::move(rest);
  if (!done.ok()) return done.error();
  if (txns_ == 0 && !stopped()) return refuse_empty(History()).error();
  CheckedSegments out;
  out.decided_at = level_;
  out.txns = txns_;
  out.operations = ops_;
  conclude(out);
  judge(out);
  if (!options_.certificate.empty() && out.verdict.outcome == Outcome::Holds) {
    if (Status written = certify(out); !written.ok()) return written.error();
    out.certified = true;
  }
  if (!options_.certificate.empty() && out.verdict.outcome == Outcome::Violated) {
    const auto written = certify_violation(path, out);
    if (!written.ok()) return written.error();
    out.certified = *written;
  }
  return out;
}

}  // namespace

Level segment_level(Level level) {
  return implies(Level::StrongSi, level, Evidence::Observed) ? Level::StrongSi
                                                             : Level::StrictSerializable;
}

Result<CheckedSegments> check_segments(const std::string& path, const SegmentsOptions& options) {
  return SegmentsCheck(options).run(path);
}

}  // namespace ouro
