#include "format/jepsen.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/edn.h"
#include "format/jepsen_entries.h"
#include "format/jepsen_model_ops.h"
#include "format/json_tokens.h"
#include "ouro/elle.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

constexpr std::uint64_t kNoEntry = ~std::uint64_t{0};

// The lines of one transaction: indices into JepsenEntries::clients, or kNoEntry.
struct Pair {
  std::uint64_t invoke = kNoEntry;
  std::uint64_t completion = kNoEntry;
};

// Pairs invocations with completions and adds the transactions to the builder; jepsen.h has the
// rules.
class Assembler {
 public:
  // `lines` may be null.
  Assembler(const JepsenEntries& entries, HistoryBuilder& builder, std::string_view file,
            JepsenModel model, RecordedLines* lines)
      : e_(entries), b_(builder), file_(file), model_(model), lines_(lines) {}

  Status run() {
    if (e_.clients.empty() && e_.ignored > 0) {
      return error_in(file_, fmt::format("none of the {} operations is a client's; a client's "
                                         ":process is an integer",
                                         e_.ignored));
    }
    if (auto status = pair(); !status.ok()) return status;
    if (auto status = find_lists(); !status.ok()) return status;
    choose_clock();
    if (model_ == JepsenModel::Bank) {
      if (auto status = open_accounts(); !status.ok()) return status;
    }
    if (model_ == JepsenModel::Mutex) b_.initial(b_.key("mutex"), b_.text("free"));
    for (std::size_t i = 0; i < pairs_.size(); ++i) add_txn(i);
    if (model_ == JepsenModel::LongFork) add_missing_writers();
    return {};
  }

 private:
  enum class Clock { None, Time, Index, Line };
  enum KeyUse : std::uint8_t { kList = 1, kRegister = 2 };

  Status pair() {
    const bool has_process = !e_.clients.empty() && e_.clients[0].has_process;
    if (model_ == JepsenModel::Sequential && !e_.clients.empty() && !has_process) {
      return error_at_line(file_, e_.clients[0].line,
                           "no operation has a :process, and model sequential is about what each "
                           "process did in which order; record it");
    }
    absl::flat_hash_map<std::int64_t, std::size_t> running;  // By process: its pair in pairs_.
    for (std::uint64_t i = 0; i < e_.clients.size(); ++i) {
      const JepsenEntry& entry = e_.clients[i];
      if (entry.has_process != has_process) {
        return error_at_line(
            file_, entry.line,
            fmt::format("this operation has {} :process, unlike the first, so sessions cannot be "
                        "told; give all of them one, or none",
                        has_process ? "no" : "a"));
      }
      // Without processes, all lines have process 0; then transactions must not overlap.
      const auto found = running.find(entry.process);
      if (entry.type == JepsenType::Invoke) {
        if (!has_process && found != running.end()) {
          return error_at_line(file_, entry.line,
                               "two invocations in a row; without :process it cannot be told which "
                               "completion belongs to which");
        }
        running[entry.process] = pairs_.size();
        pairs_.push_back({.invoke = i});
      } else if (found != running.end()) {
        pairs_[found->second].completion = i;
        running.erase(found);
      } else {
        pairs_.push_back({.completion = i});
      }
    }
    return {};
  }

  // Finds out which keys are lists and which are registers.
  Status find_lists() {
    for (const JepsenEntry& entry : e_.clients) {
      for (std::uint64_t i = 0; i < entry.op_count; ++i) {
        const MicroOp& op = e_.ops[entry.first_op + i];
        if (info(model_).has_trees) continue;
        const std::size_t key = b_.key(op.key).index();
        if (key >= use_.size()) use_.resize(key + 1, 0);
        if (op.kind == MicroOp::Kind::Append || op.result == MicroOp::Result::List) {
          use_[key] |= kList;
          any_list_ = true;
        } else if (op.kind == MicroOp::Kind::Write || op.kind == MicroOp::Kind::Cas ||
                   op.result == MicroOp::Result::Scalar) {
          use_[key] |= kRegister;
        }
        if (use_[key] == (kList | kRegister)) {
          return error_at_line(
              file_, entry.line,
              "a key is used as a list here and as a register elsewhere; use other "
              "keys for the one or the other");
        }
      }
    }
    return {};
  }

  void choose_clock() {
    const auto all_have = [this](auto member) {
      return std::all_of(e_.clients.begin(), e_.clients.end(),
                         [&](const JepsenEntry& entry) { return entry.*member != kNoClock; });
    };
    // Jepsen's operations have a time of -1 where they were given none.
    const bool timed = std::any_of(e_.clients.begin(), e_.clients.end(),
                                   [](const JepsenEntry& entry) { return entry.time != -1; });
    if (timed && all_have(&JepsenEntry::time)) {
      clock_ = Clock::Time;
    } else if (all_have(&JepsenEntry::index)) {
      const auto not_growing = [](const JepsenEntry& a, const JepsenEntry& b) {
        return a.index >= b.index;
      };
      const bool grows =
          std::adjacent_find(e_.clients.begin(), e_.clients.end(), not_growing) == e_.clients.end();
      clock_ = grows ? Clock::Index : Clock::Line;
    } else if (info(model_).is_object) {
      clock_ = Clock::Line;  // What such histories are about is the order of their lines.
    }
  }

  // Gives accounts the balances that a read shows which was done before any transfer was asked for.
  Status open_accounts() {
    const JepsenEntry* first = nullptr;
    for (const JepsenEntry& entry : e_.clients) {
      if (entry.transfers && first == nullptr) {
        return error_at_line(file_, entry.line,
                             "the balances at the start are not known, as no read was done before "
                             "this transfer was invoked; let the test read all accounts first");
      }
      if (first != nullptr || entry.transfers || entry.type != JepsenType::Ok) continue;
      first = &entry;
    }
    if (first == nullptr) return {};
    for (std::uint64_t i = 0; i < first->op_count; ++i) {
      const MicroOp& op = e_.ops[first->first_op + i];
      if (op.kind == MicroOp::Kind::Read) b_.initial(b_.key(op.key), op.value);
    }
    return {};
  }

  // A history of model long-fork may have its reads only. Each key is written once, so a value that
  // was read is what somebody wrote.
  void add_missing_writers() {
    std::vector<std::pair<Value, Value>> read;
    for (const JepsenEntry& entry : e_.clients) {
      for (std::uint64_t i = 0; i < entry.op_count; ++i) {
        const MicroOp& op = e_.ops[entry.first_op + i];
        if (op.kind != MicroOp::Kind::Read) return;
        if (op.result == MicroOp::Result::Scalar) read.emplace_back(op.key, op.value);
      }
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const auto& [key, value] : read) {
      b_.begin_txn(b_.unknown_session());
      b_.write(b_.key(key), value);
    }
  }

  // The clock of a line; kNoClock if there is no such line or no clock.
  [[nodiscard]] std::int64_t clock(std::uint64_t entry) const {
    if (entry == kNoEntry || clock_ == Clock::None) return kNoClock;
    if (clock_ == Clock::Time) return e_.clients[entry].time;
    return clock_ == Clock::Index ? e_.clients[entry].index : static_cast<std::int64_t>(entry);
  }

  void add_txn(std::size_t number) {
    const Pair& pair = pairs_[number];
    const bool completed = pair.completion != kNoEntry;
    const JepsenEntry& last = e_.clients[completed ? pair.completion : pair.invoke];
    const SessionId session = last.has_process ? b_.session(last.process) : b_.unknown_session();
    begin_txn(session, pair, last.line);
    // A compare-and-set that fails without an error has read something else than it expected, and
    // wrote nothing: it is committed. With an error, it may not have read at all.
    const bool compared = last.is_cas && last.type == JepsenType::Fail && !last.has_error;
    const TxnStatus status = compared || last.type == JepsenType::Ok ? TxnStatus::Committed
                             : last.type == JepsenType::Fail         ? TxnStatus::Aborted
                                                                     : TxnStatus::Unknown;
    b_.status(status);
    // The time of an :info line is when the client gave up; the transaction may take effect later.
    const bool ended = status != TxnStatus::Unknown;
    b_.clocks(clock(pair.invoke), ended ? clock(pair.completion) : kNoClock);
    // The operations are those of the last line if that is :ok, if there is no invocation, or if it
    // is an :info line that has some; otherwise those of the invocation, which :fail lines repeat.
    const bool own = last.type == JepsenType::Ok || pair.invoke == kNoEntry ||
                     (last.type == JepsenType::Info && last.has_ops);
    const JepsenEntry& source = own ? last : e_.clients[pair.invoke];
    for (std::uint64_t i = 0; i < source.op_count; ++i) {
      const MicroOp& op = e_.ops[source.first_op + i];
      if (source.apart && i > 0) begin_part(session, pair, last.line, status);
      if (op.kind == MicroOp::Kind::WriteAll) {
        write_all(op, [&] { begin_part(session, pair, last.line, status); });
      } else if (op.kind == MicroOp::Kind::Cas) {
        b_.cas(b_.key(op.key), op.value, op.desired, !compared);
      } else {
        add_op(op, status, source.type);
      }
    }
  }

  void begin_txn(SessionId session, const Pair& pair, std::uint64_t line) {
    b_.begin_txn(session, line);
    if (lines_ == nullptr) return;
    lines_->invocations.push_back(recorded(pair.invoke));
    lines_->completions.push_back(recorded(pair.completion));
  }

  [[nodiscard]] RecordedLines::Line recorded(std::uint64_t number) const {
    if (number == kNoEntry) return {};
    const JepsenEntry& entry = e_.clients[number];
    const bool known = entry.index != kNoClock && entry.index >= 0;
    const std::int64_t index = known ? entry.index : static_cast<std::int64_t>(entry.place);
    if (lines_->text.empty()) return {.index = index, .has_index = entry.has_index};  // JSON.
    return {.index = index,
            .has_index = entry.has_index,
            .begin = lines_->text.size() - entry.begin,
            .end = lines_->text.size() - entry.end};
  }

  // Begins another transaction of the same line.
  void begin_part(SessionId session, const Pair& pair, std::uint64_t line, TxnStatus status) {
    begin_txn(session, pair, line);
    b_.status(status);
    const bool ended = status != TxnStatus::Unknown;
    b_.clocks(clock(pair.invoke), ended ? clock(pair.completion) : kNoClock);
  }

  // Writes all subkeys of a key, each in a transaction of its own.
  template <class Begin>
  void write_all(const MicroOp& op, const Begin& begin) {
    for (std::size_t i = 0; i < e_.subkeys; ++i) {
      if (i > 0) begin();
      b_.write(b_.key(JepsenModelOps::subkey(b_.string(op.key), i)), op.value);
    }
  }

  // `source` is the type of the line that `op` is from.
  void add_op(const MicroOp& op, TxnStatus status, JepsenType source) {
    const KeyId key = b_.key(op.key);
    if (op.kind == MicroOp::Kind::Append) {
      b_.append(key, op.value);
      return;
    }
    if (op.kind == MicroOp::Kind::Inc) {
      b_.inc(key, op.value);
      return;
    }
    if (op.kind == MicroOp::Kind::Add) {
      b_.add_element(key, op.value);
      return;
    }
    if (op.kind == MicroOp::Kind::ReadSet) {
      b_.read_set(key, {e_.elements.data() + op.value.bits(), op.element_count});
      return;
    }
    if (op.kind == MicroOp::Kind::Write) {
      b_.write(key, op.value);
      return;
    }
    const bool nil_means_unknown = status != TxnStatus::Committed;
    if (source == JepsenType::Invoke || status == TxnStatus::Aborted ||
        op.result == MicroOp::Result::Missing ||
        (op.result == MicroOp::Result::Nil && nil_means_unknown)) {
      b_.read(key, Value::unobserved());
    } else if (op.result == MicroOp::Result::List) {
      b_.read_list(key, {e_.elements.data() + op.value.bits(), op.element_count});
    } else if (op.result == MicroOp::Result::Nil && is_list(key)) {
      b_.read_list(key, {});
    } else {
      b_.read(key, op.value);
    }
  }

  [[nodiscard]] bool is_list(KeyId key) const {
    if (key.index() >= use_.size()) return false;  // The model has no lists.
    return use_[key.index()] == 0 ? any_list_ : use_[key.index()] == kList;
  }

  const JepsenEntries& e_;
  HistoryBuilder& b_;
  std::string_view file_;
  const JepsenModel model_;
  RecordedLines* lines_;
  std::vector<Pair> pairs_;        // In the order of their first entries.
  std::vector<std::uint8_t> use_;  // By key: bits of KeyUse.
  bool any_list_ = false;
  Clock clock_ = Clock::None;
};

// Reads the lines twice: to find the model, unless `model` names it, and what they say. `make`
// makes a reader of their tokens.
template <class Make>
Result<History> assemble(const Make& make, std::string_view file, std::string_view model,
                         RecordedLines* lines) {
  JepsenModel found = JepsenModel::Txn;
  if (model.empty()) {
    auto tokens = make();
    const auto detected = detect_jepsen_model(*tokens);
    if (!detected.ok()) return error_in(file, detected.error().what);
    found = *detected;
  } else {
    found = find_jepsen_model(model)->model;
  }
  HistoryBuilder builder;
  builder.file(file, PlaceUnit::Line);
  if (found != JepsenModel::Txn) builder.remark("model", info(found).name);
  auto tokens = make();
  const auto entries = read_jepsen_entries(*tokens, builder, found);
  if (!entries.ok()) return entries.error();
  if (auto status = Assembler(*entries, builder, file, found, lines).run(); !status.ok()) {
    return status.error();
  }
  return std::move(builder).freeze();
}

}  // namespace

bool detect_jepsen_edn(std::string_view head) {
  const std::string text(head);  // With a zero byte behind it.
  EdnTokens tokens(text, "");
  Token first;  // Behind comments and tags.
  if (!tokens.next(first)) return false;
  if (first.kind != TokenKind::OpenMap && first.kind != TokenKind::OpenList) return false;
  constexpr std::string_view kType = ":type";
  for (std::size_t at = text.find(kType); at != text.npos; at = text.find(kType, at + 1)) {
    const std::size_t next = at + kType.size();
    if (next < text.size() && std::string_view(" \t\r\n,:").find(text[next]) != text.npos) {
      return true;
    }
  }
  return false;
}

Result<History> read_jepsen_edn(Input& input, unsigned) {
  return read_jepsen_model(input, Format::JepsenEdn, "", nullptr);
}

Result<History> read_jepsen_model(Input& input, Format format, std::string_view model,
                                  RecordedLines* lines) {
  auto bytes = input.read_all();
  if (!bytes.ok()) return bytes.error();
  const std::string name = input.name();
  if (format == Format::JepsenJson) {
    return assemble(
        [&] { return std::make_unique<JsonTokens>(*bytes, name, JsonTokens::Top::Many); }, name,
        model, lines);
  }
  if (lines != nullptr) lines->text = *std::move(bytes);
  const std::string& text = lines != nullptr ? lines->text : *bytes;
  return assemble([&] { return std::make_unique<EdnTokens>(text, name); }, name, model, lines);
}

bool detect_jepsen_json(std::string_view head) {
  const std::size_t at = head.find_first_not_of(" \t\r\n[");
  if (at == std::string_view::npos || head[at] != '{') return false;
  const std::size_t type = head.find("\"type\"");
  if (type == std::string_view::npos) return false;
  const std::size_t colon = head.find_first_not_of(" \t\r\n", type + 6);
  if (colon == std::string_view::npos || head[colon] != ':') return false;
  const std::size_t word = head.find_first_not_of(" \t\r\n\":", colon);
  for (const std::string_view known : {"invoke", "ok", "fail", "info"}) {
    if (word != std::string_view::npos && head.substr(word).starts_with(known)) return true;
  }
  return false;
}

Result<History> read_jepsen_json(Input& input, unsigned) {
  return read_jepsen_model(input, Format::JepsenJson, "", nullptr);
}

}  // namespace ouro
