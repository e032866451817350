#include "tap/statement.h"

#include <pg_query.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <unordered_map>

#include "format/json_tree.h"
#include "tap/literals.h"

namespace ouro::tapping {
namespace {

using Node = JsonTree::Node;

std::string text_of(Node node, std::string_view name) {
  const auto text = node.member(name).text();
  return text ? std::string(*text) : "";
}

// The only element of a list of one; else no value.
Node only(Node list) {
  Node found;
  std::size_t count = 0;
  if (!list.is_list()) return found;
  list.for_each([&](Node node) {
    found = node;
    ++count;
  });
  return count == 1 ? found : Node();
}

// The names of functions that write nothing and do not look at tables.
bool is_harmless(std::string_view function) {
  static constexpr std::array<std::string_view, 36> known = {
      "abs",     "array_agg",  "avg",   "bool_and",   "bool_or",  "btrim",    "ceil",      "concat",
      "count",   "date_trunc", "floor", "format",     "greatest", "json_agg", "jsonb_agg", "least",
      "length",  "lower",      "ltrim", "max",        "md5",      "min",      "now",       "random",
      "replace", "round",      "rtrim", "string_agg", "strpos",   "substr",   "substring", "sum",
      "to_char", "trim",       "trunc", "upper"};
  return std::find(known.begin(), known.end(), function) != known.end();
}

// Whether all functions that the tree calls are harmless. Looks at the text of the tree, in which
// quotes within strings have a backslash.
bool calls_harmless_only(std::string_view tree) {
  constexpr std::string_view call = "\"FuncCall\":{\"funcname\":[";
  constexpr std::string_view part = "{\"String\":{\"sval\":\"";
  for (std::size_t at = tree.find("\"FuncCall\":{"); at != tree.npos;
       at = tree.find("\"FuncCall\":{", at + 1)) {
    std::string_view rest = tree.substr(at);
    if (!rest.starts_with(call)) return false;
    rest.remove_prefix(call.size());
    constexpr std::string_view own = "{\"String\":{\"sval\":\"pg_catalog\"}},";
    if (rest.starts_with(own)) rest.remove_prefix(own.size());
    if (!rest.starts_with(part)) return false;
    rest.remove_prefix(part.size());
    const std::size_t end = rest.find('"');
    if (!is_harmless(rest.substr(0, end)) || !rest.substr(end).starts_with("\"}}]")) return false;
  }
  return true;
}

// Takes the conditions `column = operand` from WHERE. Returns whether there is nothing else in it.
bool read_where(std::string_view sql, Node where, Statement& statement) {
  if (!where.exists()) return false;
  bool all = true;
  const auto take = [&](Node node) {
    const Node comparison = node.member("A_Expr");
    const Node sign = only(comparison.member("name"));
    const bool equality =
        text_of(comparison, "kind") == "AEXPR_OP" && text_of(sign.member("String"), "sval") == "=";
    const Node left = comparison.member("lexpr");
    const Node right = comparison.member("rexpr");
    Operand operand;
    std::string column = equality ? column_of(left) : "";
    if (!column.empty() && read_operand(sql, right, operand)) {
      statement.equal.emplace_back(std::move(column), std::move(operand));
      return;
    }
    column = equality ? column_of(right) : "";
    operand = {};
    if (!column.empty() && read_operand(sql, left, operand)) {
      statement.equal.emplace_back(std::move(column), std::move(operand));
      return;
    }
    all = false;
  };
  const Node both = where.member("BoolExpr");
  if (!both.exists()) {
    take(where);
  } else if (text_of(both, "boolop") == "AND_EXPR") {
    both.member("args").for_each(take);
  } else {
    all = false;
  }
  return all;
}

struct From {
  std::vector<std::pair<std::string, std::string>> tables;  // Schema and name.
  bool plain = true;  // Tables and joins of tables only, none of them twice.
};

From read_from(Node list) {
  From from;
  std::vector<Node> pending;
  if (list.is_list()) list.for_each([&](Node node) { pending.push_back(node); });
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    if (const Node join = node.member("JoinExpr"); join.exists()) {
      pending.push_back(join.member("larg"));
      pending.push_back(join.member("rarg"));
    } else if (const Node table = node.member("RangeVar"); table.exists()) {
      const std::string name = text_of(table, "relname");
      if (table.member("alias").member("colnames").exists()) from.plain = false;
      for (const auto& other : from.tables) from.plain &= other.second != name;
      from.tables.emplace_back(text_of(table, "schemaname"), name);
    } else {
      from.plain = false;
    }
  }
  return from;
}

void read_select(std::string_view sql, Node select, std::string_view tree, Statement& statement) {
  statement.act = Act::Select;
  const bool harmless = calls_harmless_only(tree);
  const bool makes = select.member("intoClause").exists();
  const bool with = select.member("withClause").exists();
  statement.may_write = makes || !harmless || tree.find("\"InsertStmt\":{") != tree.npos ||
                        tree.find("\"UpdateStmt\":{") != tree.npos ||
                        tree.find("\"DeleteStmt\":{") != tree.npos;
  const From from = read_from(select.member("fromClause"));
  const auto has = [&](std::string_view name) { return select.member(name).exists(); };
  const bool no_table =
      from.tables.empty() && from.plain && tree.find("\"RangeVar\":{") == tree.npos;
  statement.not_judged = no_table                                    ? "no table"
                         : text_of(select, "op") != "SETOP_NONE"     ? "UNION or the like"
                         : makes                                     ? "SELECT INTO"
                         : with                                      ? "WITH"
                         : has("valuesLists")                        ? "VALUES"
                         : has("groupClause") || has("havingClause") ? "GROUP BY"
                         : has("distinctClause")                     ? "DISTINCT"
                         : tree.find("\"FuncCall\":{") != tree.npos  ? "calls a function"
                         : !from.plain ? "FROM has more than tables, each once"
                                       : "";
  if (from.tables.size() != 1 || !from.plain || with) return;
  statement.schema = from.tables[0].first;
  statement.table = from.tables[0].second;
  statement.locks = has("lockingClause");
  const bool plain_where = read_where(sql, select.member("whereClause"), statement);
  bool skips = has("limitOffset");
  if (has("limitCount")) {
    Operand limit;
    const bool read = read_operand(sql, select.member("limitCount"), limit);
    skips = skips || !read || limit.parameter > 0 || limit.text == "0" || limit.text[0] == '-';
  }
  if (const Node locks = select.member("lockingClause"); locks.is_list()) {
    locks.for_each([&](Node lock) {
      skips |= text_of(lock.member("LockingClause"), "waitPolicy") == "LockWaitSkip";
    });
  }
  // At read committed a row that is locked after it was deleted and inserted again is not returned,
  // though it was never absent.
  statement.tells_absence = plain_where && !skips && !statement.locks;
  const bool all_rows = !has("limitCount") && !has("limitOffset") && !statement.locks;
  if (all_rows && statement.not_judged.empty()) {
    statement.where = read_condition(sql, select.member("whereClause"));
  }
}

void read_assigned(Node targets, Statement& statement) {
  statement.updates = true;
  if (!targets.is_list()) return;
  targets.for_each([&](Node target) {
    statement.assigned.push_back(text_of(target.member("ResTarget"), "name"));
  });
}

void read_change(std::string_view sql, std::string_view kind, Node change, std::string_view tree,
                 Statement& statement) {
  statement.act = Act::Change;
  statement.may_write = !calls_harmless_only(tree) || change.member("withClause").exists();
  const Node table = change.member("relation");
  statement.schema = text_of(table, "schemaname");
  statement.table = text_of(table, "relname");
  const bool alone =
      !change.member("fromClause").exists() && !change.member("usingClause").exists();
  statement.not_judged = !change.member("returningList").exists() ? "returns nothing"
                         : !alone                                 ? "several tables"
                         : statement.may_write                    ? "calls a function"
                                                                  : "";
  if (kind == "UpdateStmt") read_assigned(change.member("targetList"), statement);
  if (const Node conflict = change.member("onConflictClause"); conflict.exists()) {
    read_assigned(conflict.member("targetList"), statement);
  }
  if (alone && kind != "InsertStmt") read_where(sql, change.member("whereClause"), statement);
}

void read_transaction(Node node, Statement& statement) {
  const std::string kind = text_of(node, "kind").substr(std::string_view("TRANS_STMT_").size());
  statement.act = kind == "BEGIN" || kind == "START"         ? Act::Begin
                  : kind == "COMMIT"                         ? Act::Commit
                  : kind == "ROLLBACK"                       ? Act::Rollback
                  : kind == "ROLLBACK_TO"                    ? Act::RollbackTo
                  : kind == "SAVEPOINT" || kind == "RELEASE" ? Act::Savepoint
                                                             : Act::TwoPhase;
  statement.chain = node.member("chain").is_true();
  statement.may_write = false;
}

// `node` is the statement, `tree` the text of the trees of all statements.
Statement read_statement(std::string_view sql, Node node, std::string_view tree) {
  Statement statement;
  const auto is = [&](std::string_view name) { return node.member(name).exists(); };
  if (is("TransactionStmt")) {
    read_transaction(node.member("TransactionStmt"), statement);
  } else if (is("SelectStmt")) {
    read_select(sql, node.member("SelectStmt"), tree, statement);
  } else if (is("VariableSetStmt") || is("VariableShowStmt")) {
    statement.act = Act::Setting;
    statement.may_write = false;
  } else if (is("DeallocateStmt") || is("DiscardStmt") || is("PrepareStmt")) {
    statement.act = Act::Forget;
    statement.may_write = false;
  } else {
    for (const std::string_view kind : {"InsertStmt", "UpdateStmt", "DeleteStmt"}) {
      if (is(kind)) read_change(sql, kind, node.member(kind), tree, statement);
    }
  }
  return statement;
}

// Longer texts are not parsed: the parser recurses over what it is given, and all connections wait
// for it.
constexpr std::size_t kLongestParsed = std::size_t{32} << 10;

}  // namespace

std::shared_ptr<const Text> analyse(std::string_view sql) {
  auto text = std::make_shared<Text>();
  text->sql = sql;
  if (sql.size() > kLongestParsed) return text;
  const PgQueryParseResult parsed = pg_query_parse(text->sql.c_str());
  if (parsed.error == nullptr) {
    const std::string_view tree = parsed.parse_tree;
    JsonTree json;
    if (json.parse(tree) && json.root().member("stmts").is_list()) {
      text->parsed = true;
      json.root().member("stmts").for_each([&](Node raw) {
        text->statements.push_back(read_statement(text->sql, raw.member("stmt"), tree));
      });
    }
  }
  pg_query_free_parse_result(parsed);
  return text;
}

std::string shape_of(std::string_view sql) {
  constexpr std::size_t kLongest = 200;
  if (sql.size() > kLongestParsed) return std::string(sql.substr(0, kLongest)) + " …";
  const std::string whole(sql);
  const PgQueryNormalizeResult result = pg_query_normalize(whole.c_str());
  std::string shape = result.error == nullptr ? result.normalized_query : whole;
  pg_query_free_normalize_result(result);
  std::string out;
  for (const char c : shape) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  if (out.size() > kLongest) out = out.substr(0, kLongest) + " …";
  return out;
}

struct Texts::State {
  // A text that was parsed, and for each constant in a condition which literal it is.
  struct Template {
    std::shared_ptr<const Text> text;
    std::vector<std::size_t> literals;
    bool usable = true;
  };
  std::unordered_map<std::string, std::shared_ptr<const Text>> texts;
  std::unordered_map<std::string, Template> templates;  // By form.

  static Template make(std::shared_ptr<const Text> text, const Form& form);
  static std::shared_ptr<const Text> fill(const Template& with, std::string_view sql,
                                          const Form& form);
};

namespace {

// Visits the literals of conditions.
void for_each_constant(Statement& statement, const std::function<void(Operand&)>& visit) {
  const auto literal = [&](Operand& operand) {
    if (operand.parameter == 0 && !operand.keyword) visit(operand);
  };
  for (auto& [column, operand] : statement.equal) literal(operand);
  if (statement.where) for_each_operand(statement.where->condition, literal);
}

}  // namespace

Texts::State::Template Texts::State::make(std::shared_ptr<const Text> text, const Form& form) {
  Template made;
  for (const Statement& statement : text->statements) {
    Statement copy = statement;
    for_each_constant(copy, [&](const Operand& operand) {
      std::size_t which = 0;
      while (which < form.literals.size() &&
             static_cast<std::int64_t>(form.literals[which].at) != operand.at) {
        ++which;
      }
      made.usable &= which < form.literals.size();
      made.literals.push_back(which);
    });
  }
  made.text = std::move(text);
  return made;
}

std::shared_ptr<const Text> Texts::State::fill(const Template& with, std::string_view sql,
                                               const Form& form) {
  auto text = std::make_shared<Text>(*with.text);
  text->sql = sql;
  auto literal = with.literals.begin();
  for (Statement& statement : text->statements) {
    for_each_constant(statement,
                      [&](Operand& operand) { operand.text = form.literals[*literal++].text; });
  }
  return text;
}

Texts::Texts() : state_(std::make_unique<State>()) {}
Texts::~Texts() = default;

std::shared_ptr<const Text> Texts::get(std::string_view sql) {
  constexpr std::size_t kMost = 4096;
  constexpr std::size_t kLongestKept = 8192;  // Bytes.
  if (sql.size() > kLongestKept) return analyse(sql);
  const auto found = state_->texts.find(std::string(sql));
  if (found != state_->texts.end()) return found->second;
  const std::optional<Form> form = take_literals(sql);
  if (form) {
    const auto known = state_->templates.find(form->text);
    if (known != state_->templates.end() && known->second.usable) {
      return State::fill(known->second, sql, *form);
    }
  }
  if (state_->texts.size() >= kMost) state_->texts.clear();
  if (state_->templates.size() >= kMost) state_->templates.clear();
  auto text = analyse(sql);
  state_->texts[text->sql] = text;
  if (form && text->parsed) state_->templates[form->text] = State::make(text, *form);
  return text;
}

}  // namespace ouro::tapping
