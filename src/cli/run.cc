// ouro run: tests a database. Runs clients on it, records what they see, and judges that.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "cli/workload_flags.h"

namespace ouro::cli {
namespace {

struct RunFlags {
  RunOptions options;
  WorkloadFlags workload{.options = options.workload};
  std::string level;  // Empty: the level that the database claims to give.
  std::string evidence = "observed";
  std::string html;
  double seconds = -1;    // Negative: not given.
  double think_time = 0;  // Milliseconds.
  double time_limit = 0;  // Of the check, in seconds; zero: none.
  bool json = false;
  bool quiet = false;
};

constexpr char kRunDetails[] =
    "Runs CLIENTS concurrent clients on the database at URL, each with its own connection, and "
    "records every transaction: what it read and wrote, whether it committed, and when. Then the "
    "history is judged as 'ouro check' does, at LEVEL or else at the level that the database "
    "promises with its settings.\n\n"
    "Without URL the database is RocksDB in a temporary directory. The run ends after SEC seconds "
    "(5, unless a number of transactions is given) or after N transactions, aborted and retried "
    "ones included; Ctrl-C ends it early, and what was recorded is judged.\n\n"
    "With --start, SERVER is postgres, postgres-standby, mariadb or galera: a private server is "
    "started from the installed packages, in a temporary directory and out of reach of other "
    "machines, and stopped in any case. Options of the driver may follow: "
    "'galera?nodes=2&isolation=rr'. --nemesis then pauses nodes of it (SIGSTOP), kills and "
    "restarts them, or cuts them off from the others.\n\n"
    "The history is written while the run goes on. If ouro is killed, it is still complete: "
    "transactions whose commit was under way are in it as unknown. Without --output it is written "
    "to a temporary file, which is kept only if the level does not hold.\n\n"
    "A transaction counts as committed only if the database said so; one whose answer was lost is "
    "unknown. Transactions that the database aborts are recorded as aborted and tried again, up to "
    "--retries times, with new values.\n\n"
    "With --evidence timestamps the database's own start and commit timestamps are recorded too, "
    "and the verdict rests on them. If the level holds, the reads alone are asked as well.\n\n"
    "--html writes a page with the verdict, the violations in words and as graphs, and the clients "
    "over time, with what the nemesis did. Of two verdicts it is about the last.\n\n"
    "With --serve the transactions also go to an 'ouro serve' at URL while they happen, with their "
    "timestamps; its token is taken from the environment variable OURO_TOKEN. That takes a "
    "database "
    "that tells timestamps at once: RocksDB, SQLite, WiredTiger, TiDB, CockroachDB and the "
    "simulated "
    "store do; PostgreSQL and MariaDB tell only after the run.";

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string tell(const RunProgress& progress) {
  const double rate =
      progress.seconds > 0 ? static_cast<double>(progress.committed) / progress.seconds : 0;
  std::string text = fmt::format(
      "{:.1f} s, {} committed ({}/s), {} aborted", progress.seconds, grouped(progress.committed),
      grouped(static_cast<std::uint64_t>(rate)), grouped(progress.aborted));
  if (progress.unknown > 0) text += fmt::format(", {} unknown", grouped(progress.unknown));
  return text;
}

// A temporary file for the history if no file was named. The destructor removes it, unless keep()
// was called.
class TemporaryHistory {
 public:
  ~TemporaryHistory() {
    std::error_code ignored;
    if (!path_.empty() && !kept_) std::filesystem::remove(path_, ignored);
  }
  Status make() {
    const char* base = std::getenv("TMPDIR");
    std::string name = base != nullptr && *base != '\0' ? base : "/tmp";
    name += "/ouro-run-XXXXXX.jsonl";
    const int file = ::mkstemps(name.data(), 6);
    if (file < 0) {
      Error error;
      error.file = name;
      error.what = std::string("cannot make a temporary file: ") + std::strerror(errno);
      return error;
    }
    ::close(file);
    path_ = name;
    return {};
  }
  void keep() { kept_ = true; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool kept_ = false;
};

void summarize(const RunReport& report) {
  fmt::print(stderr, "{}: {}\n", report.database, tell(report.end));
  constexpr std::size_t kReasons = 3;
  std::string reasons;
  for (std::size_t i = 0; i < std::min(kReasons, report.reasons.size()); ++i) {
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ",
                           grouped(report.reasons[i].second), report.reasons[i].first);
  }
  if (!reasons.empty()) fmt::print(stderr, "not committed: {}\n", reasons);
  for (const std::string& note : report.notes) fmt::print(stderr, "ouro: note: {}\n", note);
}

// Runs the clients and records the history, with a line of progress.
Result<RunReport> record(RunFlags& flags) {
  RunOptions& options = flags.options;
  const bool shows = stderr_is_terminal() && !flags.quiet;
  if (shows) {
    options.progress = [](const RunProgress& progress) {
      fmt::print(stderr, "\r\033[K{}", tell(progress));
      std::fflush(stderr);
    };
  }
  options.stop = &interrupted();
  catch_interrupt();
  catch_termination();  // So that servers and temporary files are not left behind.
  auto report = run(options);
  if (shows) std::fputs("\r\033[K", stderr);
  if (interrupted()) forget_interrupt();
  return report;
}

// Whether to check by observation, too, after the level was found to hold by other evidence. On a
// healthy database it holds by both.
bool reads_alone_decide(const RunFlags& flags, const std::string& level) {
  const auto one = find_level(level);
  return flags.evidence != name(Evidence::Observed) && one && decidable(*one) && !flags.json &&
         !flags.options.duplicates;
}

int run_run(RunFlags& flags) {
  RunOptions& options = flags.options;
  if (const auto what = apply(flags.workload)) return fail(*what);
  const auto claimed = claimed_level(
      options, flags.evidence == "timestamps" ? Evidence::Timestamps : Evidence::Observed);
  if (!claimed.ok()) return fail(claimed.error());
  const std::string level(flags.level.empty() ? info(*claimed).name : flags.level);
  if (!can_check(level, flags.evidence)) return kBadInput;
  options.evidence = flags.evidence != "observed" || !options.serve.empty();
  if (const char* token = std::getenv("OURO_TOKEN"); token != nullptr) options.serve_token = token;
  options.seconds = flags.seconds >= 0 ? flags.seconds : options.txns > 0 ? 0 : 5;
  options.think_time =
      std::chrono::microseconds(static_cast<std::int64_t>(std::min(flags.think_time, 1e9) * 1000));
  TemporaryHistory temporary;
  const bool named = !options.history.empty();
  if (!named) {
    if (auto made = temporary.make(); !made) return fail(made.error());
    options.history = temporary.path();
  }
  const auto report = record(flags);
  if (!report.ok()) return fail(report.error());
  if (!flags.quiet) summarize(*report);
  RecordedHistory recorded{.path = options.history,
                           .title = named ? options.history : report->database,
                           .level = level,
                           .evidence = flags.evidence,
                           .html = flags.html,
                           .json = flags.json,
                           .quiet = flags.quiet,
                           .time_limit = flags.time_limit};
  int status = check_recorded(recorded);
  if (status == kHolds && reads_alone_decide(flags, level)) {
    recorded.evidence = name(Evidence::Observed);
    status = check_recorded(recorded);
  }
  if (!named && status != kHolds) {
    temporary.keep();
    fmt::print(stderr, "the history is in {}\n", temporary.path());
  }
  return status;
}

void add_flags(CLI::App& app, RunFlags& flags) {
  RunOptions& options = flags.options;
  options.workload.sessions = 8;
  app.add_option("URL", options.url, "the database [RocksDB in a temporary directory]")
      ->type_name("URL");
  app.add_option("--start", options.start, "a private server to start instead, e.g. postgres")
      ->type_name("SERVER");
  app.add_option("--nemesis", options.nemesis, "what is done to it: pause, kill, cut")
      ->type_name("KIND,...")
      ->delimiter(',')
      ->group(kMinor);
  app.add_option("-l,--level", flags.level, "level to check [what the database claims]")
      ->type_name("LEVEL");
  app.add_option("--evidence", flags.evidence, "what the verdict rests on [observed]")
      ->type_name("KIND");
  app.add_option("-c,--clients", options.workload.sessions, "concurrent clients [8]")
      ->type_name("N")
      ->check(whole_number());
  app.add_option("-s,--seconds", flags.seconds, "how long to run [5]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app.add_option("-n,--transactions", options.txns, "stop after so many")
      ->type_name("N")
      ->check(whole_number());
  app.add_option("-o,--output", options.history, "keep the history [only if violated]")
      ->type_name("FILE");
  add_workload_flags(app, flags.workload, Detail::Short);
  app.add_option("--serve", options.serve, "feed a service, see 'ouro serve'")
      ->type_name("URL")
      ->group(kMinor);
  app.add_option("--rate", options.rate, "transactions per second [as many as possible]")
      ->type_name("X")
      ->check(number_at_least_zero())
      ->group(kMinor);
  app.add_option("--think-time", flags.think_time, "pause between transactions [0]")
      ->type_name("MS")
      ->check(number_at_least_zero())
      ->group(kMinor);
  app.add_option("--retries", options.retries, "of aborted transactions [3]")
      ->type_name("N")
      ->check(whole_number())
      ->group(kMinor);
  app.add_flag("--duplicates", options.duplicates, "write values that repeat")->group(kMinor);
  app.add_option("-t,--time-limit", flags.time_limit, "give up checking after SEC [0: never]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app.add_option("--html", flags.html, "write a page that tells and draws everything")
      ->type_name("FILE");
  app.add_flag("--json", flags.json, "print the verdict as JSON");
  app.add_flag("-q,--quiet", flags.quiet, "print nothing, only set the exit status");
}

}  // namespace

void add_run(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* app = root.add_subcommand("run", "test a database: run clients on it and check");
  add_flags(*app, *flags);
  app->footer(
      "Exit status: 0 holds, 1 violated, 2 undecided, 254 bad input or usage,\n"
      "255 internal error. 'ouro man' lists workloads and databases.");
  std::string known = "Databases:";
  for (const DatabaseInfo& database : databases()) {
    known += fmt::format("{} {}", known.ends_with(':') ? "" : ";", database.description);
  }
  commands.push_back({app, [flags] { return run_run(*flags); },
                      std::string(kRunDetails) + "\n\n" + known + ".\n\n" +
                          workload_details([](const WorkloadInfo&) { return true; })});
}

}  // namespace ouro::cli
