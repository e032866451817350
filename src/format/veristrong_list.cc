#include "format/veristrong_list.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "format/scattered.h"
#include "format/text_scanner.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

struct Record {
  bool is_append = false;
  KeyId key;
  std::size_t first = 0;  // Index of its first element in elements_.
  std::size_t count = 0;
  std::uint32_t line = 0;
};

struct Txn {
  std::uint64_t session;
  std::uint64_t id;
  std::uint64_t line;
};

class ListReader {
 public:
  ListReader(std::string_view text, const std::string& file) : scan_(text, file) {
    b_.file(file, PlaceUnit::Line);
  }

  Status parse() {
    std::uint64_t count = 0;
    if (auto status = number(count, "the number of operations"); !status.ok()) return status;
    for (std::uint64_t i = 0; i < count; ++i) {
      scan_.skip_space();
      if (scan_.at_end()) {
        return scan_.error(
            fmt::format("the file says {} operations but has {}; it is truncated", count, i));
      }
      if (auto status = record(); !status.ok()) return status;
    }
    scan_.skip_space();
    if (!scan_.at_end()) {
      return scan_.expected(
          fmt::format("the end of the file after {} operations, as its first "
                      "number says",
                      count));
    }
    return {};
  }

  Result<History> finish() {
    const TxnGroups groups = group_by_txn(txn_of_op_, txns_.size());
    for (std::size_t t = 0; t < txns_.size(); ++t) {
      b_.begin_txn(b_.session(b_.unsigned_integer(txns_[t].session)), txns_[t].line);
      b_.name(b_.unsigned_integer(txns_[t].id));
      for (std::size_t i = groups.first[t]; i < groups.first[t + 1]; ++i) {
        const Record& op = records_[groups.order[i]];
        const auto elements = std::span<const Value>(elements_).subspan(op.first, op.count);
        op.is_append ? b_.append(op.key, elements[0], op.line)
                     : b_.read_list(op.key, elements, op.line);
      }
    }
    return std::move(b_).freeze();
  }

 private:
  Status number(std::uint64_t& out, std::string_view meaning) {
    scan_.skip_space();
    if (!scan_.number(out)) return scan_.expected(fmt::format("{}, an unsigned integer", meaning));
    const char next = scan_.peek();
    if (scan_.at_end() || next == ' ' || next == '\n' || next == '\t' || next == '\r') return {};
    return scan_.expected(fmt::format("a space behind {}", meaning));
  }

  Status record() {
    std::uint64_t session = 0;
    std::uint64_t id = 0;
    std::uint64_t key = 0;
    std::uint64_t count = 1;
    Record op;
    op.line = scan_.short_line();
    const std::uint64_t line = scan_.line();
    if (auto status = number(session, "a session"); !status.ok()) return status;
    if (auto status = number(id, "a transaction"); !status.ok()) return status;
    scan_.skip_space();
    op.is_append = scan_.take('A');
    if (!op.is_append && !scan_.take('R')) return scan_.expected("'R' (read) or 'A' (append)");
    if (auto status = number(key, "a key"); !status.ok()) return status;
    if (!op.is_append) {
      if (auto status = number(count, "the length of a list"); !status.ok()) return status;
    }
    op.first = elements_.size();
    op.count = count;
    // No memory is reserved: a wrong length leads to the end of the file, not to a huge allocation.
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t element = 0;
      if (auto status = number(element, "an element"); !status.ok()) return status;
      elements_.push_back(b_.unsigned_integer(element));
    }
    op.key = b_.key(b_.unsigned_integer(key));
    const auto next = static_cast<std::uint32_t>(txns_.size());
    const auto [at, added] = txn_of_id_.try_emplace({session, id}, next);
    if (added) txns_.push_back({session, id, line});
    txn_of_op_.push_back(at->second);
    records_.push_back(op);
    return {};
  }

  TextScanner scan_;
  HistoryBuilder b_;
  std::vector<Record> records_;
  std::vector<Value> elements_;
  std::vector<std::uint32_t> txn_of_op_;
  std::vector<Txn> txns_;
  absl::flat_hash_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> txn_of_id_;
};

}  // namespace

bool detect_veristrong_list(std::string_view head) {
  TextScanner scan(head, "");
  for (int i = 0; i < 3; ++i) {
    std::uint64_t number = 0;
    scan.skip_space();
    if (!scan.number(number)) return false;
  }
  scan.skip_space();
  std::uint64_t key = 0;
  if (!scan.take('R') && !scan.take('A')) return false;
  scan.skip_space();
  return scan.number(key);
}

Result<History> read_veristrong_list(Input& input, unsigned) {
  const auto text = input.read_all();
  if (!text.ok()) return text.error();
  ListReader reader(*text, input.name());
  if (auto status = reader.parse(); !status.ok()) return status.error();
  return reader.finish();
}

}  // namespace ouro
