#include "format/jepsen_model.h"

#include <set>
#include <utility>

namespace ouro {
namespace {

constexpr JepsenModelInfo kModels[] = {
    {JepsenModel::Txn, "txn"},
    {JepsenModel::LongFork, "long-fork"},
    {JepsenModel::CasRegister, "cas-register", true},
    {JepsenModel::Counter, "counter", true, true},
    {JepsenModel::Set, "set", true, true},
    {JepsenModel::Comments, "comments", true, true},
    {JepsenModel::Bank, "bank", false, true},
    {JepsenModel::Mutex, "mutex", true, true},
    {JepsenModel::Sequential, "sequential", false, true},
};

// What lines of clients have shown so far.
struct Signs {
  bool add = false;
  bool repeats = false;  // The same was added twice, so it is no element of a set.
  std::set<std::string> added;
  bool collection = false;  // A read of a list of scalars, or of a set.
  bool number = false;      // A read of a number.
  bool set = false;         // A read of a set in EDN's notation.
  bool micro_ops = false;   // A value like [[:r 1 nil]] of something else than :txn.
};

bool is_list_of_lists(const JepsenTree& value) {
  return value.kind == TokenKind::OpenList && !value.parts.empty() &&
         value.parts[0].kind == TokenKind::OpenList;
}

// One line. Its members are read in any order.
struct Line {
  std::string f;
  std::string type;
  JepsenTree value;
  bool is_client = true;
};

bool read_line(TokenReader& tokens, Line& out) {
  for (Token token;;) {
    if (!tokens.next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    const std::string name(token.word());
    if (token.opens() && !tokens.skip(token)) return false;
    if (!tokens.next(token)) return false;
    if (name == "f") out.f = token.word();
    if (name == "type") out.type = token.word();
    if (name == "process") {
      out.is_client = token.kind == TokenKind::Integer || token.kind == TokenKind::Nil;
    }
    if (name == "value" ? !read_tree(tokens, token, out.value) : !tokens.skip(token)) return false;
  }
}

// Whether a line settles the model; otherwise it may add to `signs`.
bool settles(const Line& line, Signs& signs, JepsenModel& model) {
  const JepsenTree& value = line.value;
  const auto is = [&](JepsenModel found) {
    model = found;
    return true;
  };
  if (line.f.empty() || line.f == "txn") return is(JepsenModel::Txn);
  if (line.f == "transfer") return is(JepsenModel::Bank);
  if (line.f == "acquire" || line.f == "release") return is(JepsenModel::Mutex);
  if (line.f == "cas") return is(JepsenModel::CasRegister);
  if (line.f == "add") {
    signs.add = true;
    if (line.type == "ok" && !signs.repeats && !value.is_collection()) {
      const std::string added =
          value.kind == TokenKind::Integer ? std::to_string(value.number) : value.text;
      signs.repeats = !signs.added.insert(added).second;
    }
  }
  if (line.f == "read" && value.is_map()) return is(JepsenModel::Bank);
  if (is_list_of_lists(value) && line.f != "add") signs.micro_ops = true;
  if (line.f != "read") return false;
  const bool keyed = value.kind == TokenKind::OpenList && value.parts.size() == 2 &&
                     value.parts[1].is_collection();
  const JepsenTree& result = keyed ? value.parts[1] : value;
  signs.set |= result.kind == TokenKind::OpenSet;
  signs.collection |= result.is_collection();
  signs.number |= result.kind == TokenKind::Integer;
  return false;
}

}  // namespace

const JepsenModelInfo& info(JepsenModel model) { return kModels[static_cast<std::size_t>(model)]; }

const JepsenModelInfo* find_jepsen_model(std::string_view name) {
  if (name == "list-append" || name == "rw-register") return &info(JepsenModel::Txn);
  if (name == "set-full") return &info(JepsenModel::Set);
  for (const JepsenModelInfo& row : kModels) {
    if (row.name == name && row.model != JepsenModel::Txn) return &row;
  }
  return nullptr;
}

const JepsenTree* JepsenTree::member(std::string_view word) const {
  for (std::size_t i = 0; is_map() && i + 1 < parts.size(); i += 2) {
    const std::string_view name = parts[i].text;
    if (name == word || (name.starts_with(':') && name.substr(1) == word)) return &parts[i + 1];
  }
  return nullptr;
}

bool read_tree(TokenReader& tokens, const Token& first, JepsenTree& out) {
  // Without recursion: values may be nested as deeply as the input likes.
  std::vector<JepsenTree> open;
  Token token = first;
  for (;;) {
    JepsenTree tree{token.kind, token.number, {}, {}};
    if (token.kind == TokenKind::Close) {
      tree = std::move(open.back());
      open.pop_back();
    } else if (token.opens()) {
      open.push_back(std::move(tree));
      if (!tokens.next(token)) return false;
      continue;
    } else {
      tree.text = std::string(token.text);
    }
    if (open.empty()) {
      out = std::move(tree);
      return true;
    }
    open.back().parts.push_back(std::move(tree));
    if (!tokens.next(token)) return false;
  }
}

Result<JepsenModel> detect_jepsen_model(TokenReader& tokens) {
  Signs signs;
  JepsenModel model = JepsenModel::Txn;
  Token token;
  if (!tokens.next(token)) return tokens.error();
  if (token.kind == TokenKind::OpenList && !tokens.next(token)) return tokens.error();
  // A fault of the form is left to the reader, which says more about it.
  while (token.kind == TokenKind::OpenMap) {
    Line line;
    if (!read_line(tokens, line)) return JepsenModel::Txn;
    if (line.is_client && settles(line, signs, model)) return model;
    if (!tokens.next(token)) return JepsenModel::Txn;
  }
  if (signs.add) {
    if (!signs.collection && !signs.number && signs.repeats) return JepsenModel::Counter;
    if (signs.collection == signs.number) {
      Error error;
      error.what =
          "':f :add' is an operation of counters and of sets, and no read tells which it is; say "
          "--model counter or --model set";
      return error;
    }
    return signs.collection ? JepsenModel::Set : JepsenModel::Counter;
  }
  if (signs.micro_ops) return JepsenModel::LongFork;
  if (signs.set) return JepsenModel::Comments;
  return JepsenModel::CasRegister;
}

}  // namespace ouro
