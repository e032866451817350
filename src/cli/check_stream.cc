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
#include "ouro/pieces.h"
#include "ouro/stream.h"

namespace ouro::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A folder for what does not fit into memory; goes with the object.
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
};

class PieceChecker {
 public:
  PieceChecker(const CheckFlags& flags, Level level) : flags_(flags), level_(level) {}

  // A transaction that does not come after all that it concerns is judged right all the same, so
  // nobody waits: the time-out is zero.
  Result<Judged> judge(const std::string& path) {
    const Scratch scratch;
    StreamOptions options;
    options.level = level_;
    options.timeout = std::chrono::milliseconds(0);
    options.clock_drift = static_cast<std::int64_t>(std::min(flags_.clock_drift, 9e18));
    options.memory = static_cast<std::size_t>(
        (flags_.memory_limit > 0 ? std::min(flags_.memory_limit, 1e9) : kMegabytes) * 1e6);
    options.folder = scratch.path();
    options.retention = std::chrono::hours(24 * 365 * 100);
    auto stream = Stream::open(options);
    if (!stream.ok()) return stream.error();
    auto pieces = HistoryPieces::open(path);
    if (!pieces.ok()) return pieces.error();
    StreamDigest digest(level_, examples());
    const auto read = [&] { return pieces->next(); };
    const Clock::time_point start = Clock::now();
    bool stopped = false;
    bool stamped = false;  // Whether any transaction has a timestamp.
    StreamTime now{0};
    for (auto coming = std::async(std::launch::async, read);;) {
      auto piece = coming.get();
      if (!piece.ok()) return piece.error();
      if (*piece == nullptr) break;
      stopped = interrupted() || out_of_time(start);
      if (stopped) break;
      coming = std::async(std::launch::async, read);
      const HistoryColumns& c = (*piece)->columns();
      stamped = stamped || !c.start_ts.empty() || !c.commit_ts.empty();
      Status taken = stream->append(*std::move(piece), ++now);
      if (!taken.ok()) {
        coming.wait();
        return taken.error();
      }
      stream->advance(++now);
      digest.add(stream->poll());
    }
    Judged judged{.digest = {}, .summary = stream->finish()};
    digest.add(stream->poll());
    if (!stamped && judged.summary.txns > 0) {
      Error error;
      error.what =
          "the history has no timestamps; use --evidence observed, or record start_ts and "
          "commit_ts of every transaction";
      return error;
    }
    judged.digest = digest.close(judged.summary);
    if (stopped && judged.digest.verdict.outcome == Outcome::Holds) {
      judged.digest.verdict.outcome = Outcome::Undecided;
      judged.digest.verdict.reason = interrupted() ? "interrupted" : "the time limit was reached";
    }
    return judged;
  }

  int check_one(const std::string& path) {
    const std::string name = display_name(path);
    const Clock::time_point start = Clock::now();
    std::optional<Result<Judged>> judged;
    watched("checking " + name, OnInterrupt::Wait, [&] { judged = judge(path); });
    if (!judged->ok()) {
      Error error = judged->error();
      if (error.file.empty()) error.file = name;
      if (flags_.output == "json" && !flags_.quiet) print(to_json(name, error));
      return fail(error);
    }
    const auto& [digest, summary] = **judged;
    ReportOptions report{.name = name, .colour = stdout_is_terminal(), .examples = examples()};
    report.whole = {summary.txns + summary.left_out, summary.operations};
    report.check_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const Verdict& verdict = digest.verdict;
    if (!flags_.quiet) {
      const bool full = flags_.verbose || flags_.input.paths.size() == 1;
      print(flags_.output == "json" ? to_json(digest.history, verdict, report)
            : full                  ? describe(digest.history, verdict, report)
                                    : headline(digest.history, verdict, report));
    }
    if (verdict.outcome != Outcome::Undecided) {
      return verdict.outcome == Outcome::Holds ? kHolds : kViolated;
    }
    return flags_.undecided == "pass"   ? kHolds
           : flags_.undecided == "fail" ? kViolated
                                        : kUndecided;
  }

 private:
  static constexpr double kMegabytes = 1000;  // Of memory, if nobody says.

  [[nodiscard]] std::size_t examples() const {
    return flags_.examples > 0 ? flags_.examples : flags_.verbose ? 3 : 1;
  }
  [[nodiscard]] bool out_of_time(Clock::time_point start) const {
    return flags_.time_limit > 0 &&
           std::chrono::duration<double>(Clock::now() - start).count() > flags_.time_limit;
  }

  const CheckFlags& flags_;
  Level level_;
};

}  // namespace

int check_in_pieces(const CheckFlags& flags, Level level) {
  const FormPaths& forms = flags.forms;
  for (const std::string* other :
       {&flags.certificate, &flags.counterexample, &flags.expect, &flags.shows, &flags.lacks,
        &forms.html, &forms.dot, &forms.junit, &forms.sarif}) {
    if (other->empty()) continue;
    return fail(
        "--stream prints text or JSON and writes nothing else; leave it out, or the others");
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
