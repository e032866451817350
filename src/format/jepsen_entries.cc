#include "format/jepsen_entries.h"

#include <fmt/format.h>

#include <utility>

#include "format/jepsen_model_ops.h"
#include "history/decimal.h"

namespace ouro {
namespace {

constexpr std::string_view kShape = "[[:r k v] [:w k v] [:append k v] …]";

// The Jepsen workload that has operations with this :f, for messages.
std::string_view model_of(std::string_view f) {
  if (f == "enqueue" || f == "dequeue" || f == "drain") return "the queue model";
  if (f == "read" || f == "write") return "a bank, counter, set or single-register model";
  return "another model";
}

JepsenType type_of(std::string_view word) {
  if (word == "invoke") return JepsenType::Invoke;
  if (word == "ok") return JepsenType::Ok;
  if (word == "fail") return JepsenType::Fail;
  if (word == "info") return JepsenType::Info;
  return JepsenType::None;
}

// Operations of a single register, or of several with [key value] for a value, as Knossos checks.
bool is_register_op(std::string_view f) { return f == "read" || f == "write" || f == "cas"; }
constexpr std::string_view kOnlyRegister = "register";  // The name of a register without a key.

// The functions return false after an error, which error() has.
class EntryParser {
 public:
  EntryParser(TokenReader& tokens, HistoryBuilder& builder, JepsenModel model)
      : t_(tokens), b_(builder), model_(model) {}

  bool run() {
    Token token;
    if (!next(token)) return false;
    const bool wrapped = token.kind == TokenKind::OpenList;
    if (wrapped && !next(token)) return false;
    const TokenKind last = wrapped ? TokenKind::Close : TokenKind::End;
    while (token.kind != last) {
      if (token.kind != TokenKind::OpenMap) {
        return fail(token, fmt::format("expected a map like {{:type :ok, :process 0, :value {}}}, "
                                       "found {}",
                                       kShape, token.describe()));
      }
      if (!entry(token) || !next(token)) return false;
    }
    if (wrapped && !next(token)) return false;
    if (token.kind == TokenKind::End) return true;
    return fail(token, "expected the end of the input behind the list of operations");
  }

  JepsenEntries& entries() { return entries_; }
  Error& error() { return error_; }

 private:
  enum Field : unsigned {
    kType = 1,
    kProcess = 2,
    kF = 4,
    kValue = 8,
    kTime = 16,
    kIndex = 32,
    kError = 64
  };

  bool next(Token& token) {
    if (t_.next(token)) return true;
    error_ = t_.error();
    return false;
  }
  bool fail(const Token& at, std::string_view what) {
    error_ = t_.error_at(at, what);
    return false;
  }
  // Notes that something is wrong with :value. It becomes an error only if the line turns out to be
  // a client's and needs its value. Always returns false; error() is not set.
  bool doubt(const Token& at, std::string what) {
    doubt_at_ = at;
    doubt_at_.text = {};
    doubt_ = std::move(what);
    return false;
  }

  bool entry(const Token& open) {
    entry_ = {};
    entry_.line = t_.line(open);
    entry_.place = entries_.clients.size() + entries_.ignored;
    entry_.begin = t_.rest().size() + 1;  // Behind the bracket.
    f_.clear();
    plain_ = {};
    doubt_.clear();
    type_found_.clear();
    tree_ = {};
    is_client_ = true;
    unsigned seen = 0;
    const std::size_t ops = entries_.ops.size();
    const std::size_t elements = entries_.elements.size();
    for (Token name;;) {
      if (!next(name)) return false;
      if (name.kind == TokenKind::Close) break;
      const unsigned which = field_of(name.word());
      if ((seen & which) != 0) return fail(name, fmt::format("{} appears twice", name.describe()));
      seen |= which;
      if (name.opens() && !skip(name)) return false;
      if (!field(which)) return false;
    }
    entry_.end = t_.rest().size();
    if (!is_client_) {
      ++entries_.ignored;
      entries_.ops.resize(ops);
      entries_.elements.resize(elements);
      return true;
    }
    return finish(open);
  }

  static unsigned field_of(std::string_view name) {
    if (name == "type") return kType;
    if (name == "process") return kProcess;
    if (name == "f") return kF;
    if (name == "value") return kValue;
    if (name == "time") return kTime;
    if (name == "index") return kIndex;
    if (name == "error") return kError;
    return 0;
  }

  bool field(unsigned which) {
    Token token;
    if (!next(token)) return false;
    switch (which) {
      case kType:
        entry_.type = type_of(token.word());
        if (entry_.type == JepsenType::None) type_found_ = token.describe();
        return skip(token);
      case kProcess:
        entry_.has_process = token.kind == TokenKind::Integer;
        is_client_ = entry_.has_process || token.kind == TokenKind::Nil;
        entry_.process = token.number;
        return skip(token);
      case kF:
        f_ = token.word();
        return skip(token);
      case kTime:
        if (token.kind == TokenKind::Integer) entry_.time = token.number;
        return skip(token);
      case kIndex:
        entry_.has_index = true;
        if (token.kind == TokenKind::Integer) entry_.index = token.number;
        return skip(token);
      case kValue:
        return value(token);
      case kError:
        entry_.has_error = token.kind != TokenKind::Nil;
        return skip(token);
      default:
        return skip(token);
    }
  }

  bool skip(const Token& token) {
    if (t_.skip(token)) return true;
    error_ = t_.error();
    return false;
  }

  // Checks the line of a client that was read, and adds it to entries_.
  bool finish(const Token& open) {
    if (entry_.type == JepsenType::None) {
      return fail(open, type_found_.empty()
                            ? "the operation has no :type; expected :invoke, :ok, :fail or :info"
                            : fmt::format("unknown :type {}; expected :invoke, :ok, :fail or :info",
                                          type_found_));
    }
    if (info(model_).has_trees) return finish_model(open);
    if (is_register_op(f_) && plain_.shape != Plain::Shape::None && !register_op() &&
        doubt_.empty()) {
      doubt_at_ = open;
      doubt_ = fmt::format("expected :value [old new] of :f :{}", f_);
    }
    const bool txn = f_.empty() || f_ == "txn";
    const bool may_lack = entry_.type == JepsenType::Fail || entry_.type == JepsenType::Info;
    if (!doubt_.empty() && !(txn && may_lack)) return wrong_value();
    if (!entry_.has_ops && entry_.type == JepsenType::Ok) {
      doubt_at_ = open;
      doubt_ = fmt::format("the operation has no :value; an :ok needs {}", kShape);
      return wrong_value();
    }
    entries_.clients.push_back(entry_);
    return true;
  }

  bool wrong_value() {
    if (f_.empty() || f_ == "txn") return fail(doubt_at_, doubt_);
    return fail(doubt_at_,
                fmt::format("':f :{}' is an operation of {}; Ouro checks transactions of "
                            "reads, writes and appends: :f :txn with :value {}",
                            f_, model_of(f_), kShape));
  }

  // A :value that is no list of operations, for :f :read, :write and :cas: nil or a scalar
  // (Single), [a b] (Pair), or [a [b c]] (KeyAndPair).
  struct Plain {
    enum class Shape : std::uint8_t { None, Single, Pair, KeyAndPair } shape = Shape::None;
    Value parts[3];  // a, b and c.
  };

  // Makes the operation of a register from :f and plain_. False: they do not fit together.
  bool register_op() {
    MicroOp op;
    const auto [key, value, desired] = plain_.parts;
    const bool keyed =
        f_ == "cas" ? plain_.shape == Plain::Shape::KeyAndPair : plain_.shape == Plain::Shape::Pair;
    const bool bare =
        f_ == "cas" ? plain_.shape == Plain::Shape::Pair : plain_.shape == Plain::Shape::Single;
    if (!keyed && !bare) return false;
    op.key = keyed ? key : b_.text(kOnlyRegister);
    op.value = keyed ? value : key;
    op.desired = keyed ? desired : value;
    const bool named = op.key.kind() == ValueKind::Integer ||
                       (op.key.kind() == ValueKind::Wide && b_.fits_64_bits(op.key));
    if (!named && op.key.kind() != ValueKind::Text) return false;
    op.kind = f_ == "cas"     ? MicroOp::Kind::Cas
              : f_ == "write" ? MicroOp::Kind::Write
                              : MicroOp::Kind::Read;
    op.result = op.value.is_null() ? MicroOp::Result::Nil : MicroOp::Result::Scalar;
    entry_.is_cas = op.kind == MicroOp::Kind::Cas;
    entry_.first_op = entries_.ops.size();
    entry_.op_count = 1;
    entry_.has_ops = true;
    entries_.ops.push_back(op);
    doubt_.clear();
    return true;
  }

  // As finish(), for a line whose value is tree_.
  bool finish_model(const Token& open) {
    entry_.first_op = entries_.ops.size();
    const std::string_view wrong = JepsenModelOps(b_, model_, entries_, entry_).add(f_, tree_);
    if (!wrong.empty()) {
      return fail(open,
                  fmt::format("the operation is none of model {}: {}", info(model_).name, wrong));
    }
    entry_.op_count = static_cast<std::uint32_t>(entries_.ops.size() - entry_.first_op);
    entry_.has_ops = true;
    entries_.clients.push_back(entry_);
    return true;
  }

  bool value(const Token& token) {
    if (info(model_).has_trees) {
      if (read_tree(t_, token, tree_)) return true;
      error_ = t_.error();
      return false;
    }
    if (token.kind == TokenKind::Nil) {
      plain_.shape = Plain::Shape::Single;
      return true;
    }
    const std::size_t outer = t_.depth() - (token.opens() ? 1 : 0);
    entry_.first_op = entries_.ops.size();
    entry_.has_ops = micro_ops(token);
    if (entry_.has_ops) {
      entry_.op_count = static_cast<std::uint32_t>(entries_.ops.size() - entry_.first_op);
      return true;
    }
    if (doubt_.empty()) return false;
    entries_.ops.resize(entry_.first_op);
    if (t_.skip_to(outer)) return true;
    error_ = t_.error();
    return false;
  }

  bool micro_ops(const Token& open) {
    if (open.kind != TokenKind::OpenList) {
      if (!open.opens() && scalar(open, plain_.parts[0])) plain_.shape = Plain::Shape::Single;
      return doubt(open, fmt::format("expected :value {}, found {}", kShape, open.describe()));
    }
    for (Token token;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return true;
      if (token.kind != TokenKind::OpenList) {
        if (entry_.first_op == entries_.ops.size() && !plain_pair(token)) return false;
        return doubt(
            token, fmt::format("expected an operation like [:r k v], found {}", token.describe()));
      }
      if (!micro_op()) return false;
    }
  }

  // Parses "1 2]" or "1 [2 3]]", after a '[', into plain_; `first` is the 1. Anything else leaves
  // plain_ as it is. False: the input ended.
  bool plain_pair(const Token& first) {
    Plain pair{Plain::Shape::Pair, {}};
    if (first.opens() || !scalar(first, pair.parts[0])) return true;
    Token token;
    if (!next(token)) return false;
    if (token.kind == TokenKind::OpenList) {
      pair.shape = Plain::Shape::KeyAndPair;
      for (Value* part : {&pair.parts[1], &pair.parts[2]}) {
        if (!next(token)) return false;
        if (token.opens() || token.kind == TokenKind::Close || !scalar(token, *part)) return true;
      }
      if (!next(token)) return false;
      if (token.kind != TokenKind::Close) return true;
    } else if (token.opens() || token.kind == TokenKind::Close || !scalar(token, pair.parts[1])) {
      return true;
    }
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) plain_ = pair;
    return true;
  }

  bool micro_op() {
    MicroOp op;
    Token token;
    if (!next(token)) return false;
    const std::string_view word = token.word();
    if (word == "r") {
      op.kind = MicroOp::Kind::Read;
    } else if (word == "w") {
      op.kind = MicroOp::Kind::Write;
    } else if (word == "append") {
      op.kind = MicroOp::Kind::Append;
    } else if (word == "cas") {
      op.kind = MicroOp::Kind::Cas;
    } else {
      return doubt(token, fmt::format("unknown operation {}; expected :r, :w, :append or :cas",
                                      token.describe()));
    }
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return doubt(token, "expected a key");
    if (token.kind == TokenKind::Nil) return doubt(token, "nil cannot be a key");
    if (!name(token, op.key) || !next(token)) return false;
    if (op.kind == MicroOp::Kind::Cas) {
      if (!expected_and_desired(token, op) || !next(token)) return false;
    } else if (token.kind != TokenKind::Close) {
      if (!result(token, op) || !next(token)) return false;
      if (token.kind != TokenKind::Close) {
        return doubt(token, fmt::format("expected ']', found {}", token.describe()));
      }
    }
    if (op.kind != MicroOp::Kind::Read && op.result == MicroOp::Result::Missing) {
      return doubt(token, "expected a value: only a read may lack one");
    }
    entries_.ops.push_back(op);
    return true;
  }

  // The [old new] of a compare-and-set.
  bool expected_and_desired(const Token& open, MicroOp& op) {
    constexpr std::string_view kPair = "expected [old new] behind :cas and a key";
    if (open.kind != TokenKind::OpenList) return doubt(open, std::string(kPair));
    op.result = MicroOp::Result::Scalar;
    Token token;
    for (Value* part : {&op.value, &op.desired}) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return doubt(token, std::string(kPair));
      if (!scalar(token, *part)) return false;
    }
    if (!next(token)) return false;
    return token.kind == TokenKind::Close || doubt(token, std::string(kPair));
  }

  bool result(const Token& token, MicroOp& op) {
    if (token.kind == TokenKind::Nil) {
      op.result = MicroOp::Result::Nil;
      return true;
    }
    if (token.kind != TokenKind::OpenList) {
      op.result = MicroOp::Result::Scalar;
      return scalar(token, op.value);
    }
    if (op.kind != MicroOp::Kind::Read) return doubt(token, "only a read may have a list");
    op.result = MicroOp::Result::List;
    const std::size_t first = entries_.elements.size();
    op.value = Value::from_bits(first);
    for (Token element;;) {
      if (!next(element)) return false;
      if (element.kind == TokenKind::Close) break;
      Value value;
      if (!scalar(element, value)) return false;
      entries_.elements.push_back(value);
    }
    op.element_count = static_cast<std::uint32_t>(entries_.elements.size() - first);
    return true;
  }

  // As Clojure reads them: with a point or an exponent a floating-point number, with an M behind it
  // an exact one; integers may have any size.
  bool number(const Token& token, Value& out) {
    std::string_view text = token.text;
    const bool named = text == "NaN" || text == "Inf" || text == "-Inf";
    if (text.starts_with('+')) text.remove_prefix(1);
    const bool exact = text.ends_with('M') || text.find_first_of(".eE") == std::string_view::npos;
    if (text.ends_with('M') || text.ends_with('N')) text.remove_suffix(named ? 0 : 1);
    if (named) {
      out = b_.floating(float_of(text));
    } else if (exact && is_json_number(text)) {
      out = b_.decimal(text);
    } else if (const auto floating = parse_float(text); floating && !exact) {
      out = b_.floating(*floating);
    }
    return !out.is_null() ||
           doubt(token, fmt::format("expected a number with at most {} digits, "
                                    "found {}",
                                    HistoryBuilder::kMostDigits, token.describe()));
  }

  // Keys are integers or texts. Others are taken as they are written.
  bool name(const Token& token, Value& out) {
    if (!scalar(token, out)) return false;
    if (out.kind() == ValueKind::Boolean) out = b_.text(out.truth() ? "true" : "false");
    const bool large = out.kind() == ValueKind::Wide && !b_.fits_64_bits(out);
    const bool odd = out.kind() == ValueKind::Decimal || out.kind() == ValueKind::Float;
    if (large || odd) out = b_.text(token.text);
    return true;
  }

  bool scalar(const Token& token, Value& out) {
    switch (token.kind) {
      case TokenKind::Nil:
        out = Value::null();
        return true;
      case TokenKind::Integer:
        out = b_.integer(token.number);
        return true;
      case TokenKind::Number:
        return number(token, out);
      case TokenKind::True:
      case TokenKind::False:
        out = Value::boolean(token.kind == TokenKind::True);
        return true;
      case TokenKind::String:
      case TokenKind::Keyword:
      case TokenKind::Symbol:
      case TokenKind::Character:
        out = b_.text(token.text);
        return true;
      default:
        return doubt(token, fmt::format("expected an integer, a string or a keyword, found {}",
                                        token.describe()));
    }
  }

  TokenReader& t_;
  HistoryBuilder& b_;
  const JepsenModel model_;
  JepsenEntries entries_;
  Error error_;

  // About the line being read.
  JepsenEntry entry_;
  bool is_client_ = true;
  std::string f_;
  Plain plain_;
  JepsenTree tree_;         // The value, if the model wants that.
  std::string type_found_;  // A :type that is not known, for the message.
  Token doubt_at_;
  std::string doubt_;  // See doubt(); empty: none.
};

}  // namespace

Result<JepsenEntries> read_jepsen_entries(TokenReader& tokens, HistoryBuilder& builder,
                                          JepsenModel model) {
  EntryParser parser(tokens, builder, model);
  if (!parser.run()) return std::move(parser.error());
  return std::move(parser.entries());
}

}  // namespace ouro
