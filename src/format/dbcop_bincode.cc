#include "format/dbcop_bincode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/byte_order.h"
#include "base/utf8.h"
#include "format/plain_registers.h"
#include "format/zero_initial.h"
#include "history/columns.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

// Sizes on disk; of transactions and sessions, the least.
constexpr std::size_t kEventBytes = 18;
constexpr std::size_t kLeastTxnBytes = 9;
constexpr std::size_t kLeastSessionBytes = 8;
constexpr std::array<std::string_view, 5> kParameters = {"id", "n_node", "n_variable",
                                                         "n_transaction", "n_event"};
constexpr std::array<std::string_view, 3> kTexts = {"info", "start", "end"};
constexpr std::array<std::string_view, 8> kKeptRemarks = {
    "id", "n_node", "n_variable", "n_transaction", "n_event", "info", "start", "end"};

struct Event {
  bool is_write = false;
  bool success = false;
  std::uint64_t key = 0;
  std::uint64_t value = 0;
};

// A cursor over the bytes. Functions that take something return false if they cannot; error() then
// says why. `meaning` names what is taken in the error.
class Decoder {
 public:
  Decoder(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  // Whether the last failure was that the bytes ended, not that they were wrong.
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] Error error() const { return error_at_byte(file_, at_, what_); }

  bool number(std::uint64_t& out, std::string_view meaning) {
    if (!need(8, meaning)) return false;
    out = load_little_endian(bytes_.data() + at_);
    at_ += 8;
    return true;
  }

  // Takes a number of things, each of which takes at least `least` bytes. Refuses a number that the
  // rest of the file cannot hold, so memory stays proportional to the file.
  bool count(std::uint64_t& out, std::size_t least, std::string_view meaning) {
    if (!number(out, meaning)) return false;
    if (out <= left() / least) return true;
    at_ -= 8;
    ended_ = true;
    return fail(
        fmt::format("{} {} need at least {} bytes each, but {} bytes are left; the file is "
                    "truncated, damaged or not dbcop's",
                    out, meaning, least, left() - 8));
  }

  bool text(std::string_view& out, std::string_view meaning) {
    std::uint64_t length = 0;
    if (!count(length, 1, meaning)) return false;
    out = bytes_.substr(at_, length);
    if (!is_utf8(out)) {
      return fail(
          fmt::format("the text of {} is not UTF-8; the file is damaged or not dbcop's", meaning));
    }
    at_ += length;
    return true;
  }

  bool boolean(bool& out, std::string_view meaning) {
    if (!need(1, meaning)) return false;
    const char byte = bytes_[at_];
    if (byte != 0 && byte != 1) {
      return fail(fmt::format("{} must be 0 or 1, found {}; the file is damaged or not dbcop's",
                              meaning, static_cast<unsigned>(static_cast<unsigned char>(byte))));
    }
    out = byte == 1;
    ++at_;
    return true;
  }

  bool event(Event& out) {
    return boolean(out.is_write, "an event's 'write'") && number(out.key, "an event's key") &&
           number(out.value, "an event's value") && boolean(out.success, "an event's 'success'");
  }

  // The byte `distance` ahead. REQUIRES: it exists.
  [[nodiscard]] char ahead(std::size_t distance) const { return bytes_[at_ + distance]; }

  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }

 private:
  bool need(std::size_t size, std::string_view meaning) {
    if (left() >= size) return true;
    ended_ = true;
    return fail(fmt::format("the file ends within {}; it is truncated", meaning));
  }

  std::string_view bytes_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::string what_;
  bool ended_ = false;
};

struct Header {
  std::array<std::uint64_t, 5> parameters{};
  std::array<std::string_view, 3> texts;
};

bool decode_header(Decoder& in, Header& out) {
  for (std::size_t i = 0; i < kParameters.size(); ++i) {
    if (!in.number(out.parameters[i], kParameters[i])) return false;
  }
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    if (!in.text(out.texts[i], kTexts[i])) return false;
  }
  return true;
}

class Reader {
 public:
  Reader(Decoder& in, HistoryBuilder& builder) : in_(in), b_(builder) {}

  bool file() {
    Header header;
    if (!decode_header(in_, header)) return false;
    for (std::size_t i = 0; i < kParameters.size(); ++i) {
      b_.remark(kParameters[i], std::to_string(header.parameters[i]));
    }
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      if (!header.texts[i].empty()) b_.remark(kTexts[i], header.texts[i]);
    }
    std::uint64_t sessions = 0;
    if (!in_.count(sessions, kLeastSessionBytes, "sessions")) return false;
    for (std::uint64_t s = 0; s < sessions; ++s) {
      if (!session(b_.session(b_.unsigned_integer(s)))) return false;
    }
    if (in_.left() != 0) {
      return in_.fail(
          fmt::format("{} bytes follow the last transaction; the file is damaged or not "
                      "dbcop's",
                      in_.left()));
    }
    if (failed_events_ != 0) b_.remark("failed_events", std::to_string(failed_events_));
    initial_.apply(b_);
    return true;
  }

 private:
  bool session(SessionId id) {
    std::uint64_t txns = 0;
    if (!in_.count(txns, kLeastTxnBytes, "transactions")) return false;
    for (std::uint64_t t = 0; t < txns; ++t) {
      b_.begin_txn(id, in_.at());
      if (!txn()) return false;
    }
    return true;
  }

  bool txn() {
    std::uint64_t events = 0;
    if (!in_.count(events, kEventBytes, "events")) return false;
    const std::size_t outcome = events * kEventBytes;
    const bool committed = in_.left() > outcome && in_.ahead(outcome) == 1;
    for (std::uint64_t e = 0; e < events; ++e) {
      Event event;
      if (!in_.event(event)) return false;
      if (!event.success) {
        ++failed_events_;
        continue;
      }
      const KeyId key = b_.key(b_.unsigned_integer(event.key));
      const Value value = b_.unsigned_integer(event.value);
      event.is_write ? b_.write(key, value) : b_.read(key, value);
      if (event.is_write && committed) initial_.committed_write(key, value);
    }
    bool success = false;
    if (!in_.boolean(success, "a transaction's 'success'")) return false;
    if (!success) b_.status(TxnStatus::Aborted);
    return true;
  }

  Decoder& in_;
  HistoryBuilder& b_;
  ZeroInitial initial_;
  std::uint64_t failed_events_ = 0;
};

std::optional<std::string_view> remark(const History& history, std::string_view name) {
  for (const Remark& remark : history.remarks()) {
    if (remark.name == name) return remark.text;
  }
  return std::nullopt;
}

// The parameters of the workload: from the remarks of the history, or computed from it.
std::array<std::uint64_t, 5> parameters(const History& history, WriteReport& report) {
  std::size_t most_txns = 0;
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    most_txns = std::max(most_txns, history.session_txns(SessionId{s}).size());
  }
  std::size_t most_ops = 0;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    most_ops = std::max(most_ops, history.end_op(txn).index() - history.first_op(txn).index());
  }
  std::array<std::uint64_t, 5> numbers = {0, history.session_count(), history.key_count(),
                                          most_txns, most_ops};
  for (std::size_t i = 0; i < kParameters.size(); ++i) {
    const auto text = remark(history, kParameters[i]);
    if (!text) continue;
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (code == std::errc{} && end == text->data() + text->size()) {
      numbers[i] = number;
    } else {
      report.warnings.push_back(
          fmt::format("the remark '{}' is no number and is left out", kParameters[i]));
    }
  }
  return numbers;
}

void write_txn(const History& history, const PlainRegisters& plain, TxnId txn, std::string& out) {
  std::uint64_t events = 0;
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    events += plain.expressible(history.op(id)) ? 1 : 0;
  }
  append_little_endian(out, events);
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    const Op op = history.op(id);
    if (!plain.expressible(op)) continue;
    out += is_read(op.kind) ? '\0' : '\1';
    append_little_endian(out, plain.key(op.key));
    append_little_endian(out, plain.value(op));
    out += '\1';
  }
  out += history.status(txn) == TxnStatus::Committed ? '\1' : '\0';
}

// Warns of names that are lost, because the format has none.
void warn_of_names(const History& history, WriteReport& report) {
  bool sessions = false;
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    const Value name = history.session_name(SessionId{s});
    sessions |= name != Value::small(static_cast<std::int64_t>(s));
  }
  if (sessions) report.warnings.emplace_back("session names are left out");
  if (!columns_of(history).txn_name.empty()) {
    report.warnings.emplace_back("transaction names are left out");
  }
}

}  // namespace

// There is no magic number, so this decodes as far as `head` goes and looks whether it makes sense.
bool detect_dbcop_bincode(std::string_view head) {
  Decoder in(head, "");
  Header header;
  if (!decode_header(in, header)) return false;
  const auto is_control = [](char c) { return c >= 0 && c < ' '; };
  for (const std::string_view text : header.texts) {
    if (std::any_of(text.begin(), text.end(), is_control)) return false;
  }
  std::uint64_t sessions = 0;
  if (!in.number(sessions, "")) return false;
  for (std::uint64_t s = 0; s < sessions; ++s) {
    std::uint64_t txns = 0;
    if (!in.number(txns, "")) return in.ended();
    for (std::uint64_t t = 0; t < txns; ++t) {
      std::uint64_t events = 0;
      if (!in.number(events, "")) return in.ended();
      for (std::uint64_t e = 0; e < events; ++e) {
        Event event;
        if (!in.event(event)) return in.ended();
      }
      bool success = false;
      if (!in.boolean(success, "")) return in.ended();
    }
  }
  return true;
}

Result<History> read_dbcop_bincode(Input& input, unsigned) {
  const auto bytes = input.read_all();
  if (!bytes.ok()) return bytes.error();
  HistoryBuilder builder;
  builder.file(input.name(), PlaceUnit::Byte);
  Decoder in(*bytes, input.name());
  if (!Reader(in, builder).file()) return in.error();
  return std::move(builder).freeze();
}

Result<WriteReport> write_dbcop_bincode(const History& history, Output& output) {
  const auto plain = PlainRegisters::of(history, "dbcop");
  if (!plain.ok()) return plain.error();
  WriteReport report;
  report.warnings = plain->warnings();
  warn_of_remarks(history, kKeptRemarks, report);
  warn_of_names(history, report);
  std::string& out = output.buffer();
  for (const std::uint64_t number : parameters(history, report)) append_little_endian(out, number);
  for (const std::string_view name : kTexts) {
    const std::string_view text = remark(history, name).value_or("");
    append_little_endian(out, text.size());
    out += text;
  }
  append_little_endian(out, history.session_count());
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    const auto txns = history.session_txns(SessionId{s});
    append_little_endian(out, txns.size());
    for (const TxnId txn : txns) {
      write_txn(history, *plain, txn, out);
      if (auto status = output.drain(); !status.ok()) return status.error();
    }
  }
  return report;
}

}  // namespace ouro
