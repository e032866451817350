#include "ouro/run.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "db/has_logs.h"
#include "db/registry.h"
#include "db/server.h"
#include "run/annotate.h"
#include "run/feeder.h"
#include "run/history_file.h"
#include "run/nemesis.h"
#include "run/opened.h"
#include "run/runner.h"
#include "run/sim_database.h"
#include "workload/options.h"

namespace ouro {
namespace {

using running::Annotation;
using running::Feeder;
using running::HistoryFile;
using running::Nemesis;
using running::NemesisOptions;
using running::Opened;
using running::Runner;
using running::SimDatabase;
using running::Transcript;

// Slots of the history file besides those of the clients: the loader's, then the PlayRecorder's.
constexpr std::size_t kExtraSlots = 2;

Error complain(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

Result<Opened> open(std::string_view text, const RunOptions& options) {
  return running::open(text, {.isolation = options.isolation,
                              .patience = options.patience,
                              .seed = options.workload.seed});
}

// Opens the database, after starting its server if one is asked for.
Result<Opened> start_and_open(const RunOptions& options) {
  if (options.start.empty()) return open(options.url, options);
  if (!options.url.empty()) return complain("either a URL or a server to start, not both");
  auto request = db::parse_start(options.start);
  if (!request.ok()) return request.error();
  request->options.cancelled = options.stop;
  auto server = db::start_server(request->kind, request->options);
  if (!server.ok()) return server.error();
  auto opened = open(db::url_of(**server, request->url_options), options);
  if (opened.ok()) opened->server = *std::move(server);
  return opened;
}

// Copies what the server that was started, or programs of the driver, have logged; says so in the
// report if it cannot.
void copy_logs(const Opened& opened, const RunOptions& options, RunReport& report) {
  std::vector<db::ServerLog> logs;
  if (opened.server) logs = opened.server->logs();
  if (const auto* driver = dynamic_cast<const db::HasLogs*>(&opened.database())) {
    for (db::ServerLog& log : driver->logs()) logs.push_back(std::move(log));
  }
  for (const db::ServerLog& log : logs) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::path(options.server_logs) / log.name;
    std::filesystem::copy_file(log.path, target, error);
    if (!error) continue;
    report.notes.push_back(fmt::format("{}: cannot copy the log: {}", log.name, error.message()));
  }
}

Result<std::vector<running::Trouble>> troubles_of(const RunOptions& options) {
  if (!options.nemesis.empty() && options.start.empty()) {
    return complain("a nemesis needs a server of its own; use --start");
  }
  std::vector<running::Trouble> troubles;
  for (const std::string& name : options.nemesis) {
    const auto trouble = running::parse_trouble(name);
    if (!trouble.ok()) return trouble.error();
    troubles.push_back(*trouble);
  }
  if (!options.nemesis_command.empty()) troubles.push_back(running::Trouble::Command);
  return troubles;
}

Status check_features(const WorkloadInfo& workload, const db::Database& database) {
  const db::Features features = database.features();
  const char* missing = workload.lists && !features.lists ? "lists"
                        : workload.rows && !(features.rows && features.row_changes)
                            ? "rows and predicates"
                        : workload.scans && !features.scans ? "range queries"
                                                            : nullptr;
  if (missing == nullptr) return {};
  return complain(fmt::format("{} has no {}, which workload {} needs; choose another workload",
                              database.description(), missing, workload.name));
}

// Whether the database tells what the verdict is to rest on. What a server tells is known for
// certain only once it is prepared.
Status check_evidence(const RunOptions& options, const db::Database& database) {
  const db::Features features = database.features();
  if (options.evidence && !features.timestamps && !features.versions) {
    return complain(
        fmt::format("{} gives no evidence; leave --evidence out", database.description()));
  }
  if (options.timestamps && !features.timestamps) {
    return complain(
        fmt::format("{} gives no timestamps; {}", database.description(),
                    features.versions ? "use --evidence versions" : "leave --evidence out"));
  }
  if (options.serve.empty()) return {};
  if (!options.evidence) return complain("a service needs evidence");
  if (features.timestamps && features.live) return {};
  return complain(fmt::format(
      "{} tells no timestamps while it runs, so it cannot feed a service; record a history with "
      "--evidence and check that",
      database.description()));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string header(const RunOptions& options, const db::Database& database) {
  return fmt::format(
      "{{\"ouro\":1,\"info\":{{\"database\":\"{}\",\"claims\":\"{}\",\"workload\":\"{}\","
      "\"seed\":\"{}\",\"clients\":\"{}\",\"clock\":\"nanoseconds\"}}}}\n",
      escaped(database.description()), info(database.claims()).name,
      info(options.workload.workload).name, options.workload.seed, options.workload.sessions);
}

// Records the transactions of the simulated store's own sessions, which play faults.
class PlayRecorder {
 public:
  PlayRecorder(HistoryFile& file, Feeder* feeder, const Runner& runner, std::size_t slot,
               bool evidence)
      : file_(file), feeder_(feeder), runner_(runner), slot_(slot), evidence_(evidence) {}

  void begun(std::uint32_t actor) { invoked_[actor] = runner_.now(); }

  void ended(const SimDatabase::Performed& performed) {
    transcript_.clear();
    for (const SimDatabase::Performed::Operation& op : performed.operations) {
      if (op.kind == OpKind::Write) {
        transcript_.write(op.key, *op.number);
      } else if (op.kind == OpKind::Append) {
        transcript_.append(op.key, *op.number);
      } else if (op.kind == OpKind::Scan) {
        transcript_.scan(op.key, op.key, {});
      } else if (!op.elements.empty()) {
        transcript_.read_list(op.key, op.elements);
      } else {
        transcript_.read(op.key, op.number);
      }
    }
    const std::string name = fmt::format("fault {}", performed.actor);
    transcript_.format({.session_name = name,
                        .status = performed.committed ? TxnStatus::Committed : TxnStatus::Aborted,
                        .invoked = invoked_[performed.actor],
                        .completed = runner_.now(),
                        .start = evidence_ ? performed.start : kNoTimestamp,
                        .commit = evidence_ ? performed.commit : kNoTimestamp},
                       line_);
    file_.add(slot_, line_);
    if (feeder_ != nullptr) feeder_->add(line_, 0);
  }

 private:
  HistoryFile& file_;
  Feeder* feeder_;
  const Runner& runner_;
  std::size_t slot_;
  bool evidence_;
  std::array<std::int64_t, 16> invoked_{};  // By actor; the simulated store has fewer.
  Transcript transcript_;
  std::string line_;
};

// One run, from an open database to a report.
class Run {
 public:
  Run(const RunOptions& options, const Opened& opened, std::vector<running::Trouble> troubles)
      : options_(options),
        opened_(opened),
        database_(opened.database()),
        troubles_(std::move(troubles)) {}

  Result<RunReport> go() {
    const std::uint32_t clients = options_.workload.sessions;
    auto file = HistoryFile::create(options_.history, clients + kExtraSlots);
    if (!file.ok()) return file.error();
    if (auto fed = connect_feeder(); !fed) return fed.error();
    Runner runner(options_, database_, **file, feeder_.get());
    PlayRecorder plays(**file, feeder_.get(), runner, clients + 1, options_.evidence);
    if (opened_.simulated) {
      opened_.simulated->set_witness(
          {.begun = [&](std::uint32_t actor) { plays.begun(actor); },
           .ended = [&](const SimDatabase::Performed& done) { plays.ended(done); }});
    }
    Status status = database_.prepare(schema());
    const bool prepared = status.ok();
    if (prepared) status = check_evidence(options_, database_);
    const bool able = status.ok();
    // The header has the version of the database, which is known only after prepare().
    (*file)->add(clients, header(options_, database_));
    if (status && feeder_) feeder_->start(database_);
    if (status) status = runner.load();
    if (status) status = run_disturbed(runner);
    report_.end = runner.progress();
    if (prepared) finish_feeding();
    if (auto closed = (*file)->close(); status && !closed) status = closed;
    if (status) status = add_evidence(runner.open_lines());
    if (status && report_.end.committed == 0) status = nothing_committed(runner);
    if (auto finished = database_.finish(); !finished) {
      report_.notes.push_back(finished.error().to_string());
    }
    if (!prepared || !able) remove_history();
    if (!status) return status.error();
    report_.database = database_.description();
    report_.claims = database_.claims();
    report_.retried = runner.retried();
    report_.reasons = runner.reasons();
    return report_;
  }

 private:
  [[nodiscard]] db::Schema schema() const {
    const WorkloadInfo& workload = info(options_.workload.workload);
    return {.model = workload.lists  ? db::Model::Lists
                     : workload.rows ? db::Model::Rows
                                     : db::Model::Registers,
            .keys = options_.workload.keys,
            .clients = options_.workload.sessions,
            .evidence = options_.evidence,
            .live = !options_.serve.empty(),
            .patience = options_.patience,
            .stop = options_.stop};
  }

  Status connect_feeder() {
    if (options_.serve.empty()) return {};
    auto feeder = Feeder::connect({.url = options_.serve, .token = options_.serve_token});
    if (!feeder.ok()) return feeder.error();
    feeder_ = *std::move(feeder);
    return {};
  }

  void finish_feeding() {
    if (!feeder_) return;
    const auto taken = feeder_->finish();
    report_.notes.push_back(taken.ok()
                                ? fmt::format("{} took {} transactions", options_.serve, *taken)
                                : "not everything was fed: " + taken.error().to_string());
  }

  // A history without commits holds at every level, which says nothing about the database.
  [[nodiscard]] Error nothing_committed(const Runner& runner) const {
    const auto reasons = runner.reasons();
    return complain(fmt::format("{}: no transaction committed, so nothing was tested: {}",
                                database_.description(),
                                reasons.empty() ? "no answers came" : reasons.front().first));
  }

  // Runs the clients, and the nemesis if one is asked for.
  Status run_disturbed(Runner& runner) {
    if (troubles_.empty()) return runner.run();
    Nemesis nemesis(opened_.server.get(),
                    {.troubles = troubles_,
                     .seed = options_.workload.seed,
                     .command = options_.nemesis_command},
                    [&] { return runner.now(); });
    Status status = runner.run();
    const Status healed = nemesis.end();
    nemesis_ = nemesis.events();
    report_.notes.push_back(fmt::format("the nemesis struck {} time{}", nemesis.trouble_count(),
                                        nemesis.trouble_count() == 1 ? "" : "s"));
    return status ? healed : status;
  }

  void remove_history() const {
    std::error_code ignored;
    std::filesystem::remove(options_.history, ignored);
  }

  Status add_evidence(std::vector<running::OpenLine>& lines) {
    db::Recovered recovered;
    if (options_.evidence) {
      report_.timestamps = database_.features().timestamps;
      std::vector<std::uint64_t> tokens;
      for (const running::OpenLine& line : lines) tokens.push_back(line.token);
      auto told = database_.recover(tokens);
      if (!told.ok()) return told.error();
      recovered = *std::move(told);
      for (const std::string& note : recovered.notes) report_.notes.push_back(note);
    }
    if (lines.empty() && recovered.orders.empty() && nemesis_.empty()) return {};
    const std::vector<Annotation> changes = running::annotations(lines, recovered, database_);
    for (const Annotation& change : changes) {
      if (change.resolution == db::Resolution::Unknown) continue;
      --report_.end.unknown;
      ++(change.resolution == db::Resolution::Committed ? report_.end.committed
                                                        : report_.end.aborted);
    }
    return running::annotate(options_.history, changes, recovered.orders, schema().model, nemesis_);
  }

  const RunOptions& options_;
  const Opened& opened_;
  db::Database& database_;
  std::vector<running::Trouble> troubles_;
  std::unique_ptr<Feeder> feeder_;  // Null if there is no service to feed.
  std::string nemesis_;             // What the nemesis did.
  RunReport report_;
};

}  // namespace

Result<RunReport> run(const RunOptions& options) {
  if (auto what = workload::bad_workload(options.workload)) return complain(*std::move(what));
  if (options.history.empty()) return complain("no file for the history was named");
  if (options.seconds <= 0 && options.txns == 0) {
    return complain("the run would never end; limit its seconds or transactions");
  }
  auto troubles = troubles_of(options);
  if (!troubles.ok()) return troubles.error();
  const auto opened = start_and_open(options);
  if (!opened.ok()) return opened.error();
  if (auto able = check_features(info(options.workload.workload), opened->database()); !able) {
    return able.error();
  }
  if (auto able = check_evidence(options, opened->database()); !able) return able.error();
  auto report = Run(options, *opened, *std::move(troubles)).go();
  if (report.ok() && !options.server_logs.empty()) copy_logs(*opened, options, *report);
  return report;
}

Result<Level> claimed_level(const RunOptions& options, Evidence evidence) {
  std::string url = options.url;
  if (!options.start.empty()) {
    const auto request = db::parse_start(options.start);
    if (!request.ok()) return request.error();
    url = db::url_of(request->kind, request->url_options);
  }
  const auto opened = open(url, options);
  if (!opened.ok()) return opened.error();
  const db::Database& database = opened->database();
  return evidence == Evidence::Timestamps ? database.claims_by_timestamps() : database.claims();
}

std::vector<DatabaseInfo> databases() {
  std::vector<DatabaseInfo> all;
  for (const db::Driver& driver : db::drivers()) {
    all.push_back({.scheme = driver.schemes.substr(0, driver.schemes.find(' ')),
                   .description = driver.description,
                   .built_in = driver.open != nullptr});
  }
  all.push_back({.scheme = "sim",
                 .description = "the simulated store: sim:LEVEL?fault=NAME&rate=X",
                 .built_in = true});
  return all;
}

}  // namespace ouro
