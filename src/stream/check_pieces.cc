// check_pieces(): reads a history piece by piece and feeds it to a stream, so that it need not fit
// into memory. The next piece is read while the stream takes the last one.

#include "ouro/check_pieces.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "base/temporary_folder.h"
#include "check/left_out.h"
#include "ouro/pieces.h"

namespace ouro {
namespace {

using Clock = std::chrono::steady_clock;

// What is gathered for a certificate while a history is read.
struct Notes {
  HistoryIdentity history;
  StreamProof proof;
};

class PiecesCheck {
 public:
  explicit PiecesCheck(const PiecesOptions& options) : options_(options) {}

  Result<CheckedPieces> run(const std::string& path);

 private:
  static constexpr std::size_t kProvenExamples = 3;  // At least so many are in a certificate.

  // Feeds all pieces to `stream`. False if a limit or the user stopped it before the end.
  Result<bool> feed(HistoryPieces& pieces, Stream& stream, StreamDigest& digest);
  [[nodiscard]] StreamOptions stream_options(const std::string& folder) const;
  [[nodiscard]] bool cancelled() const {
    return options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool out_of_time() const {
    return options_.time_limit.count() > 0 && Clock::now() - start_ > options_.time_limit;
  }

  const PiecesOptions& options_;
  const Clock::time_point start_ = Clock::now();
  std::optional<Notes> notes_;  // If there is to be a certificate.
  bool stamped_ = false;        // Whether any transaction has a timestamp.
  Coverage coverage_;
};

// The time-out is zero: findings are final at once, and are withdrawn if a later transaction
// changes them. Since the retention is endless, nothing is lost by that.
StreamOptions PiecesCheck::stream_options(const std::string& folder) const {
  StreamOptions options;
  options.level = options_.level;
  options.timeout = std::chrono::milliseconds(0);
  options.clock_drift = options_.clock_drift;
  options.memory = options_.memory_limit;
  options.folder = folder;
  options.retention = std::chrono::hours(24 * 365 * 100);
  return options;
}

Result<bool> PiecesCheck::feed(HistoryPieces& pieces, Stream& stream, StreamDigest& digest) {
  const auto read = [&] {
    auto piece = pieces.next();
    if (notes_ && piece.ok() && *piece != nullptr) notes_->history.add(**piece);
    return piece;
  };
  StreamTime now{0};
  for (auto coming = std::async(std::launch::async, read);;) {
    const auto piece = coming.get();
    if (!piece.ok()) return piece.error();
    if (*piece == nullptr) return true;
    if (cancelled() || out_of_time()) return false;
    coming = std::async(std::launch::async, read);
    stamped_ = stamped_ || (*piece)->has_timestamps();
    coverage_.add(**piece);
    Status taken = notes_ ? notes_->proof.add(**piece) : Status();
    if (taken.ok()) taken = stream.append(*piece, ++now);
    if (!taken.ok()) {
      coming.wait();
      return taken.error();
    }
    stream.advance(++now);
    const std::vector<StreamEvent> events = stream.poll();
    digest.add(events);
    if (notes_) notes_->proof.add(events);
  }
}

Result<CheckedPieces> PiecesCheck::run(const std::string& path) {
  const auto folder = TemporaryFolder::make("ouro");  // For what does not fit into memory.
  if (!folder.ok()) return folder.error();
  auto opened = Stream::open(stream_options(folder->path().string()));
  if (!opened.ok()) return opened.error();
  std::optional<Stream> stream = *std::move(opened);
  auto pieces = HistoryPieces::open(path);
  if (!pieces.ok()) return pieces.error();
  if (options_.certificate) {
    const std::size_t examples = std::max(kProvenExamples, options_.examples);
    notes_.emplace(Notes{.history = {}, .proof = StreamProof(options_.level, examples)});
  }
  StreamDigest digest(options_.level, options_.examples);
  const auto fed = feed(*pieces, *stream, digest);
  if (!fed.ok()) return fed.error();
  CheckedPieces checked{
      .history = {}, .verdict = {}, .summary = stream->finish(), .certificate = {}};
  const std::vector<StreamEvent> events = stream->poll();
  stream.reset();  // Frees its memory, which the certificate may need.
  digest.add(events);
  if (*fed && checked.summary.txns + checked.summary.left_out == 0) {
    return refuse_empty(History()).error();
  }
  if (!stamped_ && !options_.unstamped && checked.summary.txns > 0) {
    Error error;
    error.what =
        "the history has no timestamps; use --evidence observed, or record start_ts and "
        "commit_ts of every transaction";
    return error;
  }
  auto found = digest.close(checked.summary);
  checked.history = std::move(found.history);
  Verdict& verdict = checked.verdict = std::move(found.verdict);
  if (verdict.outcome == Outcome::Holds) {
    verdict.left_out = coverage_.left_out(options_.level, Evidence::Timestamps);
  }
  if (!*fed) {
    const bool violated = verdict.outcome == Outcome::Violated;
    verdict = {.level = verdict.level, .evidence = verdict.evidence};
    verdict.reason = cancelled() ? "interrupted" : "the time limit was reached";
    if (violated)
      verdict.reason += "; violations were found, but what was not read may explain them";
  }
  if (!notes_ || verdict.outcome == Outcome::Undecided) return checked;
  notes_->proof.add(events);
  checked.certificate = make_certificate(
      notes_->history, std::move(notes_->proof).close(verdict.outcome), options_.clock_drift);
  return checked;
}

}  // namespace

Result<CheckedPieces> check_pieces(const std::string& path, const PiecesOptions& options) {
  return PiecesCheck(options).run(path);
}

}  // namespace ouro
