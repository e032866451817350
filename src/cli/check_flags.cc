#include "cli/check_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/flags.h"

namespace ouro::cli {
namespace {

constexpr char kPlain[] = "Options";  // CLI11's name of the group of all others.

constexpr char kCheckDetails[] =
    "Reads each HISTORY and decides whether LEVEL allows it: whether some order of its "
    "transactions explains everything its clients saw. A violation is told with the transactions "
    "involved and the reason why each must precede the next.\n\n"
    "LEVEL is a name or alias of 'ouro levels', several of them separated by commas, or 'all'. "
    "'mixed' judges each transaction by the level that it states in the history, and those that "
    "state none by serializable; if transactions state levels, that is the default. "
    "Levels that the evidence cannot decide are refused; 'all' leaves them out and says so. The "
    "other levels are decided, too, to name the strongest that hold and the weakest violated, if "
    "that and all stories take no more than the work of what was asked for, or about half a "
    "second; "
    "Ctrl-C goes on without. Work is counted, so that the same levels are decided on every "
    "machine.\n\n"
    "The evidence is 'observed', which looks for any order of the transactions that explains the "
    "reads; 'versions', which admits only those that install the versions of each key as the "
    "history's version orders say, or else its commit_ts; or 'timestamps', which takes the one "
    "order that start_ts and commit_ts give. By timestamps the levels of snapshots and the "
    "serializable ones are decided, and all violations are counted.\n\n"
    "Given several histories, prints one line for each; -v tells every story. The exit status is "
    "the worst: violated, else unreadable, else undecided. Asked for several levels, a history "
    "counts as violated if any of them is, else as undecided if any of them is.\n\n"
    "--output edn prints what Elle's checker returns, as EDN. --junit writes a test case for each "
    "history and level, --sarif a result for each violation, --dot a graph of each example. --html "
    "writes one page for a browser, which needs nothing else: each example in words and as a "
    "graph, "
    "the levels, and the sessions over time.\n\n"
    "--output elle prints a line for each history as elle-cli does: the path, a tab between "
    "blanks, and true, "
    "false or unknown. If no level is asked for, histories of transactions are then checked "
    "against strict-serializable, as elle-cli does.\n\n"
    "Flags of elle-cli are understood: --consistency-models (-c) is --level; models of Elle's that "
    "are none of our levels hold if a level does that implies them, are violated if something was "
    "found that they forbid, and else are undecided. --anomalies (-a) "
    "names anomalies that count as violations even where the level allows them; --directory (-d) "
    "is a folder that gets a text and graphs for each type of anomaly, drawn by Graphviz's dot "
    "where it is installed (--plot-format, --max-plot-bytes, --plot-timeout). Of a bank, "
    "--total-amount (-o) says what its accounts must hold together, and --allow-negative-balances "
    "(-n) that they may be below zero. --cycle-search-timeout has no effect, as --time-limit is "
    "for the whole command, nor have --group-size and --max-transfer, which need not be known. Two "
    "short "
    "letters mean something else here: -t is --time-limit, not --plot-timeout, and -v is "
    "--verbose, not --output.\n\n"
    "--model says what the operations of a Jepsen history mean, where that cannot be found out: "
    "list-append, rw-register, bank, cas-register, comments, counter, long-fork, mutex, "
    "sequential, set or set-full. If no level is asked for, counters, sets, comments, mutexes and "
    "compare-and-set registers are checked against strict-serializable, and sequential against "
    "session-serializable.\n\n"
    "The clock drift is in the unit of the history's clocks and matters to levels that look at "
    "real time.\n\n"
    "--certificate writes a file that proves the verdict: an order of the transactions that "
    "explains "
    "everything, or the operations that nothing explains. 'ouro certify' checks it. It takes one "
    "HISTORY and one LEVEL; an undecided verdict has none.\n\n"
    "A violation is told by examples, each as small as possible: without any one of its "
    "transactions the level allows the rest. Violations that have nothing to do with each other "
    "are "
    "told separately; --examples says how many of each name. --counterexample writes the first one "
    "as a history of its own, in the native format.\n\n"
    "--expect FILE makes the exit status follow what FILE says: lines such as 'si holds', "
    "'serializable violated', 'shows write-skew' and 'lacks lost-update'. --shows and --lacks say "
    "the latter two on the command line. The status is then 0 if all is as expected, 1 if not. "
    "Levels that FILE is about are checked if no --level is given. --undecided says what an "
    "undecided history counts as: fail (status 1) or pass (0) instead of 2.\n\n"
    "--search changes how orders are searched, to measure what each idea is worth: settings with "
    "commas between them. no-chains: writers that read what they overwrite are not ordered as one "
    "block. no-on-demand: all pairs of writers are choices from the start. no-saturation: what is "
    "forced is not looked for. no-full: no search that knows all choices takes turns. no-guess: "
    "the "
    "search begins with the recorded order. no-turns: levels that ignore sessions are not first "
    "searched for an order that keeps them. many=N: conflicts before saturation (10000). "
    "first-turn=N: work of the first turn. phase=order, saved or fixed: which side of a choice is "
    "tried first. branching=earliest or activity: which choice is decided next. sources=few, cases "
    "or choices: how it is found out what reads of repeated values read. No setting changes a "
    "verdict, except to undecided.\n\n"
    "--stream reads a history in native text, or in the JSON of Chronos, piece by piece and "
    "judges it at one level. By timestamps, if transactions come about in the order of their "
    "commits, it is fast and takes about as much memory as --memory-limit says (1000 MB if it "
    "says nothing); what does not fit is kept in a temporary folder. In any other order it is "
    "right, too, but slower, and takes more. Keys with an initial value of their own take about "
    "70 bytes each beyond that, and --certificate "
    "takes 21 for each transaction, and as many again when it is written.\n\n"
    "--stream without timestamps cuts the history wherever the clients' clocks show a quiet "
    "moment, at which everything before had completed and nothing behind was invoked, and decides "
    "each segment by itself, as to strong-si or strict-serializable, which others follow from. "
    "Memory is for some segments and for the newest version of each key. A history without such "
    "moments is undecided, and so is what only the order before a cut would tell; the verdict says "
    "which. A segment has --segment transactions at least, and is cut when as many were read "
    "behind it.\n\n"
    "--time-limit and --memory-limit are for the whole command: for reading, decompressing, "
    "checking and telling, and for all histories together. What was not decided, or not even read, "
    "is undecided; a verdict that was found in time is still told. Ctrl-C ends the search "
    "likewise. A second one kills.";

}  // namespace

std::string_view check_details() { return kCheckDetails; }

std::optional<Expectation> parse_expected(CheckFlags& flags) {
  if (flags.expected) return flags.expected;
  Expectation expected;
  if (!flags.expect.empty()) {
    auto read = read_expectation(flags.expect);
    if (!read.ok()) {
      fail(read.error());
      return std::nullopt;
    }
    expected = *std::move(read);
  }
  for (const auto& [names, text] :
       {std::pair(&expected.shows, &flags.shows), std::pair(&expected.lacks, &flags.lacks)}) {
    if (text->empty()) continue;
    if (const auto status = add_names(*names, *text); !status.ok()) {
      fail(status.error());
      return std::nullopt;
    }
  }
  flags.expected = expected;
  return expected;
}

bool add_anomalies(const CheckFlags& flags, Expectation& expected, AskedLevels& levels) {
  if (flags.anomalies.empty()) return true;
  if (expected.empty() && flags.models.empty()) {
    for (const Level level : levels.levels) expected.levels.emplace_back(level, Outcome::Holds);
  }
  if (const auto status = add_names(expected.lacks, flags.anomalies); !status.ok()) {
    fail(status.error());
    return false;
  }
  const Level strongest = Level::StrictSerializable;
  if (std::find(levels.levels.begin(), levels.levels.end(), strongest) == levels.levels.end()) {
    levels.levels.push_back(strongest);
  }
  return true;
}

bool overwrites_input(const CheckFlags& flags) {
  std::vector<std::string> inputs = flags.input.paths;
  inputs.push_back(flags.expect);
  const FormPaths& forms = flags.forms;
  for (const std::string* out : {&flags.certificate, &flags.counterexample, &forms.html, &forms.dot,
                                 &forms.junit, &forms.sarif}) {
    std::error_code ignored;
    if (*out == "-" || !std::filesystem::is_regular_file(*out, ignored)) continue;
    for (const std::string& in : inputs) {
      if (!std::filesystem::equivalent(in, *out, ignored)) continue;
      fail(fmt::format("{}: input and output are the same file; write to another one", *out));
      return true;
    }
  }
  return false;
}

std::string levels_asked(const CheckFlags& flags, const Expectation& expected) {
  if (flags.level) return *flags.level;
  std::string names;
  for (const auto& [level, outcome] : expected.levels) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", info(level).name);
  }
  if (!names.empty()) return names;
  return flags.output == "elle" ? "strict-serializable" : "serializable";
}

void declare_forms(CLI::App& app, CheckFlags& flags, const std::string& group) {
  app.add_option("--certificate", flags.certificate, "write a proof for 'ouro certify'")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--html", flags.forms.html, "write a page that tells and draws everything")
      ->type_name("FILE");
  app.add_option("--dot", flags.forms.dot, "write a graph of each example for Graphviz")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--junit", flags.forms.junit, "write JUnit's XML, a test case per level")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--sarif", flags.forms.sarif, "write SARIF, a result per violation")
      ->type_name("FILE")
      ->group(kMinor);
}

void declare_expected(CLI::App& app, CheckFlags& flags, const std::string& group) {
  app.add_option("--expect", flags.expect, "what must hold or show, see 'ouro man'")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--shows", flags.shows, "anomalies that must show")
      ->type_name("NAMES")
      ->group(kMinor);
  app.add_option("--lacks", flags.lacks, "anomalies that must not show")
      ->type_name("NAMES")
      ->group(kMinor);
  app.add_option("--undecided", flags.undecided, "what undecided counts as [status 2]")
      ->type_name("fail|pass")
      ->check(one_of({"fail", "pass"}))
      ->group(kMinor);
}

namespace {

// Flags that elle-cli has, too.
void declare_elle(CLI::App& app, CheckFlags& flags) {
  app.add_option("-c,--consistency-models", flags.level)->group("");
  app.add_option("-m,--model", flags.model, "what a Jepsen history is about [found out]")
      ->type_name("MODEL")
      ->group(kMinor);
  app.add_option("-a,--anomalies", flags.anomalies, "violations whatever the level, as in elle-cli")
      ->type_name("NAMES")
      ->group(kMinor);
  app.add_option("-d,--directory", flags.elle.directory, "write files on each type, as elle-cli")
      ->type_name("DIR")
      ->group(kMinor);
  app.add_option("-p,--plot-format", flags.elle.plot_format, "what graphs are drawn as there [svg]")
      ->type_name("svg|png|dot")
      ->check(one_of({"svg", "png", "dot"}))
      ->group(kMinor);
  app.add_option("-b,--max-plot-bytes", flags.elle.max_plot_bytes,
                 "larger DOT is not drawn [65536]")
      ->type_name("N")
      ->check(whole_number())
      ->group(kMinor);
  app.add_option("--plot-timeout", flags.elle.plot_timeout_ms, "how long to draw one [5000]")
      ->type_name("MS")
      ->check(whole_number())
      ->group(kMinor);
  app.add_option("-s,--cycle-search-timeout", flags.cycle_search_timeout)
      ->check(whole_number())
      ->group("");
  app.add_option("-g,--group-size", flags.group_size)->check(whole_number())->group("");
  app.add_option("--max-transfer", flags.max_transfer)->check(whole_number())->group("");
  app.add_flag("-n,--allow-negative-balances", flags.negative_balances,
               "of a Jepsen bank, as in elle-cli")
      ->group(kMinor);
  app.add_option("-o,--total-amount", flags.total_amount, "what a Jepsen bank must hold")
      ->type_name("N")
      ->group(kMinor);
}

}  // namespace

void declare(CLI::App* app, CheckFlags& flags) {
  app->add_option("-l,--level", flags.level, "isolation level, or 'all' [serializable]")
      ->type_name("LEVEL");
  app->add_option("--evidence", flags.evidence, "what the verdict rests on [observed]")
      ->type_name("KIND");
  app->add_option("--output", flags.output, "how to print the verdicts [text]")
      ->type_name("text|json|elle|edn")
      ->check(one_of({"text", "json", "elle", "edn"}));
  app->add_flag("--json", flags.json, "the same as --output json");
  add_limits(*app, flags.time_limit, flags.memory_limit);
  add_clock_drift(*app, flags.clock_drift);
  declare_forms(*app, flags, kPlain);
  app->add_option("--examples", flags.examples, "violations of each name to tell [1; 3 with -v]")
      ->type_name("N")
      ->check(whole_number());
  declare_expected(*app, flags, kPlain);
  app->add_option("--counterexample", flags.counterexample, "write the first example as a history")
      ->type_name("FILE")
      ->group(kMinor);
  app->add_option("--search", flags.search, "how orders are searched, for researchers")
      ->type_name("SETTINGS")
      ->group(kMinor);
  app->add_flag("--stream", flags.stream, "piece by piece: for files beyond memory")->group(kMinor);
  app->add_option("--segment", flags.segment, "least transactions in a piece by itself [10000]")
      ->type_name("N")
      ->check(whole_number())
      ->group(kMinor);
  app->add_flag("-v,--verbose", flags.verbose, "tell the whole story of every history");
  app->add_flag("-q,--quiet", flags.quiet, "print no verdicts, only set the exit status");
  add_input_flags(*app, flags.input);
  declare_elle(*app, flags);
  app->footer(
      "Exit status: 0 holds, 1 violated, 2 undecided, 254 bad input or usage,\n"
      "255 internal error; of several histories the worst, which is violated.");
}

}  // namespace ouro::cli
