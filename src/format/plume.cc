#include "format/plume.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "format/plain_registers.h"
#include "format/scattered.h"
#include "format/text_scanner.h"
#include "format/zero_initial.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

struct Line {
  bool is_read = false;
  bool aborted = false;
  std::uint64_t key = 0, value = 0, session = 0, txn = 0;
};

// Takes one line without its line break. If it is not as it should be, returns false and stops at
// the first character that does not fit.
bool take_line(TextScanner& scan, Line& out) {
  out.is_read = scan.take('r');
  if (!out.is_read && !scan.take('w')) return false;
  char separator = '(';
  for (std::uint64_t* number : {&out.key, &out.value, &out.session}) {
    scan.skip_blanks();
    if (!scan.take(std::exchange(separator, ','))) return false;
    scan.skip_blanks();
    if (!scan.number(*number)) return false;
  }
  scan.skip_blanks();
  if (!scan.take(',')) return false;
  scan.skip_blanks();
  out.aborted = scan.take("-1");
  if (!out.aborted && !scan.number(out.txn)) return false;
  scan.skip_blanks();
  if (!scan.take(')')) return false;
  scan.skip_blanks();
  return scan.at_end() || scan.peek() == '\n';
}

class PlumeReader {
 public:
  PlumeReader(std::string_view text, const std::string& file) : scan_(text, file) {
    b_.file(file, PlaceUnit::Line);
  }

  Status parse() {
    Line line;
    for (scan_.skip_space(); !scan_.at_end(); scan_.skip_space()) {
      const std::uint64_t number = scan_.line();
      if (!take_line(scan_, line)) {
        return scan_.expected("a line like r(key,value,session,transaction) or w(…)");
      }
      std::uint32_t txn = 0;
      if (auto status = find_txn(line, number, txn); !status.ok()) return status;
      ops_.push_back({line.is_read, line.key, line.value, TextScanner::short_line(number)});
      txn_of_op_.push_back(txn);
    }
    if (ops_.empty()) return scan_.error("no operations; the file is empty");
    return {};
  }

  // Builds the history. Keys are interned here, not in parse(), so that their order is that of the
  // history: lines of transactions may alternate, and a file from write_plume() must give the same.
  Result<History> finish() {
    const TxnGroups groups = group_by_txn(txn_of_op_, txns_.size());
    ZeroInitial initial;
    for (std::size_t t = 0; t < txns_.size(); ++t) {
      const Txn& txn = txns_[t];
      b_.begin_txn(b_.session(b_.unsigned_integer(txn.session)), txn.line);
      if (txn.aborted) b_.status(TxnStatus::Aborted);
      if (!txn.aborted) b_.name(b_.unsigned_integer(txn.id));
      for (std::size_t i = groups.first[t]; i < groups.first[t + 1]; ++i) {
        const PlumeOp& op = ops_[groups.order[i]];
        const KeyId key = b_.key(b_.unsigned_integer(op.key));
        const Value value = b_.unsigned_integer(op.value);
        op.is_read ? b_.read(key, value, op.line) : b_.write(key, value, op.line);
        if (!op.is_read && !txn.aborted) initial.committed_write(key, value);
      }
    }
    initial.apply(b_);
    return std::move(b_).freeze();
  }

 private:
  struct PlumeOp {
    bool is_read;
    std::uint64_t key;
    std::uint64_t value;
    std::uint32_t line;
  };
  struct Txn {
    std::uint64_t session;
    std::uint64_t id;
    std::uint64_t line;
    bool aborted;
  };

  // The transaction of `line`, line `number` of the file; a new one if it has none yet.
  Status find_txn(const Line& line, std::uint64_t number, std::uint32_t& txn) {
    const auto next = static_cast<std::uint32_t>(txns_.size());
    if (next == 0xfffffffe)
      return error("more than 4294967294 transactions; split the file", number);
    bool added = true;
    txn = next;
    if (!line.aborted) {
      const auto [at, is_new] = txn_of_id_.try_emplace(line.txn, next);
      txn = at->second;
      added = is_new;
    }
    if (added) txns_.push_back({line.session, line.txn, number, line.aborted});
    if (txns_[txn].session == line.session) return {};
    return error(fmt::format("transaction {} is of session {} here but of session {} in line {}; "
                             "transaction numbers must be unique",
                             line.txn, line.session, txns_[txn].session, txns_[txn].line),
                 number);
  }

  [[nodiscard]] Error error(std::string what, std::uint64_t line) const {
    Error error = scan_.error(std::move(what));
    error.line = line;
    return error;
  }

  HistoryBuilder b_;
  TextScanner scan_;
  std::vector<PlumeOp> ops_;
  std::vector<std::uint32_t> txn_of_op_;
  std::vector<Txn> txns_;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> txn_of_id_;
};

}  // namespace

bool detect_plume(std::string_view head) {
  TextScanner scan(head, "");
  scan.skip_space();
  Line line;
  return take_line(scan, line);
}

Result<History> read_plume(Input& input, unsigned) {
  const auto text = input.read_all();
  if (!text.ok()) return text.error();
  PlumeReader reader(*text, input.name());
  if (auto status = reader.parse(); !status.ok()) return status.error();
  return reader.finish();
}

// Warns of transactions that get lost: empty ones have no line, and the lines of aborted ones do
// not say which transaction they are of.
Result<WriteReport> write_plume(const History& history, Output& output) {
  auto plain = PlainRegisters::of(history, "plume");
  if (!plain.ok()) return plain.error();
  WriteReport report;
  report.warnings = plain->warnings();
  warn_of_remarks(history, {}, report);
  const NumberedNames sessions = number_sessions(history);
  const NumberedNames txns = number_txns(history);
  if (sessions.replaced) report.warnings.emplace_back("session names are replaced by numbers");
  if (txns.replaced) report.warnings.emplace_back("transaction names are replaced by numbers");
  std::size_t empty = 0;
  std::size_t split = 0;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    const bool aborted = history.status(txn) == TxnStatus::Aborted;
    std::size_t lines = 0;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const Op op = history.op(id);
      if (!plain->expressible(op)) continue;
      ++lines;
      fmt::format_to(std::back_inserter(output.buffer()), "{}({},{},{},",
                     is_read(op.kind) ? 'r' : 'w', plain->key(op.key), plain->value(op),
                     sessions.numbers[history.session(txn).index()]);
      if (aborted) {
        output.buffer() += "-1)\n";
      } else {
        fmt::format_to(std::back_inserter(output.buffer()), "{})\n", txns.numbers[t]);
      }
    }
    empty += lines == 0 ? 1 : 0;
    split += aborted && (lines > 1 || !history.txn_name(txn).is_null()) ? 1 : 0;
    if (auto status = output.drain(); !status.ok()) return status.error();
  }
  if (empty != 0) {
    report.warnings.push_back(
        fmt::format("{} transaction(s) without operations are left out", empty));
  }
  if (split != 0) {
    report.warnings.push_back(fmt::format(
        "{} aborted transaction(s) lose their name, and which operations were theirs", split));
  }
  return report;
}

}  // namespace ouro
