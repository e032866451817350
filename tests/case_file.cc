#include "tests/case_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check/implied.h"
#include "history/columns.h"
#include "history/decimal.h"
#include "history/undone.h"
#include "ouro/format.h"
#include "ouro/history_builder.h"

namespace ouro::oracle {
namespace {

constexpr std::string_view kAnomalyWords[kAnomalyKindCount] = {"internal",
                                                               "aborted-read",
                                                               "intermediate-read",
                                                               "thin-air-read",
                                                               "future-read",
                                                               "duplicate-elements",
                                                               "incompatible-order",
                                                               "result-set-mismatch",
                                                               "non-repeatable-read",
                                                               "dependency-cycle",
                                                               "commit-order-cycle",
                                                               "fractured-read",
                                                               "causality-violation",
                                                               "forbidden-cycle",
                                                               "contradictory-order",
                                                               "snapshot-mismatch",
                                                               "write-conflict",
                                                               "session-inversion",
                                                               "real-time-inversion",
                                                               "missing-timestamp",
                                                               "inverted-timestamps",
                                                               "duplicate-timestamp"};

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Cuts the text before the first of `separators` off `rest`, and the separator too.
std::string_view cut(std::string_view& rest, std::string_view separators) {
  const std::size_t end = rest.find_first_of(separators);
  const std::string_view piece = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return piece;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) out.push_back(cut(text, kBlanks));
  return out;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Thrown and caught in this file only.
struct Mistake {
  std::string what;
};

class Parser {
 public:
  Case parse(std::string_view text);
  [[nodiscard]] std::uint64_t line() const { return line_; }

 private:
  void history_line(std::string_view text);
  [[nodiscard]] Result<History> history();
  void verdict_line(std::string_view text);
  void check_lattice(const Verdicts& stated, Evidence evidence) const;
  void initial_line(std::string_view text);
  void transaction(std::string_view header, std::string_view ops);
  void attribute(std::string_view text);
  void clocks(std::string_view text);
  void operation(std::string_view text);

  // Both numbers of "[5,9]" or "{5,9}"; kNoClock for one left out.
  std::pair<std::int64_t, std::int64_t> pair(std::string_view text, char close);
  Value value(std::string_view text);
  KeyId key(std::string_view text);

  Case case_;
  HistoryBuilder builder_;
  std::string native_;          // The lines of native text, if the history is written like that.
  std::size_t savepoints_ = 0;  // How many are open.
  std::set<std::string, std::less<>> names_;
  std::uint64_t line_ = 0;
};

Case Parser::parse(std::string_view text) {
  bool in_verdicts = false;
  while (!text.empty()) {
    ++line_;
    std::string_view comment = cut(text, "\n");
    const std::string_view line = trimmed(cut(comment, "#"));
    if (case_.story.empty()) case_.story = trimmed(comment);
    if (line.empty()) continue;
    if (line == "----") {
      if (in_verdicts) throw Mistake{"a second '----'; there is one, before the verdicts"};
      in_verdicts = true;
    } else if (in_verdicts) {
      verdict_line(line);
    } else {
      history_line(line);
    }
  }
  auto made = history();
  if (!made.ok()) throw Mistake{made.error().what};
  case_.history = *std::move(made);
  check_lattice(case_.verdicts, Evidence::Observed);
  check_lattice(case_.by_timestamps, Evidence::Timestamps);
  return std::move(case_);
}

// Refuses stated verdicts that contradict each other by the lattice.
void Parser::check_lattice(const Verdicts& stated, Evidence evidence) const {
  for (const auto& [level, outcome] : stated) {
    for (const auto& [weaker, other] : stated) {
      if (outcome != Outcome::Holds || other != Outcome::Violated) continue;
      if (!implied_in(case_.history, level, weaker, evidence)) continue;
      throw Mistake{quoted(info(level).name) + " holds, so " + quoted(info(weaker).name) +
                    " cannot be violated"};
    }
  }
}

Result<History> Parser::history() {
  if (native_.empty()) return std::move(builder_).freeze();
  if (!names_.empty()) throw Mistake{"a history is written in one notation, not in two"};
  return parse_history(native_, {.format = Format::Native});
}

void Parser::history_line(std::string_view text) {
  if (text.starts_with('{')) {
    native_ += std::string(text) + '\n';
    return;
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    transaction(text.substr(0, colon), text.substr(colon + 1));
  } else if (text.starts_with("initial ")) {
    initial_line(text);
  } else {
    throw Mistake{"expected 'T1 @s1: …', 'initial …', '{…}' or '----', found " + quoted(text)};
  }
}

void Parser::initial_line(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() == 2) {
    builder_.default_initial(value(parts[1]));
  } else if (parts.size() == 3) {
    builder_.initial(key(parts[1]), value(parts[2]));
  } else {
    throw Mistake{"expected 'initial VALUE' or 'initial KEY VALUE', found " + quoted(text)};
  }
}

void Parser::transaction(std::string_view header, std::string_view ops) {
  const auto parts = words(header);
  if (parts.empty()) throw Mistake{"expected a transaction's name before ':'"};
  if (!names_.emplace(parts[0]).second) {
    throw Mistake{"a second transaction " + quoted(parts[0]) + "; names are unique"};
  }
  const bool has_session = parts.size() > 1 && parts[1].size() > 1 && parts[1][0] == '@';
  const std::string_view session = has_session ? parts[1].substr(1) : parts[0];
  builder_.begin_txn(builder_.session(value(session)), line_);
  builder_.name(value(parts[0]));
  for (std::size_t i = has_session ? 2 : 1; i < parts.size(); ++i) attribute(parts[i]);
  if (trimmed(ops).empty()) return;
  for (bool more = true; more;) {
    more = ops.find(',') != std::string_view::npos;
    operation(trimmed(cut(ops, ",")));
  }
  if (savepoints_ > 0) throw Mistake{"a savepoint without a rollback"};
}

void Parser::attribute(std::string_view text) {
  if (text == "committed") {
    builder_.status(TxnStatus::Committed);
  } else if (text == "aborted") {
    builder_.status(TxnStatus::Aborted);
  } else if (text == "unknown") {
    builder_.status(TxnStatus::Unknown);
  } else if (text[0] == '[') {
    clocks(text);
  } else if (text[0] == '{') {
    const auto [start, commit] = pair(text, '}');
    builder_.timestamps({start, 0}, {commit, 0});
  } else {
    throw Mistake{"expected a status, [invoked,completed] or {start,commit}, found " +
                  quoted(text)};
  }
}

// "[100,180]", or with the clocks between: "[100,110,170,180]".
void Parser::clocks(std::string_view text) {
  if (std::count(text.begin(), text.end(), ',') <= 1) {
    const auto [invoked, completed] = pair(text, ']');
    builder_.clocks(invoked, completed);
    return;
  }
  const std::size_t second = text.find(',', text.find(',') + 1);
  const std::string first_half = std::string(text.substr(0, second)) + ']';
  const std::string second_half = '[' + std::string(text.substr(std::min(text.size(), second + 1)));
  const auto [invoked, began] = pair(first_half, ']');
  const auto [committing, completed] = pair(second_half, ']');
  builder_.clocks(invoked, completed);
  builder_.inner_clocks(began, committing);
}

std::pair<std::int64_t, std::int64_t> Parser::pair(std::string_view text, char close) {
  std::string_view rest = text.substr(1);
  const std::string_view first = cut(rest, ",");
  const auto a = first.empty() ? kNoClock : number(first);
  const auto b = rest.size() == 1 ? kNoClock : number(rest.substr(0, rest.size() - 1));
  if (!a || !b || rest.empty() || rest.back() != close) {
    throw Mistake{"expected two numbers as in '[100,180]' or '{5,9}', without blanks, found " +
                  quoted(text)};
  }
  return {*a, *b};
}

void Parser::operation(std::string_view text) {
  if (text == "savepoint") {
    ++savepoints_;
    return builder_.begin_undone();
  }
  if (text == "rollback") {
    if (savepoints_ == 0) throw Mistake{"a rollback without a savepoint"};
    --savepoints_;
    return builder_.end_undone();
  }
  std::string_view rest = text;
  const std::string_view kind = cut(rest, kBlanks);
  rest = trimmed(rest);
  const std::string_view key_name = cut(rest, kBlanks);
  rest = trimmed(rest);
  if (key_name.empty())
    throw Mistake{"expected an operation such as 'r x 1', found " + quoted(text)};
  if (kind == "r" && rest.starts_with('[') && rest.ends_with(']')) {
    std::vector<Value> elements;
    for (const auto word : words(rest.substr(1, rest.size() - 2))) elements.push_back(value(word));
    builder_.read_list(key(key_name), elements);
    return;
  }
  if (kind == "cas") {
    const auto parts = words(rest);
    const bool failed = parts.size() == 3 && parts[2] == "failed";
    if (parts.size() != 2 && !failed) {
      throw Mistake{"expected 'cas KEY OLD NEW' or 'cas KEY OLD NEW failed', found " +
                    quoted(text)};
    }
    builder_.cas(key(key_name), value(parts[0]), value(parts[1]), !failed);
    return;
  }
  if (kind == "d" && rest.empty()) rest = "nil";
  if (words(rest).size() != 1) throw Mistake{"expected one value in " + quoted(text)};
  if (kind == "r") {
    builder_.read(key(key_name), rest == "?" ? Value::unobserved() : value(rest));
  } else if (kind == "w") {
    builder_.write(key(key_name), value(rest));
  } else if (kind == "d") {
    builder_.remove(key(key_name), value(rest));
  } else if (kind == "append") {
    builder_.append(key(key_name), value(rest));
  } else {
    throw Mistake{"unknown operation " + quoted(kind) + "; there are r, w, d, append and cas"};
  }
}

Value Parser::value(std::string_view text) {
  if (text == "nil") return Value::null();
  if (text == "true" || text == "false") return Value::boolean(text == "true");
  if (const auto parsed = number(text)) return builder_.integer(*parsed);
  if (is_json_number(text)) return builder_.decimal(text);
  const auto floating =
      text.ends_with('f') ? parse_float(text.substr(0, text.size() - 1)) : std::optional<double>();
  if (floating) return builder_.floating(*floating);
  if (text.find_first_of("[]{}?@\"'") != std::string_view::npos) {
    throw Mistake{"expected a number, a word or nil, found " + quoted(text)};
  }
  return builder_.text(text);
}

KeyId Parser::key(std::string_view text) {
  if (text == "nil") throw Mistake{"nil is no key"};
  return builder_.key(value(text));
}

void Parser::verdict_line(std::string_view text) {
  auto parts = words(text);
  const bool by_timestamps = parts[0] == "timestamps" && parts.size() > 1;
  if (by_timestamps) parts.erase(parts.begin());
  if (parts[0] == "shows" && parts.size() > 1) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto* const found =
          std::find(std::begin(kAnomalyWords), std::end(kAnomalyWords), parts[i]);
      if (found == std::end(kAnomalyWords)) throw Mistake{"unknown anomaly " + quoted(parts[i])};
      auto& shows = by_timestamps ? case_.shows_by_timestamps : case_.shows;
      shows.insert(static_cast<AnomalyKind>(found - std::begin(kAnomalyWords)));
    }
    return;
  }
  const std::string_view outcome = parts.back();
  parts.pop_back();
  if ((outcome != "holds" && outcome != "violated") || parts.empty()) {
    throw Mistake{"expected 'LEVEL… holds', 'LEVEL… violated' or 'shows ANOMALY…', found " +
                  quoted(text)};
  }
  for (const std::string_view name : parts) {
    const auto level = find_level(name);
    if (!level) throw Mistake{"unknown level " + quoted(name)};
    const auto verdict = outcome == "holds" ? Outcome::Holds : Outcome::Violated;
    auto& verdicts = by_timestamps ? case_.by_timestamps : case_.verdicts;
    if (!verdicts.emplace(*level, verdict).second) {
      throw Mistake{"a second verdict for " + quoted(name)};
    }
  }
}

// ---- printing ----

std::string printed(const History& history, Value value) {
  if (value.is_null()) return "nil";
  if (value.is_unobserved()) return "?";
  if (value.kind() == ValueKind::Text) return std::string(history.string(value));
  if (value.kind() == ValueKind::Float) return std::string(history.string(value)) + 'f';
  if (!value.is_list()) return history.text(value);
  std::string out;
  for (const Value element : history.list(value)) {
    out += (out.empty() ? "" : " ") + printed(history, element);
  }
  return "[" + out + "]";
}

std::string printed_cas(const History& history, const Op& first) {
  return "cas " + printed(history, history.key_name(first.key)) + " " +
         printed(history, first.value) + " " +
         printed(history, history.op(OpId{first.id.index() + 1}).value) +
         (first.kind == OpKind::CasFailed ? " failed" : "");
}

std::string printed(const History& history, const Op& op) {
  if (is_predicate_read(op.kind)) throw std::invalid_argument("predicates have no such notation");
  const std::string out =
      std::string(info(op.kind).word) + " " + printed(history, history.key_name(op.key)) + " ";
  const std::vector<Value> appended = undone_appends_seen(history, op.id);
  if (appended.empty()) return out + printed(history, op.value);
  std::string list = op.value.length() == 0 ? "[" : printed(history, op.value);
  if (list.size() > 1) list.back() = ' ';
  for (const Value element : appended) list += printed(history, element) + ' ';
  list.back() = ']';
  return out + list;
}

// "savepoint" and "rollback", where undone parts begin and end before operation `id`; `open` are
// the parts around the operation before.
std::vector<std::string> printed_parts(const History& history, OpId id,
                                       std::vector<std::uint32_t>& open) {
  std::vector<std::uint32_t> around;
  if (id.valid()) {
    for (auto part = history.undone_part(id); part != 0; part = history.outer_part(part)) {
      around.insert(around.begin(), part);
    }
  }
  const auto differ = std::ranges::mismatch(around, open);
  std::vector<std::string> out(static_cast<std::size_t>(open.end() - differ.in2), "rollback");
  out.insert(out.end(), static_cast<std::size_t>(around.end() - differ.in1), "savepoint");
  open = std::move(around);
  return out;
}

template <class T>
std::string printed_pair(char open, const T& first, const T& second, char close) {
  std::string out(1, open);
  if (first) out += std::to_string(*first);
  out += ',';
  if (second) out += std::to_string(*second);
  return out + close;
}

std::string header(const History& history, TxnId txn) {
  const Value name = history.txn_name(txn);
  std::string out = name.is_null() ? "T" + std::to_string(txn.index() + 1) : printed(history, name);
  out += " @" + printed(history, history.session_name(history.session(txn)));
  if (history.status(txn) == TxnStatus::Aborted) out += " aborted";
  if (history.status(txn) == TxnStatus::Unknown) out += " unknown";
  const auto invoked = history.invoked(txn);
  const auto completed = history.completed(txn);
  if (history.began(txn) || history.committing(txn)) {
    out += " " + printed_pair('[', invoked, history.began(txn), ',') +
           printed_pair(',', history.committing(txn), completed, ']').substr(1);
  } else if (invoked || completed) {
    out += " " + printed_pair('[', invoked, completed, ']');
  }
  const auto physical = [](const std::optional<Timestamp>& timestamp) {
    return timestamp ? std::optional(timestamp->physical) : std::nullopt;
  };
  const auto start = physical(history.start_ts(txn));
  const auto commit = physical(history.commit_ts(txn));
  if (start || commit) out += " " + printed_pair('{', start, commit, '}');
  return out + ":";
}

}  // namespace

std::string_view word(AnomalyKind kind) { return kAnomalyWords[static_cast<std::size_t>(kind)]; }

std::optional<Outcome> follows(const Verdicts& stated, Level level, Evidence evidence) {
  for (const auto& [other, outcome] : stated) {
    if (other == level) return outcome;
  }
  for (const auto& [other, outcome] : stated) {
    const bool answers = outcome == Outcome::Holds ? implies(other, level, evidence)
                                                   : implies(level, other, evidence);
    if (answers) return outcome;
  }
  return std::nullopt;
}

Result<Case> parse_case(std::string_view text, std::string_view name) {
  Parser parser;
  try {
    return parser.parse(text);
  } catch (const Mistake& mistake) {
    return Error{.file = std::string(name), .line = parser.line(), .what = mistake.what};
  }
}

History history_of(std::string_view text) {
  auto parsed = parse_case(text, "history");
  if (!parsed.ok()) throw std::invalid_argument(parsed.error().to_string());
  return (*std::move(parsed)).history;
}

std::string to_string(const History& history) {
  std::string out;
  const HistoryColumns& columns = columns_of(history);
  if (!columns.default_initial.is_null()) {
    out += "initial " + printed(history, columns.default_initial) + "\n";
  }
  for (const KeyVersion& initial : columns.key_initial) {
    out += "initial " + printed(history, history.key_name(initial.key)) + " " +
           printed(history, initial.value) + "\n";
  }
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    out += header(history, txn);
    std::vector<std::string> ops;
    std::vector<std::uint32_t> parts;
    const auto add_parts = [&](OpId next) {
      for (std::string& mark : printed_parts(history, next, parts)) ops.push_back(std::move(mark));
    };
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const Op op = history.op(id);
      const bool cas = op.kind == OpKind::CasRead || op.kind == OpKind::CasFailed;
      add_parts(id);
      ops.push_back(cas ? printed_cas(history, op) : printed(history, op));
      if (cas) ++id.value;
    }
    add_parts(OpId{});
    for (std::size_t i = 0; i < ops.size(); ++i) out += (i == 0 ? " " : ", ") + ops[i];
    out += "\n";
  }
  return out;
}

}  // namespace ouro::oracle
