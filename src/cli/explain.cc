// ouro explain: why must one transaction precede another?

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/command.h"
#include "cli/limits.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct ExplainFlags {
  std::string history;
  std::string first;
  std::string second;
  std::string format;
  std::string level = "serializable";
  std::string evidence = "observed";
  double time_limit = 0;    // Seconds; zero: none.
  double memory_limit = 0;  // In 10^6 bytes; zero: none.
  std::int64_t clock_drift = 0;
  unsigned threads = 0;
};

constexpr char kExplainDetails[] =
    "Says whether transaction FIRST must precede SECOND, the other way round, or neither, in every "
    "order that explains HISTORY at LEVEL; and why: the path from one to the other, each step with "
    "the operations that prove it. At the levels of snapshots to precede means to commit before "
    "the other begins, at parallel-si to be seen by it, at weaker levels to commit before it.\n\n"
    "If HISTORY violates LEVEL, the answer is about the strongest level that it keeps. If "
    "both ways are open, an order for each is shown.\n\n"
    "A transaction is given as its id in the history; as line:12 or byte:345, where it stands; as "
    "SESSION/3, the third one of a session; or as #12, its number from 1. Plain numbers are ids, "
    "or else lines, or else numbers: of the two "
    "the same, if that finds both.\n\n"
    "--time-limit and --memory-limit are for the whole command, reading included; one that is "
    "reached leaves the answer undecided.";

// `text` as a whole number; nothing if it is none.
std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// Whether reports call the value so; or, if they put it in quotes, whether it is that without them.
bool is_called(const History& history, Value value, std::string_view text) {
  return history.label(value) == text ||
         (value.kind() == ValueKind::Text && history.string(value) == text);
}

std::optional<TxnId> txn_with_id(const History& history, const std::string& id) {
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const Value name = history.txn_name(TxnId{t});
    if (!name.is_null() && is_called(history, name, id)) return TxnId{t};
  }
  return {};
}

std::optional<TxnId> txn_at(const History& history, PlaceUnit unit, std::uint64_t position) {
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const Place place = history.place(TxnId{t});
    if (place.unit == unit && place.position == position) return TxnId{t};
  }
  return {};
}

// The line of a text file that has the byte, from 1; nothing if that cannot be found out.
std::optional<std::uint64_t> line_of_byte(const std::string& file, std::uint64_t byte) {
  std::ifstream in(file, std::ios::binary);
  if (!in || file.ends_with(".gz") || file.ends_with(".zst")) return {};
  std::uint64_t line = 1;
  char c = 0;
  for (std::uint64_t i = 0; i <= byte; ++i) {
    if (!in.get(c)) return {};
    if (c == '\n' && i < byte) ++line;
  }
  return line;
}

// The transaction that has the byte: the last one that begins there or before.
std::optional<TxnId> txn_of_byte(const History& history, std::uint64_t byte) {
  std::optional<TxnId> found;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const Place place = history.place(TxnId{t});
    if (place.unit == PlaceUnit::Line) {
      const auto line = line_of_byte(std::string(history.file()), byte);
      return line ? txn_at(history, PlaceUnit::Line, *line) : std::nullopt;
    }
    if (place.unit != PlaceUnit::Byte || place.position > byte) continue;
    if (!found || history.place(*found).position <= place.position) found = TxnId{t};
  }
  // What is compressed is larger than its file.
  const std::string file(found ? history.place(*found).file : std::string_view());
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  const bool beyond = !unknown && byte >= size && !file.ends_with(".gz") && !file.ends_with(".zst");
  return beyond ? std::nullopt : found;
}

// "SESSION/3".
std::optional<TxnId> txn_of_session(const History& history, const std::string& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos) return {};
  const auto number = whole(std::string_view(text).substr(slash + 1));
  for (std::size_t s = 0; number && s < history.session_count(); ++s) {
    const auto txns = history.session_txns(SessionId{s});
    const bool same = is_called(history, history.session_name(SessionId{s}), text.substr(0, slash));
    if (same && *number >= 1 && *number <= txns.size()) return txns[*number - 1];
  }
  return {};
}

std::optional<TxnId> txn_numbered(const History& history, std::uint64_t number) {
  if (number == 0 || number > history.txn_count()) return {};
  return TxnId{static_cast<std::size_t>(number - 1)};
}

// A way to understand the name of a transaction; nothing if it finds none.
using Reading = std::optional<TxnId> (*)(const History&, const std::string&);

// All ways, the likeliest first: an id, a line, a byte, a place in a session, a number.
constexpr Reading kReadings[] = {
    txn_with_id,
    [](const History& history, const std::string& text) {
      const auto line = whole(text.substr(text.starts_with("line:") ? 5 : 0));
      return line ? txn_at(history, PlaceUnit::Line, *line) : std::nullopt;
    },
    [](const History& history, const std::string& text) {
      const auto byte = text.starts_with("byte:") ? whole(text.substr(5)) : std::nullopt;
      return byte ? txn_of_byte(history, *byte) : std::nullopt;
    },
    txn_of_session,
    [](const History& history, const std::string& text) {
      const auto number = whole(text.substr(text.starts_with("#") ? 1 : 0));
      return number ? txn_numbered(history, *number) : std::nullopt;
    }};

// The transaction called `text`. If there is none, complains and returns nothing.
std::optional<TxnId> find_txn(const History& history, const std::string& text) {
  for (const Reading reading : kReadings) {
    if (const auto found = reading(history, text)) return found;
  }
  fail(fmt::format("there is no transaction '{}'; give an id, line:12, byte:345, SESSION/3 or #12",
                   text));
  return std::nullopt;
}

// Both transactions: if some way to understand names finds both, by that, otherwise each by the
// first way that finds it. If one is not found, complains and returns nothing.
std::optional<std::pair<TxnId, TxnId>> find_both(const History& history, const std::string& first,
                                                 const std::string& second) {
  for (const Reading reading : kReadings) {
    const auto one = reading(history, first);
    const auto other = reading(history, second);
    if (one && other) return std::pair(*one, *other);
  }
  const auto one = find_txn(history, first);
  const auto other = one ? find_txn(history, second) : std::nullopt;
  return other ? std::optional(std::pair(*one, *other)) : std::nullopt;
}

// Answers the question that the flags ask, within their limits.
class Explainer {
 public:
  Explainer(const ExplainFlags& flags, Format format, Level level, Evidence evidence)
      : flags_(flags),
        format_(format),
        level_(level),
        evidence_(evidence),
        limits_(flags.time_limit, flags.memory_limit) {}

  int run() {
    const std::string name = display_name(flags_.history);
    const ReadOptions how{.format = format_, .threads = flags_.threads};
    const auto read_in = std::make_shared<std::optional<Result<History>>>();
    const auto stop = [this] {
      given_up_ = interrupted() ? "interrupted while reading" : limits_.reached();
      return !given_up_.empty();
    };
    const bool finished = watched("reading " + name, stop, [read_in, path = flags_.history, how] {
      *read_in = read_history(path, how);
    });
    if (!finished) return undecided();
    if (!(*read_in)->ok()) return fail((*read_in)->error());
    const History& history = ***read_in;
    const auto both = find_both(history, flags_.first, flags_.second);
    if (!both) return kBadInput;
    const auto [first, second] = *both;
    if (first == second) return fail("these are the same transaction; give two");
    return answer(history, first, second);
  }

 private:
  int answer(const History& history, TxnId first, TxnId second) {
    std::vector<Precedence> answers;
    for (const auto& [before, after] : {std::pair(first, second), std::pair(second, first)}) {
      std::optional<Result<Precedence>> answer;
      watched("explaining " + display_name(flags_.history), [&, b = before, a = after] {
        answer = precedence(history, b, a, level_, options());
      });
      if (!answer->ok()) return fail(answer->error());
      answers.push_back(**std::move(answer));
      const Precedence::Answer said = answers.back().answer;
      if (said == Precedence::Answer::Open) continue;
      if (said == Precedence::Answer::Undecided) {
        given_up_ = interrupted() ? "interrupted" : limits_.reached();
        return undecided();
      }
      print(describe(history, level_, before, after, answers.back()));
      return said == Precedence::Answer::Required ? kHolds : kViolated;
    }
    print(describe(history, level_, first, second, answers[0], &answers[1]));
    return kHolds;
  }

  [[nodiscard]] ExplainOptions options() const {
    ExplainOptions options;
    options.cancelled = &interrupted();
    options.threads = flags_.threads;
    options.evidence = evidence_;
    options.clock_drift = flags_.clock_drift;
    options.time_limit = limits_.time_left();
    options.memory_limit = limits_.memory();
    return options;
  }

  [[nodiscard]] int undecided() const {
    print(fmt::format("Undecided: {}.\n", given_up_.empty() ? "a limit was reached" : given_up_));
    return kUndecided;
  }

  const ExplainFlags& flags_;
  const Format format_;
  const Level level_;
  const Evidence evidence_;
  const Limits limits_;   // Of the whole command.
  std::string given_up_;  // Why there is no answer.
};

int run_explain(const ExplainFlags& flags) {
  const auto format = parse_format(flags.format);
  const auto level = format ? parse_level(flags.level) : std::nullopt;
  const auto evidence = level ? parse_evidence(flags.evidence) : std::nullopt;
  if (!evidence) return kBadInput;
  catch_interrupt();
  return Explainer(flags, *format, *level, *evidence).run();
}

}  // namespace

void add_explain(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* app = root.add_subcommand("explain", "say why one transaction must precede another");
  app->add_option("-l,--level", flags->level, "isolation level [serializable]")->type_name("LEVEL");
  app->add_option("--evidence", flags->evidence, "what counts: observed, versions [observed]")
      ->type_name("WHAT");
  add_clock_drift(*app, flags->clock_drift);
  add_limits(*app, flags->time_limit, flags->memory_limit);
  app->add_option("-f,--format", flags->format, "format of the history [detected]")
      ->type_name("FORMAT");
  app->add_option("--threads", flags->threads, "threads to use [one per core]")
      ->type_name("N")
      ->check(whole_number());
  app->add_option("HISTORY", flags->history, "file, folder or - for standard input")->required();
  app->add_option("FIRST", flags->first, "its id, line:12, byte:345, SESSION/3 or #12")->required();
  app->add_option("SECOND", flags->second, "another one")->required();
  app->footer(
      "FIRST and SECOND are each an id, line:12, byte:345, SESSION/3 or #12.\n\n"
      "Exit status: 0 answered, 1 the history violates the level, 2 undecided, 254 bad\n"
      "input or usage.");
  commands.push_back({app, [flags] { return run_explain(*flags); }, kExplainDetails});
}

}  // namespace ouro::cli
