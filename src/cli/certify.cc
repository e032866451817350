// ouro certify: checks the proof of a verdict.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct CertifyFlags {
  std::string history;
  std::string certificate;
  std::string format;
};

constexpr char kCertifyDetails[] =
    "Checks that CERTIFICATE, written by 'ouro check --certificate', proves what it claims about "
    "HISTORY. It reads the history itself and shares no code with what decides levels, so a "
    "mistake "
    "there does not go unnoticed here. A certificate that is accepted is printed with its claim, "
    "one that is rejected with the first thing that is wrong.\n\n"
    "A certificate of 'ouro check --stream' without timestamps is checked piece by piece, in "
    "memory for one segment and for each key.\n\n"
    "It takes time linear in the history and the certificate; for orders at read-committed and "
    "read-atomic O(n^1.5), at causal O(n) for each session.";

// "session-si holds; 120 transactions, 960 operations", with the clock drift if there is one and
// with what a level that holds leaves out.
std::string claim(const History& history, const Certificate& certificate) {
  const Verdict& verdict = certificate.verdict;
  std::string text = fmt::format(
      "{} {}{}; {} transactions, {} operations", info(verdict.level).name,
      verdict.outcome == Outcome::Holds ? "holds" : "is violated",
      verdict.evidence == Evidence::Observed ? std::string()
                                             : fmt::format(" by {}", name(verdict.evidence)),
      certificate.txns, certificate.ops);
  if (certificate.clock_drift != 0) {
    text += fmt::format(", clock drift {}", certificate.clock_drift);
  }
  if (verdict.outcome == Outcome::Holds) {
    const std::string left = describe(left_out(history, verdict.level, verdict.evidence));
    if (!left.empty()) text += "; left out: " + left;
  }
  return text;
}

// The certificate of a history that was checked in segments.
int certify_in_segments(const CertifyFlags& flags) {
  const auto checked = certify_segments(flags.history, flags.certificate);
  if (!checked.ok()) return fail(checked.error());
  const SegmentsClaim& claim = checked->claim;
  if (!checked->accepted) {
    print(fmt::format("rejected: {}\n", checked->reason));
    return kViolated;
  }
  const std::string drift =
      claim.clock_drift == 0 ? "" : fmt::format(", clock drift {}", claim.clock_drift);
  print(fmt::format("accepted: {} holds; {} transactions, {} operations, {} segments{}\n",
                    info(claim.level).name, claim.txns, claim.ops, claim.segments, drift));
  return kHolds;
}

int run_certify(const CertifyFlags& flags) {
  const auto format = parse_format(flags.format);
  if (!format) return kBadInput;
  // What comes through a pipe can be looked at only once.
  std::error_code ignored;
  if (std::filesystem::is_regular_file(flags.certificate, ignored)) {
    const auto segments = is_of_segments(flags.certificate);
    if (!segments.ok()) return fail(segments.error());
    if (*segments) return certify_in_segments(flags);
  }
  const auto history = read_history(flags.history, {.format = *format});
  if (!history.ok()) return fail(history.error());
  const auto certificate = read_certificate(flags.certificate);
  if (!certificate.ok()) return fail(certificate.error());
  const auto checked = certify(*history, *certificate);
  if (!checked.ok()) return fail(checked.error());
  print(checked->accepted ? fmt::format("accepted: {}\n", claim(*history, *certificate))
                          : fmt::format("rejected: {}\n", checked->reason));
  return checked->accepted ? kHolds : kViolated;
}

}  // namespace

void add_certify(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<CertifyFlags>();
  CLI::App* app = root.add_subcommand("certify", "check the proof of a verdict");
  app->add_option("-f,--format", flags->format, "format of the history [detected]")
      ->type_name("FORMAT");
  app->add_option("HISTORY", flags->history, "file, folder or - for standard input")->required();
  app->add_option("CERTIFICATE", flags->certificate, "what 'ouro check --certificate' wrote")
      ->required();
  app->footer("Exit status: 0 accepted, 1 rejected, 254 bad input or usage.");
  commands.push_back({app, [flags] { return run_certify(*flags); }, kCertifyDetails});
}

}  // namespace ouro::cli
