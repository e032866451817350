#include "ouro/hermitage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "db/registry.h"
#include "db/server.h"
#include "ouro/examine.h"
#include "ouro/format.h"
#include "run/interleaving.h"
#include "run/opened.h"

namespace ouro {
namespace {

using running::Act;
using running::Interleaving;
using running::Opened;
using running::PlayedScript;
using running::ScriptStep;

// A test that needs no predicate.
constexpr HermitageTest items(std::string_view name, std::string_view meaning, Level level,
                              std::string_view script, bool classic = true) {
  return {.name = name,
          .meaning = meaning,
          .level = level,
          .classic = classic,
          .rows = "",
          .keys = script};
}

constexpr std::array<HermitageTest, 15> kTests{
    items("G0", "dirty write: the writes of two transactions are mixed", Level::ReadCommitted,
          "1 w x 11, 2 w x 12, 1 w y 21, 1 c, 2 w y 22, 2 c"),
    items("G1a", "aborted read: what was never committed is read", Level::ReadCommitted,
          "1 w x 101, 2 r x, 1 a, 2 r x, 2 c"),
    items("G1b", "intermediate read: what was overwritten before the commit is read",
          Level::ReadCommitted, "1 w x 101, 2 r x, 1 w x 11, 1 c, 2 r x, 2 c"),
    items("G1c", "circular flow: each of two transactions reads what the other wrote",
          Level::ReadCommitted, "1 w x 11, 2 w y 22, 1 r y, 2 r x, 1 c, 2 c"),
    items("OTV", "observed transaction vanishes: of a transaction that was seen, a write is not",
          Level::ReadCommitted,
          "1 w x 11, 1 w y 19, 2 w x 12, 1 c, 3 r x, 3 r y, 2 w y 18, 3 r y, 2 c, 3 r y, 3 r x, "
          "3 c"),
    HermitageTest{.name = "PMP",
                  .meaning = "predicate-many-preceders: a row appears between two selects",
                  .level = Level::ReadAtomic,
                  .classic = true,
                  .rows = "1 sel 30 39, 2 w z 30, 2 c, 1 sel 30 39, 1 c",
                  .keys = "1 scan z u, 2 w z 30, 2 c, 1 scan z u, 1 c"},
    items("P4", "lost update: one of two updates of what both read is lost", Level::ParallelSi,
          "1 r x, 2 r x, 1 w x 11, 2 w x 12, 1 c, 2 c"),
    items("G-single", "read skew: of another transaction's two writes, one is seen",
          Level::ReadAtomic, "1 r x, 2 r x, 2 r y, 2 w x 12, 2 w y 18, 2 c, 1 r y, 1 c"),
    items("G2-item", "write skew: each of two transactions overwrites what the other read",
          Level::RepeatableRead, "1 r x, 1 r y, 2 r x, 2 r y, 1 w x 11, 2 w y 21, 1 c, 2 c"),
    HermitageTest{.name = "G2",
                  .meaning = "phantom: each of two transactions adds a row that the other missed",
                  .level = Level::Serializable,
                  .classic = true,
                  .rows = "1 sel 30 39, 2 sel 30 39, 1 w z 30, 2 w u 33, 1 c, 2 c",
                  .keys = "1 scan z u, 2 scan z u, 1 w z 30, 2 w u 33, 1 c, 2 c"},
    HermitageTest{.name = "PMP-write",
                  .meaning = "PMP by a delete: it deletes by a mixture of two states",
                  .level = Level::ReadAtomic,
                  .classic = false,
                  .rows = "1 w x 20, 1 w y 30, 2 del 20 20, 1 c, 2 sel 20 20, 2 c",
                  .keys = ""},
    items("P4-delete", "lost update: an update and a delete of what both read", Level::ParallelSi,
          "1 r x, 2 r x, 1 w x 11, 2 d x, 1 c, 2 c", false),
    HermitageTest{.name = "G-single-pred",
                  .meaning = "read skew by predicates: a row that was moved is found twice",
                  .level = Level::ReadAtomic,
                  .classic = false,
                  .rows = "1 sel 10 29, 2 w x 35, 2 c, 1 sel 30 39, 1 c",
                  .keys = "1 r x, 2 w x 12, 2 w z 30, 2 c, 1 scan z u, 1 c"},
    HermitageTest{.name = "G-single-write",
                  .meaning = "read skew by a delete: it sees another state than a read before it",
                  .level = Level::ReadAtomic,
                  .classic = false,
                  .rows = "1 r x, 2 w x 12, 2 w y 18, 2 c, 1 del 20 20, 1 c",
                  .keys = ""},
    items("G2-three", "the anomaly of a transaction that only reads", Level::RepeatableRead,
          "1 r x, 1 r y, 2 w y 25, 2 c, 3 b, 3 r x, 3 r y, 3 c, 1 w x 11, 1 c", false)};

Error hermitage_error(std::string what) { return Error{.what = std::move(what)}; }

// "isolation=rr&snapshot_isolation=1" as options of a URL.
std::vector<std::pair<std::string, std::string>> options_of(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> options;
  while (!text.empty()) {
    const std::string_view option = text.substr(0, text.find('&'));
    const std::size_t equals = std::min(option.find('='), option.size());
    options.emplace_back(option.substr(0, equals),
                         option.substr(std::min(equals + 1, option.size())));
    text.remove_prefix(std::min(option.size() + 1, text.size()));
  }
  return options;
}

// Which operations of a database suffice for `script`.
bool can_play(const std::vector<ScriptStep>& script, const db::Features& features) {
  return std::all_of(script.begin(), script.end(), [&](const ScriptStep& step) {
    return (step.act != Act::Delete || features.removes) &&
           (step.act != Act::Scan || features.scans) &&
           (step.act != Act::Select || features.rows) &&
           (step.act != Act::DeleteWhere || features.row_changes);
  });
}

struct HermitageFinding {
  Outcome outcome = Outcome::Undecided;
  std::string anomaly;  // Violated: what the worst of it is called.
};

Result<HermitageFinding> find_in(const History& history, Level level) {
  const auto told = examine(
      history,
      {.levels = {level}, .check = {.threads = 1}, .other_levels = false, .reads_alone = false});
  if (!told.ok()) return told.error();
  HermitageFinding finding{.outcome = outcome(*told), .anomaly = {}};
  if (finding.outcome == Outcome::Violated && !told->explanations.empty() &&
      !told->explanations[0].stories.empty()) {
    finding.anomaly = name(told->explanations[0].stories[0]);
  }
  return finding;
}

// Asks the checker about what was recorded.
void judge(const HermitageTest& test, Level claims, PlayedScript played, HermitageCell& cell) {
  cell.waited = played.waited;
  cell.refused = played.refused;
  cell.steps = std::move(played.steps);
  cell.history = std::move(played.history);
  cell.reason = std::move(played.unclear);
  const auto history = parse_history(cell.history, {.format = Format::Native});
  if (!history.ok()) {
    cell.reason = history.error().to_string();
    return;
  }
  std::vector<Level> all;
  for (const LevelInfo& level : levels()) {
    if (decidable(level.level)) all.push_back(level.level);
  }
  const auto verdicts = check(*history, all, {.threads = 1, .outcomes_only = true});
  const auto tried = find_in(*history, test.level);
  const auto promised = find_in(*history, claims);
  for (const Error* error :
       {verdicts.ok() ? nullptr : &verdicts.error(), tried.ok() ? nullptr : &tried.error(),
        promised.ok() ? nullptr : &promised.error()}) {
    if (error == nullptr) continue;
    cell.reason = error->to_string();
    return;
  }
  cell.gave = strongest_holding(*verdicts);
  cell.broken = promised->outcome == Outcome::Violated;
  cell.breach = promised->anomaly;
  if (tried->outcome == Outcome::Violated) {
    cell.outcome = HermitageOutcome::Occurs;
    cell.anomaly = tried->anomaly;
    cell.reason.clear();
  } else if (tried->outcome == Outcome::Holds && cell.reason.empty()) {
    cell.outcome = HermitageOutcome::Prevented;
  } else if (cell.reason.empty()) {
    cell.reason = "undecided";
  }
}

// All tests at one isolation level. Tests that need rows and those that do not have a table each.
class HermitageLevel {
 public:
  HermitageLevel(const HermitageOptions& options, std::string url, std::string choice)
      : options_(options), url_(std::move(url)), choice_(std::move(choice)) {}

  Result<HermitageRow> run(const std::vector<HermitageTest>& tests) {
    HermitageRow row;
    row.options = choice_;
    row.cells.resize(tests.size());
    for (const bool with_rows : {false, true}) {
      if (auto done = run_model(tests, with_rows, row); !done) return done.error();
    }
    return row;
  }

 private:
  // Whether a test is played on rows, if the database has them.
  static bool wants_rows(const HermitageTest& test, const db::Features& features) {
    return !test.rows.empty() && features.rows;
  }

  Result<Opened> open() const {
    return running::open(url_, {.isolation = options_.isolation,
                                .patience = options_.patience,
                                .more = options_of(choice_)});
  }

  Status run_model(const std::vector<HermitageTest>& tests, bool with_rows, HermitageRow& row) {
    auto opened = open();
    if (!opened.ok()) return opened.error();
    db::Database& database = opened->database();
    const db::Features features = database.features();
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      if (wants_rows(tests[i], features) == with_rows) mine.push_back(i);
    }
    if (mine.empty() && with_rows) return {};
    if (!with_rows && !features.registers) {
      for (const std::size_t i : mine) note_impossible(row.cells[i]);
      return {};
    }
    const db::Model model = with_rows ? db::Model::Rows : db::Model::Registers;
    Status status = database.prepare({.model = model,
                                      .keys = tests.size() * running::kScriptKeys,
                                      .clients = 3,
                                      .patience = options_.patience,
                                      .stop = options_.stop});
    if (status) {
      describe_row(database, row);
      Interleaving interleaving(database);
      for (const std::size_t i : mine) {
        if (options_.stop != nullptr && *options_.stop) status = hermitage_error("interrupted");
        if (!status) break;
        const running::ScriptPlace place{
            .model = model,
            .first_key = static_cast<db::Key>(i) * running::kScriptKeys,
            .first_number = with_rows ? static_cast<db::Number>(i) * 1000 : 0};
        status = run_test(tests[i], place, features, interleaving, row, row.cells[i]);
      }
    }
    const Status finished = database.finish();
    return status ? finished : status;
  }

  static void describe_row(const db::Database& database, HermitageRow& row) {
    const std::string text = database.description();
    const std::size_t comma = text.find(", ");
    row.database = text.substr(0, comma);
    row.isolation = comma == std::string::npos ? "" : text.substr(comma + 2);
    row.claims = database.claims();
  }

  static void note_impossible(HermitageCell& cell) {
    cell.outcome = HermitageOutcome::Impossible;
    cell.reason = "the database, or its driver, lacks an operation of the test";
  }

  static Status run_test(const HermitageTest& test, const running::ScriptPlace& place,
                         const db::Features& features, Interleaving& interleaving,
                         const HermitageRow& row, HermitageCell& cell) {
    const bool rows = place.model == db::Model::Rows;
    const auto script = running::parse_script(rows ? test.rows : test.keys);
    if (script.empty() || !can_play(script, features)) {
      note_impossible(cell);
      return {};
    }
    auto played = interleaving.play(script, place);
    if (!played.ok()) return played.error();
    judge(test, row.claims, *std::move(played), cell);
    return {};
  }

  const HermitageOptions& options_;
  std::string url_;
  std::string choice_;  // "isolation=rc"
};

// The levels to try: what to add to the options of `url`.
Result<std::vector<std::string>> choices_of(const std::string& url,
                                            const HermitageOptions& options) {
  const auto opened =
      running::open(url, {.isolation = options.isolation, .patience = options.patience});
  if (!opened.ok()) return opened.error();
  std::vector<std::string> choices = opened->database().isolations();
  const auto parsed = db::parse_url(url.empty() ? "rocksdb:" : url);
  if (!parsed.ok()) return parsed.error();
  bool chosen = choices.empty() || !options.isolation.empty();
  for (const std::string& choice : choices) {
    for (const auto& [name, value] : options_of(choice)) {
      for (const auto& given : parsed->options) chosen = chosen || given.first == name;
    }
  }
  if (chosen) return std::vector<std::string>{""};
  return choices;
}

Result<std::vector<HermitageTest>> chosen_tests(const HermitageOptions& options) {
  std::vector<HermitageTest> tests;
  for (const HermitageTest& test : kTests) {
    if (options.only.empty() ||
        std::find(options.only.begin(), options.only.end(), test.name) != options.only.end()) {
      tests.push_back(test);
    }
  }
  for (const std::string& name : options.only) {
    const auto known = [&](const HermitageTest& test) { return test.name == name; };
    if (std::any_of(kTests.begin(), kTests.end(), known)) continue;
    std::vector<std::string_view> names;
    for (const HermitageTest& test : kTests) names.push_back(test.name);
    return hermitage_error(
        fmt::format("no test '{}'; there are: {}", name, fmt::join(names, ", ")));
  }
  return tests;
}

}  // namespace

std::span<const HermitageTest> hermitage_tests() { return kTests; }

bool HermitageRow::broken() const {
  return std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.broken; });
}

Result<HermitageReport> hermitage(const HermitageOptions& options) {
  auto tests = chosen_tests(options);
  if (!tests.ok()) return tests.error();
  std::unique_ptr<db::Server> server;
  std::string url = options.url;
  if (!options.start.empty()) {
    if (!url.empty()) return hermitage_error("either a URL or a server to start, not both");
    auto request = db::parse_start(options.start);
    if (!request.ok()) return request.error();
    request->options.cancelled = options.stop;
    auto started = db::start_server(request->kind, request->options);
    if (!started.ok()) return started.error();
    server = *std::move(started);
    url = db::url_of(*server, request->url_options);
  }
  const auto choices = choices_of(url, options);
  if (!choices.ok()) return choices.error();
  HermitageReport report{.tests = *std::move(tests), .rows = {}, .notes = {}};
  Status failed;
  for (const std::string& choice : *choices) {
    if (options.stop != nullptr && *options.stop) break;
    if (options.progress) options.progress(choice);
    auto row = HermitageLevel(options, url, choice).run(report.tests);
    if (row.ok()) {
      report.rows.push_back(*std::move(row));
      continue;
    }
    failed = row.error();
    report.notes.push_back(fmt::format("{}: left out: {}", choice, row.error().to_string()));
  }
  if (report.rows.empty()) return failed ? hermitage_error("interrupted") : failed.error();
  return report;
}

}  // namespace ouro
