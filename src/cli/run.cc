// ouro run: tests a database. Runs clients on it, records what they see, and judges that.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "cli/check_flags.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/run_folder.h"
#include "cli/terminal.h"
#include "cli/workload_flags.h"

namespace ouro::cli {
namespace {

struct RunFlags {
  RunOptions options;
  WorkloadFlags workload{.options = options.workload};
  CheckFlags check;       // How the history is judged. Its level may be missing, see level_of().
  std::string keep;       // The folder for what is left of a run; empty: a temporary one.
  double seconds = -1;    // Negative: not given.
  double think_time = 0;  // Milliseconds.
  double patience = 10;   // Seconds.
};

constexpr char kRunDetails[] =
    "Runs CLIENTS concurrent clients on the database at URL, each with its own connection, and "
    "records every transaction: what it read and wrote, whether it committed, and when. Then the "
    "history is judged as 'ouro check' does, at LEVEL or else at the level that the database "
    "promises with its settings.\n\n"
    "Without URL the database is RocksDB in a temporary directory. The run ends after SEC seconds "
    "(5, unless a number of transactions is given) or after N transactions, aborted and retried "
    "ones included; Ctrl-C ends it early, and what was recorded is judged.\n\n"
    "With the URL exec:COMMAND the database is reached by a program that speaks a line protocol on "
    "its standard streams. What it does not answer in time, or by nonsense, makes unknown "
    "transactions or an error, never a verdict.\n\n"
    "With --start, SERVER is postgres, postgres-standby, mariadb or galera: a private server is "
    "started from the installed packages, in a temporary directory and out of reach of other "
    "machines, and stopped in any case. Options of the driver may follow: "
    "'galera?nodes=2&isolation=rr'. --nemesis then pauses nodes of it (SIGSTOP), kills and "
    "restarts them, or cuts them off from the others.\n\n"
    "--nemesis-command disturbs any database by a command for /bin/sh, which is run again and "
    "again: with OURO_NEMESIS=strike in its environment, and about a second later with "
    "OURO_NEMESIS=heal, which undoes it. Every strike is healed before the run ends.\n\n"
    "The history is written while the run goes on. If ouro is killed, it is still complete: "
    "transactions whose commit was under way are in it as unknown.\n\n"
    "If the level does not hold, or not all is as expected, a folder is left with everything that "
    "it takes to look again: the history, the report as a page, the certificate, the command with "
    "its seed, and the logs of a server that was started. It is called DIR, which must be new or "
    "empty, or else made where temporary files are.\n\n"
    "A transaction counts as committed only if the database said so; one whose answer was lost is "
    "unknown. Transactions that the database aborts are recorded as aborted and tried again, up to "
    "--retries times, with new values.\n\n"
    "With --evidence timestamps the database's own start and commit timestamps are recorded too, "
    "and the verdict rests on them. If the level holds, the reads alone are asked as well.\n\n"
    "--html writes a page with the verdict, the violations in words and as graphs, and the clients "
    "over time, with what the nemesis did. --junit, --sarif, --dot, --certificate, --expect, "
    "--shows, "
    "--lacks and --undecided are as those of 'ouro check'. Of two verdicts they are about the "
    "last.\n\n"
    "With --serve the transactions also go to an 'ouro serve' at URL while they happen, with their "
    "timestamps; its token is taken from the environment variable OURO_TOKEN. That takes a "
    "database that tells timestamps while it runs: RocksDB, SQLite, WiredTiger, TiDB, CockroachDB, "
    "the simulated store, and PostgreSQL at repeatable read and serializable; MariaDB tells only "
    "after the run.";

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

void summarize(const RunReport& report) {
  print_error(fmt::format("{}: {}\n", report.database, tell(report.end)));
  constexpr std::size_t kReasons = 3;
  std::string reasons;
  for (std::size_t i = 0; i < std::min(kReasons, report.reasons.size()); ++i) {
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ",
                           grouped(report.reasons[i].second), report.reasons[i].first);
  }
  if (!reasons.empty()) print_error(fmt::format("not committed: {}\n", reasons));
  for (const std::string& note : report.notes) print_error(fmt::format("ouro: note: {}\n", note));
}

// Runs the clients and records the history, with a line of progress.
Result<RunReport> record(RunFlags& flags) {
  RunOptions& options = flags.options;
  const bool shows = stderr_is_terminal() && !flags.check.quiet;
  if (shows) {
    options.progress = [](const RunProgress& progress) {
      print_error(fmt::format("\r\033[K{}", tell(progress)));
    };
  }
  options.stop = &interrupted();
  catch_interrupt();
  catch_termination();  // So that servers and temporary files are not left behind.
  auto report = run(options);
  if (shows) print_error("\r\033[K");
  if (interrupted()) forget_interrupt();
  return report;
}

// Whether to check by observation, too, after the level was found to hold by other evidence. On a
// healthy database it holds by both.
bool reads_alone_decide(const RunFlags& flags) {
  const auto level = find_level(*flags.check.level);
  return flags.check.evidence != name(Evidence::Observed) && level && decidable(*level) &&
         !flags.check.json && !flags.options.duplicates;
}

// Finds out what the history is to be checked against: --level, or what --expect is about, or what
// the database claims. If something is wrong with that, complains and returns false.
bool settle_levels(RunFlags& flags) {
  const auto expected = parse_expected(flags.check);
  if (!expected) return false;
  const auto claimed =
      claimed_level(flags.options, flags.check.evidence == "timestamps" ? Evidence::Timestamps
                                                                        : Evidence::Observed);
  if (!claimed.ok()) fail(claimed.error());
  if (!claimed.ok()) return false;
  if (!flags.check.level) {
    flags.check.level = expected->levels.empty() ? std::string(info(*claimed).name)
                                                 : levels_asked(flags.check, *expected);
  }
  return can_check(*flags.check.level, flags.check.evidence);
}

// Sets the options of the run that are not set by flags directly.
void settle_options(RunFlags& flags) {
  RunOptions& options = flags.options;
  options.evidence = flags.check.evidence != "observed" || !options.serve.empty();
  options.timestamps = flags.check.evidence == "timestamps";
  if (const char* token = std::getenv("OURO_TOKEN"); token != nullptr) options.serve_token = token;
  options.seconds = flags.seconds >= 0 ? flags.seconds : options.txns > 0 ? 0 : 5;
  options.patience = milliseconds(flags.patience);
  options.think_time =
      std::chrono::microseconds(static_cast<std::int64_t>(std::min(flags.think_time, 1e9) * 1000));
}

// Judges what was recorded. Returns an exit status.
int judge(RunFlags& flags) {
  const int status = run_check(flags.check);
  if (status != kHolds || !reads_alone_decide(flags)) return status;
  flags.check.evidence = name(Evidence::Observed);
  return run_check(flags.check);
}

// What is worth knowing about a run later.
std::string about(const RunFlags& flags, const RunReport& report) {
  std::string out =
      fmt::format("ouro {}\ndatabase {}\nworkload {}\nseed {}\nlevel {}\nevidence {}\n", version(),
                  report.database, flags.workload.workload, flags.options.workload.seed,
                  *flags.check.level, flags.check.evidence);
  for (const std::string& note : report.notes) out += fmt::format("note {}\n", note);
  return out;
}

// Reports a run that came to nothing, also in the files that other programs read: an old one there
// would look like its result.
int refuse_run(const CheckFlags& check, const Error& error) {
  FormFiles forms(check.forms);
  forms.add("ouro run", error);
  return worse(fail(error), forms.write());
}

int run_run(RunFlags& flags) {
  RunOptions& options = flags.options;
  CheckFlags& check = flags.check;
  if (const auto what = apply(flags.workload)) return fail(*what);
  settle_options(flags);
  if (!settle_levels(flags)) return kBadInput;
  RunFolder folder;
  if (auto made = folder.make(flags.keep); !made) return fail(made.error());
  const bool named = !options.history.empty();
  if (!named) options.history = folder.history();
  options.server_logs = folder.path();
  const auto report = record(flags);
  if (!report.ok()) return refuse_run(check, report.error());
  check.forms.kept_html = folder.report();
  check.kept_certificate = folder.certificate();
  if (!check.quiet) summarize(*report);
  check.input.paths = {options.history};
  check.title = named ? options.history : report->database;
  const int status = judge(flags);
  if (status == kHolds) return status;
  if (auto kept = folder.keep(options.history, about(flags, *report)); !kept) fail(kept.error());
  print_error(fmt::format("history, report and command are in {}\n", folder.path()));
  return status;
}

void add_flags(CLI::App& app, RunFlags& flags) {
  RunOptions& options = flags.options;
  options.workload.sessions = 8;
  app.add_option("URL", options.url, "the database [RocksDB in a temporary directory]")
      ->type_name("URL");
  app.add_option("--start", options.start, "a private server to start instead, e.g. postgres")
      ->type_name("SERVER");
  app.add_option("--isolation", options.isolation, "which of the database's [its strongest]")
      ->type_name("NAME")
      ->group(kMinor);
  app.add_option("--patience", flags.patience, "how long an answer may take [10]")
      ->type_name("SEC")
      ->check(number_at_least_zero())
      ->group(kMinor);
  app.add_option("--nemesis", options.nemesis, "what is done to it: pause, kill, cut")
      ->type_name("KIND,...")
      ->delimiter(',')
      ->group(kMinor);
  app.add_option("--nemesis-command", options.nemesis_command,
                 "what else is done, by the shell; see 'ouro man'")
      ->type_name("COMMAND")
      ->group(kMinor);
  app.add_option("-l,--level", flags.check.level, "level to check [what the database claims]")
      ->type_name("LEVEL");
  app.add_option("--evidence", flags.check.evidence, "what the verdict rests on [observed]")
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
  app.add_option("--keep", flags.keep, "where to leave what a violated run leaves")
      ->type_name("DIR")
      ->group(kMinor);
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
  app.add_option("-t,--time-limit", flags.check.time_limit, "give up checking after SEC [0: never]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  declare_forms(app, flags.check, kMinor);
  declare_expected(app, flags.check, kMinor);
  app.add_flag("--json", flags.check.json, "print the verdict as JSON");
  app.add_flag("-q,--quiet", flags.check.quiet, "print nothing, only set the exit status");
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
