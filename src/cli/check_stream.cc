// ouro check --stream: judges histories that are larger than memory, piece by piece.

#include "cli/check_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "cli/command.h"
#include "cli/limits.h"
#include "cli/terminal.h"
#include "ouro/check_pieces.h"

namespace ouro::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Checks one history.
class PieceChecker {
 public:
  // `limits` are those of the whole command.
  PieceChecker(const CheckFlags& flags, Level level, const Limits& limits)
      : flags_(flags), level_(level), limits_(limits) {}

  int check_one(const std::string& path);

 private:
  [[nodiscard]] PiecesOptions options() const;
  int write_certificate_of(const CheckedPieces& checked) const;
  [[nodiscard]] std::size_t examples() const {
    return flags_.examples > 0 ? flags_.examples : flags_.verbose ? 3 : 1;
  }

  const CheckFlags& flags_;
  Level level_;
  const Limits& limits_;
  Clock::time_point start_ = Clock::now();
};

PiecesOptions PieceChecker::options() const {
  PiecesOptions options;
  options.level = level_;
  options.clock_drift = flags_.clock_drift;
  options.time_limit = limits_.time_left();
  if (flags_.memory_limit > 0) {
    options.memory_limit = static_cast<std::size_t>(std::min(flags_.memory_limit, 1e9) * 1e6);
  }
  options.examples = examples();
  options.certificate = !flags_.certificate.empty();
  options.cancelled = &interrupted();
  return options;
}

int PieceChecker::check_one(const std::string& path) {
  const std::string name = display_name(path);
  std::optional<Result<CheckedPieces>> result;
  watched("checking " + name, [&] { result = check_pieces(path, options()); });
  if (!result->ok()) {
    Error error = result->error();
    if (error.file.empty()) error.file = name;
    if (flags_.output == "json" && !flags_.quiet) print(to_json(name, error));
    return fail(error);
  }
  const CheckedPieces& checked = **result;
  const StreamSummary& summary = checked.summary;
  ReportOptions report{.name = name, .colour = stdout_is_terminal()};
  report.whole = {summary.txns + summary.left_out, summary.operations};
  report.check_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const Verdict& verdict = checked.verdict;
  if (!flags_.quiet) {
    const Explanation explanation =
        explain(checked.history, verdict,
                {.examples = examples(),
                 .time_limit = limits_.time_left(),
                 .cancelled = &interrupted(),
                 .of_part = true});
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
int PieceChecker::write_certificate_of(const CheckedPieces& checked) const {
  if (!checked.certificate) return kHolds;
  const auto status = write_certificate(*checked.certificate, flags_.certificate);
  return status ? kHolds : fail(status.error());
}

}  // namespace

int check_in_pieces(const CheckFlags& flags, Level level) {
  const FormPaths& forms = flags.forms;
  for (const std::string* other : {&flags.counterexample, &flags.expect, &flags.shows, &flags.lacks,
                                   &flags.anomalies, &flags.elle.directory, &forms.html, &forms.dot,
                                   &forms.junit, &forms.sarif}) {
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
    status = worse(status, PieceChecker(flags, level, limits).check_one(path));
    ++done;
    if (output_closed() || interrupted()) break;
  }
  return done < flags.input.paths.size() ? worse(status, kUndecided) : status;
}

}  // namespace ouro::cli
