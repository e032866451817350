// ouro check --stream: judges histories that are larger than memory, piece by piece.

#include "cli/check_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/terminal.h"
#include "ouro/certificate.h"
#include "ouro/pieces.h"
#include "ouro/stream.h"

namespace ouro::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A temporary folder for what does not fit into memory; the destructor removes it.
class Scratch {
 public:
  Scratch() {
    std::error_code none;
    std::string name = (fs::temp_directory_path(none) / "ouro-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    std::error_code none;
    if (!path_.empty()) fs::remove_all(path_, none);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Judged {
  StreamDigest::Digest digest;
  StreamSummary summary;
  std::optional<Certificate> certificate;  // If one was asked for, and the verdict has one.
};

// What is gathered for a certificate while a history is read.
struct Notes {
  HistoryIdentity history;
  StreamProof proof;
};

// Checks one history.
class PieceChecker {
 public:
  PieceChecker(const CheckFlags& flags, Level level) : flags_(flags), level_(level) {}

  int check_one(const std::string& path);

 private:
  static constexpr double kMegabytes = 1000;  // The memory limit if none is given.

  Result<Judged> judge(const std::string& path);
  // Feeds the history to the stream, until its end or until it must stop. Returns whether it came
  // to the end.
  Result<bool> feed(HistoryPieces& pieces, Stream& stream, StreamDigest& digest);
  [[nodiscard]] StreamOptions options(const std::string& folder) const;
  int write_certificate_of(const Judged& judged) const;

  [[nodiscard]] std::size_t examples() const {
    return flags_.examples > 0 ? flags_.examples : flags_.verbose ? 3 : 1;
  }
  [[nodiscard]] bool out_of_time() const {
    return flags_.time_limit > 0 &&
           std::chrono::duration<double>(Clock::now() - start_).count() > flags_.time_limit;
  }

  const CheckFlags& flags_;
  Level level_;
  Clock::time_point start_ = Clock::now();
  std::optional<Notes> notes_;  // If a certificate was asked for.
  bool stamped_ = false;        // Whether any transaction has a timestamp.
};

// The time-out is zero: findings are final at once, and are withdrawn if a later transaction
// changes them. Since the retention is endless, nothing is lost by that.
StreamOptions PieceChecker::options(const std::string& folder) const {
  StreamOptions options;
  options.level = level_;
  options.timeout = std::chrono::milliseconds(0);
  options.clock_drift = flags_.clock_drift;
  options.memory = static_cast<std::size_t>(
      (flags_.memory_limit > 0 ? std::min(flags_.memory_limit, 1e9) : kMegabytes) * 1e6);
  options.folder = folder;
  options.retention = std::chrono::hours(24 * 365 * 100);
  return options;
}

Result<bool> PieceChecker::feed(HistoryPieces& pieces, Stream& stream, StreamDigest& digest) {
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
    if (interrupted() || out_of_time()) return false;
    coming = std::async(std::launch::async, read);
    stamped_ = stamped_ || (*piece)->has_timestamps();
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

Result<Judged> PieceChecker::judge(const std::string& path) {
  const Scratch scratch;
  auto opened = Stream::open(options(scratch.path()));
  if (!opened.ok()) return opened.error();
  std::optional<Stream> stream = *std::move(opened);
  auto pieces = HistoryPieces::open(path);
  if (!pieces.ok()) return pieces.error();
  if (!flags_.certificate.empty()) {
    notes_.emplace(
        Notes{.history = {}, .proof = StreamProof(level_, std::max<std::size_t>(3, examples()))});
  }
  StreamDigest digest(level_, examples());
  const auto fed = feed(*pieces, *stream, digest);
  if (!fed.ok()) return fed.error();
  Judged judged{.digest = {}, .summary = stream->finish(), .certificate = {}};
  const std::vector<StreamEvent> events = stream->poll();
  stream.reset();  // Frees its memory, which the certificate may need.
  digest.add(events);
  if (!stamped_ && judged.summary.txns > 0) {
    Error error;
    error.what =
        "the history has no timestamps; use --evidence observed, or record start_ts and "
        "commit_ts of every transaction";
    return error;
  }
  judged.digest = digest.close(judged.summary);
  Verdict& verdict = judged.digest.verdict;
  if (!*fed) {
    const bool found = verdict.outcome == Outcome::Violated;
    verdict = {.level = verdict.level, .evidence = verdict.evidence};
    verdict.reason = interrupted() ? "interrupted" : "the time limit was reached";
    if (found) verdict.reason += "; violations were found, but what was not read may explain them";
  }
  if (!notes_ || verdict.outcome == Outcome::Undecided) return judged;
  notes_->proof.add(events);
  judged.certificate = make_certificate(
      notes_->history, std::move(notes_->proof).close(verdict.outcome), flags_.clock_drift);
  return judged;
}

int PieceChecker::check_one(const std::string& path) {
  const std::string name = display_name(path);
  std::optional<Result<Judged>> judged;
  watched("checking " + name, OnInterrupt::Wait, [&] { judged = judge(path); });
  if (!judged->ok()) {
    Error error = judged->error();
    if (error.file.empty()) error.file = name;
    if (flags_.output == "json" && !flags_.quiet) print(to_json(name, error));
    return fail(error);
  }
  const auto& [digest, summary, certificate] = **judged;
  ReportOptions report{.name = name, .colour = stdout_is_terminal()};
  report.whole = {summary.txns + summary.left_out, summary.operations};
  report.check_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const Verdict& verdict = digest.verdict;
  if (!flags_.quiet) {
    const Explanation explanation =
        explain(digest.history, verdict, {.examples = examples(), .cancelled = &interrupted()});
    report.explanations = {&explanation, 1};
    const bool full = flags_.verbose || flags_.input.paths.size() == 1;
    print(flags_.output == "json" ? to_json(digest.history, verdict, report)
          : full                  ? describe(digest.history, verdict, report)
                                  : headline(digest.history, verdict, report));
  }
  if (verdict.outcome != Outcome::Undecided) {
    const int status = verdict.outcome == Outcome::Holds ? kHolds : kViolated;
    return std::max(status, write_certificate_of(**judged));
  }
  return flags_.undecided == "pass" ? kHolds : flags_.undecided == "fail" ? kViolated : kUndecided;
}

// An undecided verdict has no certificate.
int PieceChecker::write_certificate_of(const Judged& judged) const {
  if (!judged.certificate) return kHolds;
  const auto status = write_certificate(*judged.certificate, flags_.certificate);
  return status ? kHolds : fail(status.error());
}

}  // namespace

int check_in_pieces(const CheckFlags& flags, Level level) {
  const FormPaths& forms = flags.forms;
  for (const std::string* other : {&flags.counterexample, &flags.expect, &flags.shows, &flags.lacks,
                                   &forms.html, &forms.dot, &forms.junit, &forms.sarif}) {
    if (other->empty()) continue;
    return fail(
        "--stream prints text or JSON and writes certificates, nothing else; leave it out, or the "
        "others");
  }
  if (flags.output != "text" && flags.output != "json") {
    return fail("--stream prints text or JSON; give --output text or json");
  }
  catch_interrupt();
  int status = kHolds;
  std::size_t done = 0;
  for (const std::string& path : flags.input.paths) {
    status = std::max(status, PieceChecker(flags, level).check_one(path));
    ++done;
    if (output_closed() || interrupted()) break;
  }
  return done < flags.input.paths.size() ? std::max<int>(status, kUndecided) : status;
}

}  // namespace ouro::cli
