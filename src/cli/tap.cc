// ouro tap: watches a PostgreSQL database with an application that nobody changed.

#include "ouro/tap.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "cli/check_flags.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/run_folder.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct TapFlags {
  TapOptions options;
  CheckFlags check;  // How the history is judged. Its level may be missing.
  std::string evidence;
  double seconds = 0;    // Zero: until it is interrupted.
  double patience = 10;  // Seconds.
  std::string initial;   // "unknown", which it is without --load.
};

constexpr char kTapDetails[] =
    "Clients connect to the tap as if it were the server, with any driver, and it passes on what "
    "they and the server at URL say to each other. Meanwhile it records what their transactions "
    "read and wrote. Writes come from the server's log, so those of clients that do not go through "
    "the tap are seen, too. When it is interrupted (Ctrl-C, SIGTERM) or SEC seconds are over, the "
    "history is judged as 'ouro check' does; with --output it is kept.\n\n"
    "The server must be PostgreSQL 13 or later, no standby, with wal_level = logical, and the user "
    "of URL needs the attribute REPLICATION. A temporary replication slot is made, which the "
    "server drops when the tap ends, however it ends. Between clients and the tap there is no TLS, "
    "nor between the tap and the server.\n\n"
    "Without --level it is asked whether PostgreSQL kept its promise to the weakest of the "
    "transactions: read-committed, si, or serializable. To ask whether an application that runs at "
    "read committed was serializable, say --level serializable. The SQL of the transactions that "
    "were not is printed.\n\n"
    "What a row held before its first change is what its first reader saw; where that is not "
    "certain the read is not judged. With --load tables it is known: all tables that can be judged "
    "are read before clients can connect, by the snapshot with which the log begins; --load NAME,… "
    "reads these. Then it is also judged whether a SELECT returned all rows that meet its WHERE, "
    "if that is about one column.\n\n"
    "Exact start timestamps come from the snapshots of transactions, which the tap asks for by a "
    "statement of its own in front of each COMMIT; see {} for what is judged and what is not.\n\n"
    "With --serve the transactions go to an 'ouro serve' at HTTP while they happen; its token is "
    "taken from the environment variable OURO_TOKEN. Then nothing is judged here, unless --output "
    "is given, too; the exit status is 2 if the service could not be told everything, or something "
    "happened after which nothing can be concluded. Its events name transactions by ids; with "
    "--statements the SQL of each is in a file, by the same ids.";

// Records until it is interrupted or the time is over.
Result<TapReport> record(TapFlags& flags) {
  static std::atomic<bool> over{false};
  flags.options.stop = &over;
  flags.options.ready = [&](const std::string& at) {
    if (!flags.check.quiet) print_error(fmt::format("ouro: tap: listening at {}\n", at));
  };
  flags.options.notice = [](const std::string& what) {
    print_error(fmt::format("ouro: tap: {}\n", what));
  };
  catch_interrupt();
  catch_termination();
  std::atomic<bool> done{false};
  std::thread watch([&] {
    const auto end = std::chrono::steady_clock::now() + milliseconds(flags.seconds);
    while (!done && !interrupted() &&
           (flags.seconds <= 0 || std::chrono::steady_clock::now() < end)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    over = true;
  });
  auto report = tap(flags.options);
  done = true;
  watch.join();
  if (interrupted()) forget_interrupt();
  return report;
}

// Sets level and evidence as far as they were not given. If something is wrong with them, complains
// and returns false.
bool settle_question(TapFlags& flags, const TapReport& report) {
  const TapQuestion question = promised(report);
  CheckFlags& check = flags.check;
  Evidence evidence = question.evidence;
  if (check.level) {
    const auto level = find_level(*check.level);
    evidence = level ? evidence_for(report, *level) : Evidence::Versions;
  } else {
    check.level = std::string(info(question.level).name);
  }
  check.evidence = flags.evidence.empty() ? std::string(name(evidence)) : flags.evidence;
  return can_check(*check.level, check.evidence);
}

// Judges what was recorded. Returns an exit status.
int judge(TapFlags& flags, const TapReport& report, RunFolder& folder) {
  CheckFlags& check = flags.check;
  if (!report.spoiled.empty()) {
    print_error("ouro: nothing can be concluded from what was recorded: undecided\n");
    return kUndecided;
  }
  if (report.txns == 0) {
    return fail("no transaction was recorded; did the application connect to the tap?");
  }
  if (!settle_question(flags, report)) return kBadInput;
  check.input.paths = {flags.options.history};
  check.title = report.server;
  if (check.counterexample.empty()) check.counterexample = folder.path() + "/counterexample.jsonl";
  const int status = run_check(check);
  if (status == kViolated && !check.quiet) {
    print(describe_statements(flags.options.statements, check.counterexample));
  }
  return status;
}

int run_tap(TapFlags& flags) {
  TapOptions& options = flags.options;
  if (const char* token = std::getenv("OURO_TOKEN"); token != nullptr) options.serve_token = token;
  options.patience = milliseconds(flags.patience);
  const bool judges = !options.copy_only && (options.serve.empty() || !options.history.empty());
  if (flags.check.level && !can_check(*flags.check.level, "versions")) return kBadInput;
  RunFolder folder;
  if (auto made = folder.make(""); !made) return fail(made.error());
  const bool named = !options.history.empty();
  if (!named && judges) options.history = folder.history();
  if (judges && options.statements.empty()) options.statements = options.history + ".sql";
  const auto report = record(flags);
  if (!report.ok()) return fail(report.error());
  if (!flags.check.quiet && !options.copy_only) print_error(describe(*report));
  const bool incomplete = !report->spoiled.empty() || !report->unsent.empty();
  if (!judges) return incomplete ? kUndecided : kHolds;
  int status = judge(flags, *report, folder);
  if (status == kHolds && incomplete) status = kUndecided;
  if (status != kViolated || named) return status;
  if (auto kept = folder.keep(options.history, describe(*report)); !kept) fail(kept.error());
  print_error(fmt::format("the history is in {}\n", folder.path()));
  return status;
}

}  // namespace

void add_tap(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<TapFlags>();
  TapOptions& options = flags->options;
  CLI::App* app = root.add_subcommand("tap", "watch PostgreSQL with an application");
  app->add_option("URL", options.url, "the server: postgres://USER@HOST/DATABASE")
      ->type_name("URL")
      ->required();
  app->add_option("--listen", options.listen, "where clients connect [127.0.0.1:6432]")
      ->type_name("HOST:PORT");
  app->add_option("-l,--level", flags->check.level, "level to check [what PostgreSQL promises]")
      ->type_name("LEVEL");
  app->add_option("--evidence", flags->evidence, "what the verdict rests on [what fits]")
      ->type_name("KIND")
      ->group(kMinor);
  app->add_option("-s,--seconds", flags->seconds, "how long to watch [until Ctrl-C]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app->add_option("-o,--output", options.history, "keep the history [only if violated]")
      ->type_name("FILE");
  app->add_option("--statements", options.statements, "keep the SQL of each transaction, by its id")
      ->type_name("FILE")
      ->group(kMinor);
  app->add_option("--serve", options.serve, "feed a service, see 'ouro serve'")->type_name("HTTP");
  auto* const load = app->add_option("--load", options.load,
                                     "read at first what is in 'tables', or in those named")
                         ->type_name("TABLES");
  app->add_option("--initial", flags->initial, "what rows held at first: unknown, unless --load")
      ->type_name("unknown")
      ->check([](const std::string& text) {
        return text == "unknown" ? std::string() : "say 'unknown', or --load instead";
      })
      ->excludes(load)
      ->group(kMinor);
  app->add_option("--patience", flags->patience, "longer transactions are not judged [10]")
      ->type_name("SEC")
      ->check(number_at_least_zero())
      ->group(kMinor);
  app->add_flag("--copy-only", options.copy_only, "record nothing, to compare the speed")
      ->group(kMinor);
  app->add_option("-t,--time-limit", flags->check.time_limit,
                  "give up checking after SEC [0: never]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  declare_forms(*app, flags->check, kMinor);
  declare_expected(*app, flags->check, kMinor);
  app->add_flag("--json", flags->check.json, "print the verdict as JSON");
  app->add_flag("-q,--quiet", flags->check.quiet, "print nothing, only set the exit status");
  app->footer(
      "Exit status: 0 holds, 1 violated, 2 undecided, 254 bad input or usage,\n"
      "255 internal error.");
  commands.push_back({app, [flags] { return run_tap(*flags); },
                      fmt::format(kTapDetails, document_address("tap.md"))});
}

}  // namespace ouro::cli
