// ouro check --stream: judges histories that are larger than memory, piece by piece: by timestamps,
// or by what clients observed.

#include "cli/check_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/limits.h"
#include "cli/terminal.h"
#include "ouro/check_pieces.h"
#include "ouro/check_segments.h"

namespace ouro::cli {
namespace {

using Clock = std::chrono::steady_clock;

// What a check came to, whatever it rests on.
struct InPieces {
  History history;
  Verdict verdict;
  ReportOptions::Whole whole;
  std::vector<SegmentVerdict> segments;  // By observation.
  bool certified = false;                // By observation, whether the certificate is written.
  std::optional<Certificate> certificate;
};

// What a segment violates at weaker levels may be explained by values that were written elsewhere,
// unless it is wrong within one transaction.
void tell_of_level_only(Explanation& explanation, Level level) {
  for (Story& story : explanation.stories) {
    if (story.kind == AnomalyKind::Internal) continue;
    story.weakest_violated = {level};
    story.strongest_holding = {};
  }
}

// Checks one history.
class PieceChecker {
 public:
  // `limits` are those of the whole command.
  PieceChecker(const CheckFlags& flags, Level level, Evidence evidence, const Limits& limits)
      : flags_(flags), level_(level), evidence_(evidence), limits_(limits) {}

  int check_one(const std::string& path);

 private:
  [[nodiscard]] Result<InPieces> check(const std::string& path) const;
  [[nodiscard]] Result<InPieces> check_by_timestamps(const std::string& path) const;
  [[nodiscard]] Result<InPieces> check_by_segments(const std::string& path) const;
  template <class Options>
  [[nodiscard]] Options options() const;
  int write_certificate_of(const InPieces& checked) const;
  [[nodiscard]] std::size_t examples() const {
    return flags_.examples > 0 ? flags_.examples : flags_.verbose ? 3 : 1;
  }

  const CheckFlags& flags_;
  Level level_;
  Evidence evidence_;
  const Limits& limits_;
  Clock::time_point start_ = Clock::now();
};

template <class Options>
Options PieceChecker::options() const {
  Options options;
  options.level = level_;
  options.clock_drift = flags_.clock_drift;
  options.time_limit = limits_.time_left();
  if (flags_.memory_limit > 0) {
    options.memory_limit = static_cast<std::size_t>(std::min(flags_.memory_limit, 1e9) * 1e6);
  }
  options.examples = examples();
  options.cancelled = &interrupted();
  return options;
}

Result<InPieces> PieceChecker::check_by_timestamps(const std::string& path) const {
  auto by_timestamps = options<PiecesOptions>();
  by_timestamps.certificate = !flags_.certificate.empty();
  auto checked = check_pieces(path, by_timestamps);
  if (!checked.ok()) return checked.error();
  const StreamSummary& summary = checked->summary;
  return InPieces{.history = std::move(checked->history),
                  .verdict = std::move(checked->verdict),
                  .whole = {summary.txns + summary.left_out, summary.operations},
                  .segments = {},
                  .certified = false,
                  .certificate = std::move(checked->certificate)};
}

Result<InPieces> PieceChecker::check_by_segments(const std::string& path) const {
  auto by_segments = options<SegmentsOptions>();
  by_segments.threads = flags_.input.threads;
  by_segments.certificate = flags_.certificate;
  if (flags_.segment > 0) by_segments.least = by_segments.ahead = flags_.segment;
  auto checked = check_segments(path, by_segments);
  if (!checked.ok()) return checked.error();
  return InPieces{.history = std::move(checked->history),
                  .verdict = std::move(checked->verdict),
                  .whole = {checked->txns, checked->operations},
                  .segments = std::move(checked->segments),
                  .certified = checked->certified,
                  .certificate = {}};
}

Result<InPieces> PieceChecker::check(const std::string& path) const {
  return evidence_ == Evidence::Timestamps ? check_by_timestamps(path) : check_by_segments(path);
}

int PieceChecker::check_one(const std::string& path) {
  const std::string name = display_name(path);
  std::optional<Result<InPieces>> result;
  watched("checking " + name, [&] { result = check(path); });
  if (!result->ok()) {
    Error error = result->error();
    if (error.file.empty()) error.file = name;
    if (flags_.output == "json" && !flags_.quiet) print(to_json(name, error));
    return fail(error);
  }
  const InPieces& checked = **result;
  ReportOptions report{.name = name, .colour = stdout_is_terminal()};
  report.whole = checked.whole;
  report.segments = checked.segments;
  report.check_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const Verdict& verdict = checked.verdict;
  if (!flags_.quiet) {
    Explanation explanation = explain(checked.history, verdict,
                                      {.examples = examples(),
                                       .time_limit = limits_.time_left(),
                                       .cancelled = &interrupted(),
                                       .of_part = checked.segments.empty()});
    if (checked.segments.size() > 1) tell_of_level_only(explanation, verdict.level);
    report.explanations = {&explanation, 1};
    const bool full = flags_.verbose || flags_.input.paths.size() == 1;
    print(flags_.output == "json" ? to_json(checked.history, verdict, report)
          : full                  ? describe(checked.history, verdict, report)
                                  : headline(checked.history, verdict, report));
  }
  if (verdict.outcome != Outcome::Undecided) {
    const int status = verdict.outcome == Outcome::Holds ? kHolds : kViolated;
    return worse(status, write_certificate_of(checked));
  }
  return flags_.undecided == "pass" ? kHolds : flags_.undecided == "fail" ? kViolated : kUndecided;
}

// An undecided verdict has no certificate.
int PieceChecker::write_certificate_of(const InPieces& checked) const {
  if (evidence_ == Evidence::Observed && !flags_.certificate.empty() &&
      checked.verdict.outcome == Outcome::Violated && !checked.certified) {
    print_error(
        fmt::format("ouro: no certificate: {} was not written, as its proof takes a second look at "
                    "the history, "
                    "which standard input does not allow, or was not found there; check the "
                    "history as a whole, "
                    "or the lines around the violation, to have one\n",
                    flags_.certificate));
  }
  if (!checked.certificate) return kHolds;
  const auto status = write_certificate(*checked.certificate, flags_.certificate);
  return status ? kHolds : fail(status.error());
}

}  // namespace

int check_in_pieces(const CheckFlags& flags, Level level, Evidence evidence) {
  const FormPaths& forms = flags.forms;
  for (const std::string* other :
       {&flags.counterexample, &flags.expect, &flags.shows, &flags.lacks, &flags.anomalies,
        &flags.elle.directory, &forms.html, &forms.dot, &forms.junit, &forms.sarif}) {
    if (other->empty()) continue;
    return fail(
        "--stream prints text or JSON and writes certificates, nothing else; leave it out, or the "
        "others");
  }
  if (flags.output != "text" && flags.output != "json") {
    return fail("--stream prints text or JSON; give --output text or json");
  }
  catch_interrupt();
  const Limits limits(flags.time_limit, 0);
  int status = kHolds;
  std::size_t done = 0;
  for (const std::string& path : flags.input.paths) {
    status = worse(status, PieceChecker(flags, level, evidence, limits).check_one(path));
    ++done;
    if (output_closed() || interrupted()) break;
  }
  return done < flags.input.paths.size() ? worse(status, kUndecided) : status;
}

}  // namespace ouro::cli
