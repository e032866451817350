// Parses one line of the native text format into a builder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/json_tokens.h"
#include "ouro/history_builder.h"

namespace ouro {

class NativeLineParser {
 public:
  // `file` is named in errors. REQUIRES: the lines to parse are in a text that may be read up to
  // `readable` and has a zero byte after its end.
  NativeLineParser(HistoryBuilder& builder, std::string_view file, const char* readable)
      : b_(builder), file_(file), readable_(readable), t_(std::string_view("", 0), file) {}

  // Parses `text`, line number `line`, without its line break.
  Status parse(std::string_view text, std::uint64_t line);

  // Parses `text`, an array of operations, and adds them to the transaction begun last. The error
  // names no line.
  Status parse_ops(std::string_view text);

 private:
  // All of these return false after an error, whose text is in what_. Those that take a token parse
  // the value that begins with it; what `token` is afterwards is unspecified.
  bool next(Token& token);
  bool document();
  bool at_end();
  bool record();
  bool header_field(std::string_view name, Token& token);
  bool key_field(std::string_view name, Token& token);
  bool version_order(Token& token);
  bool finish_key();
  bool finish_txn();
  bool remarks(Token& token);
  bool status(const Token& token);
  bool level(const Token& token);
  bool sno(const Token& token);
  bool timestamp(Token& token, Timestamp& out);
  // The error that `what`, a clock or timestamp, is the number that means "none". Always false.
  bool refuse_reserved(std::string_view what);
  bool clock(const Token& token, std::int64_t& out);

  enum class TxnField {
    Session,
    Status,
    Invoked,
    Began,
    Committing,
    Completed,
    StartTs,
    CommitTs,
    Level,
    Sno,
    Id,
    Ops,
    Unknown
  };
  static TxnField txn_field_of(std::string_view name);
  bool txn_field(TxnField field, Token& token);

  // The word of an operation with a key, in the order of kKeyedWords. Other: another operation.
  enum class Word { Read, Write, Append, Delete, Other };
  static Word word_of(std::string_view text);
  bool ops(const Token& open);
  bool list_of_ops();
  bool short_ops();
  bool op(Token& token);
  bool rolled_back_op(Token& token);
  bool keyed_op(Word word, Token& token);
  bool add_op(Word word, KeyId key, bool has_value, bool is_list, Value value);
  bool cas_op(Token& token);
  bool inc_op(Token& token);
  bool add_element_op(Token& token);
  bool read_set(KeyId set);
  static bool is_element(Value value);
  bool predicate_op(std::string_view word, Token& token);
  bool change_op(std::string_view word, Token& token);
  bool assignments(Token& token);
  bool changed_rows(Token& token, bool update);
  bool keys_alone(Token& token);
  bool fit_for_change(std::string_view word, bool update);
  bool add_changes(bool update, bool known_rows, PredicateId condition);
  bool aggregate_kind(const Token& token, AggregateKind& out);

  bool name(Token& token, Value& out);  // Of a key or session: an integer or a string.
  bool scalar(Token& token, Value& out);
  bool odd_scalar(Token& token, Value& out);  // A scalar that is no small integer.
  bool floating(Token& token, Value& out);
  bool refuse_digits();                  // The error about a number that is too long.
  bool value(Token& token, Value& out);  // A scalar or a row.
  bool row(Token& token, Value& out);
  // {"set":[1,2]}, into values_; or a row.
  bool row_or_set(Token& token, Value& out, bool& is_set);
  bool list(Token& token, std::vector<Value>& out);
  bool key_versions(Token& token, std::vector<KeyVersion>& out);
  bool version_set(Token& token, HistoryBuilder::Rows& rows);
  bool versions_of_set(Token& token, HistoryBuilder::Rows& rows);
  bool result_or_versions(Token& token, Value& result, HistoryBuilder::Rows& rows,
                          std::size_t& part);
  bool predicate(Token& token, std::uint32_t depth, PredicateId& out);
  bool combination(PredicateKind kind, Token& token, std::uint32_t depth, PredicateId& out);
  bool comparison(PredicateKind kind, Token& token, PredicateId& out);
  bool two_sides(PredicateKind kind, Token& token, std::uint32_t depth, PredicateId& out);
  bool term(Token& token, std::uint32_t depth, PredicateId& out);
  bool calculation(PredicateKind kind, Token& token, std::uint32_t depth, PredicateId& out);
  bool column(const Token& token, ColumnId& out);

  bool fail(std::string what);
  bool expected(std::string_view what);

  HistoryBuilder& b_;
  std::string_view file_;
  const char* readable_;
  JsonTokens t_;
  std::string what_;  // The first error in the line; empty: none.

  // About the line being parsed.
  std::uint64_t line_ = 0;
  Timestamp start_, commit_;
  std::int64_t invoked_ = 0, began_ = 0, committing_ = 0, completed_ = 0;
  std::uint32_t part_depth_ = 0;  // How many rolled-back parts are open.
  bool has_session_ = false;
  bool has_ops_ = false;
  Value key_name_;
  Value initial_;
  bool has_initial_ = false;
  bool has_versions_ = false;
  bool complete_ = false;
  // Buffers, kept so that they are allocated once.
  std::vector<Value> values_;
  std::vector<KeyVersion> rows_;
  std::vector<KeyVersion> versions_;
  std::vector<HistoryBuilder::NamedVersion> named_versions_;
  std::vector<HistoryBuilder::Assignment> assignments_;
  std::vector<std::string> column_names_;
  std::vector<HistoryBuilder::NamedCell> cells_;
};

}  // namespace ouro
