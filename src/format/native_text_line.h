// One line of the native text format into a builder.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

#include "format/input.h"
#include "ouro/history_builder.h"

namespace ouro {

class NativeLineParser {
 public:
  NativeLineParser(HistoryBuilder& builder, std::string_view file) : b_(builder), file_(file) {}

  // Parses `text`, line number `line`. REQUIRES: Input::kPadding bytes are readable behind it.
  Status parse(std::string_view text, std::uint64_t line);

 private:
  using Json = simdjson::ondemand::value;

  // All of these return false after a complaint.
  bool record(simdjson::ondemand::object object);
  bool header_field(std::string_view name, Json value);
  bool key_field(std::string_view name, Json value);
  bool txn_field(std::string_view name, Json value);
  bool finish_key();
  bool finish_txn();
  bool remarks(Json value);
  bool status(Json value);
  bool timestamp(Json value, Timestamp& out);
  bool clock(Json value, std::int64_t& out);
  bool ops(Json value);
  bool op(simdjson::ondemand::array array);
  bool predicate_op(std::string_view word, simdjson::ondemand::array& array);
  bool aggregate_kind(Json value, AggregateKind& out);

  bool name(Json value, Value& out);  // Of a key or session: an integer or a string.
  bool scalar(Json value, Value& out);
  bool value(Json value, Value& out);  // A scalar or a row.
  bool row(Json value, Value& out);
  bool list(Json value, std::vector<Value>& out);
  bool key_versions(Json value, std::vector<KeyVersion>& out);
  bool version_set(Json value, HistoryBuilder::Rows& rows);
  bool predicate(Json value, std::uint32_t depth, PredicateId& out);
  bool combination(PredicateKind kind, Json value, std::uint32_t depth, PredicateId& out);
  bool comparison(PredicateKind kind, Json value, PredicateId& out);
  bool column(Json value, ColumnId& out);
  bool column_or_rows(Json value, ColumnId& out);  // Null leaves `out` invalid.
  bool null(Json value);

  bool fail(std::string what);
  // For simdjson errors: a wrong type, or text that is no JSON at all.
  bool fail(simdjson::error_code code, std::string_view expected);

  enum class Record { Txn, Header, Key };

  HistoryBuilder& b_;
  std::string_view file_;
  simdjson::ondemand::parser parser_;
  std::string what_;

  // Of the line being parsed.
  std::uint64_t line_ = 0;
  Timestamp start_, commit_;
  std::int64_t invoked_ = 0, completed_ = 0;
  bool has_session_ = false;
  bool has_ops_ = false;
  Value key_name_;
  Value initial_;
  bool has_initial_ = false;
  bool has_versions_ = false;
  bool complete_ = false;
  std::vector<Value> values_;
  std::vector<KeyVersion> rows_;
  std::vector<KeyVersion> versions_;
};

}  // namespace ouro
