#include "format/jepsen_model_ops.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace ouro {
namespace {

// Numbers that can be added up without a thought.
constexpr std::int64_t kLargestAmount = std::int64_t{1} << 50;

bool is_amount(const JepsenTree& tree) {
  return tree.kind == TokenKind::Integer && tree.number > -kLargestAmount &&
         tree.number < kLargestAmount;
}

}  // namespace

std::string JepsenModelOps::subkey(std::string_view key, std::size_t number) {
  return std::string(key) + "_" + std::to_string(number);
}

std::string_view JepsenModelOps::add(std::string_view f, const JepsenTree& value) {
  switch (model_) {
    case JepsenModel::Bank:
      return bank(f, value);
    case JepsenModel::Mutex:
      return mutex(f);
    case JepsenModel::Sequential:
      return sequential(f, value);
    default:
      return object(f, value);
  }
}

void JepsenModelOps::push(MicroOp::Kind kind, Value key, Value value) {
  MicroOp op;
  op.kind = kind;
  op.key = key;
  op.value = value;
  op.result = value.is_null() ? MicroOp::Result::Nil : MicroOp::Result::Scalar;
  entries_.ops.push_back(op);
}

bool JepsenModelOps::scalar(const JepsenTree& tree, Value& out) {
  if (tree.kind == TokenKind::Integer) {
    out = b_.integer(tree.number);
  } else if (tree.kind == TokenKind::String || tree.kind == TokenKind::Keyword ||
             tree.kind == TokenKind::Symbol) {
    out = b_.text(tree.text);
  } else {
    return false;
  }
  return true;
}

// Counters, sets and comments. A value may be [key value].
std::string_view JepsenModelOps::object(std::string_view f, const JepsenTree& value) {
  const bool counter = model_ == JepsenModel::Counter;
  const bool reads = f == "read";
  if (!reads && f != (model_ == JepsenModel::Comments ? "write" : "add")) {
    return model_ == JepsenModel::Comments ? "expected :f :write or :read"
                                           : "expected :f :add or :read";
  }
  const bool pair = value.kind == TokenKind::OpenList && value.parts.size() == 2;
  const bool keyed = pair && (counter || !reads || value.parts[1].is_collection() ||
                              (value.parts[1].is_nil() && !is_ok()));
  Value key = b_.text(info(model_).name);
  if (keyed && !scalar(value.parts[0], key)) return "expected a key in [key value]";
  const JepsenTree& rest = keyed ? value.parts[1] : value;
  if (!reads) {
    Value added;
    if (counter ? !is_amount(rest) || !scalar(rest, added) : !scalar(rest, added)) {
      return counter ? "expected an integer to add" : "expected an element to add";
    }
    push(counter ? MicroOp::Kind::Inc : MicroOp::Kind::Add, key, added);
    return "";
  }
  if (!is_ok()) return "";  // What it returned is not known.
  if (!counter) return read_set(key, rest);
  if (!rest.is_nil() && !is_amount(rest)) return "expected a read to return an integer";
  push(MicroOp::Kind::Read, key, rest.is_nil() ? Value::null() : b_.integer(rest.number));
  return "";
}

std::string_view JepsenModelOps::read_set(Value key, const JepsenTree& elements) {
  if (!elements.is_collection() && !elements.is_nil()) {
    return "expected a read to return a collection";
  }
  MicroOp op;
  op.kind = MicroOp::Kind::ReadSet;
  op.key = key;
  op.value = Value::from_bits(entries_.elements.size());
  std::vector<Value> sorted;
  for (const JepsenTree& part : elements.parts) {
    Value element;
    if (!scalar(part, element)) return "expected integers and names as elements";
    sorted.push_back(element);
  }
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return "a read returned an element twice";
  }
  op.element_count = static_cast<std::uint32_t>(sorted.size());
  entries_.elements.insert(entries_.elements.end(), sorted.begin(), sorted.end());
  entries_.ops.push_back(op);
  return "";
}

std::string_view JepsenModelOps::bank(std::string_view f, const JepsenTree& value) {
  if (f == "transfer") {
    entry_.transfers = true;
    const JepsenTree* from = value.member("from");
    const JepsenTree* to = value.member("to");
    const JepsenTree* amount = value.member("amount");
    Value accounts[2];
    const bool fits = from != nullptr && to != nullptr && amount != nullptr && is_amount(*amount) &&
                      scalar(*from, accounts[0]) && scalar(*to, accounts[1]);
    if (!fits) return "expected :value {:from 0, :to 1, :amount 5}";
    push(MicroOp::Kind::Inc, accounts[0], b_.integer(-amount->number));
    push(MicroOp::Kind::Inc, accounts[1], b_.integer(amount->number));
    return "";
  }
  if (f != "read") return "expected :f :transfer or :read";
  if (!is_ok()) return "";
  if (!value.is_map()) return "expected a read to return a map from accounts to balances";
  for (std::size_t i = 0; i + 1 < value.parts.size(); i += 2) {
    Value account;
    const std::string& text = value.parts[i].text;
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    // The names of maps are texts in JSON.
    if (value.parts[i].kind == TokenKind::String && code == std::errc() &&
        end == text.data() + text.size() && !text.empty()) {
      account = b_.integer(number);
    } else if (!scalar(value.parts[i], account)) {
      return "expected integers and names as accounts";
    }
    const JepsenTree& balance = value.parts[i + 1];
    if (!is_amount(balance) && !balance.is_nil()) return "expected integers as balances";
    push(MicroOp::Kind::Read, account,
         balance.is_nil() ? Value::null() : b_.integer(balance.number));
  }
  return "";
}

std::string_view JepsenModelOps::mutex(std::string_view f) {
  if (f != "acquire" && f != "release") return "expected :f :acquire or :release";
  push(MicroOp::Kind::Cas, b_.text("mutex"), b_.text(f == "acquire" ? "free" : "held"));
  entries_.ops.back().desired = b_.text(f == "acquire" ? "held" : "free");
  return "";
}

// A read returns [key [last … first]], or just that list; a subkey that it did not find is nil.
std::string_view JepsenModelOps::sequential(std::string_view f, const JepsenTree& value) {
  entry_.apart = true;
  Value key = b_.text("key");
  if (f == "write") {
    const bool pair = value.kind == TokenKind::OpenList && !value.parts.empty();
    const JepsenTree& named = pair ? value.parts[0] : value;
    if (!scalar(named, key)) return "expected a key to write";
    push(MicroOp::Kind::WriteAll,
         b_.text(named.kind == TokenKind::Integer ? std::to_string(named.number) : named.text),
         b_.integer(1));
    return "";
  }
  if (f != "read") return "expected :f :write or :read";
  if (!is_ok()) return "";
  const bool pair = value.kind == TokenKind::OpenList && value.parts.size() == 2 &&
                    value.parts[1].kind == TokenKind::OpenList;
  if (pair && !scalar(value.parts[0], key)) return "expected a key in [key subkeys]";
  const JepsenTree& found = pair ? value.parts[1] : value;
  if (found.kind != TokenKind::OpenList) return "expected a read to return a list of subkeys";
  entries_.subkeys = std::max(entries_.subkeys, found.parts.size());
  const std::string key_text = !pair ? "key"
                               : value.parts[0].kind == TokenKind::Integer
                                   ? std::to_string(value.parts[0].number)
                                   : value.parts[0].text;
  for (std::size_t i = 0; i < found.parts.size(); ++i) {
    const std::string name = subkey(key_text, found.parts.size() - 1 - i);
    push(MicroOp::Kind::Read, b_.text(name),
         found.parts[i].is_nil() ? Value::null() : b_.integer(1));
  }
  return "";
}

}  // namespace ouro
