#include "tap/outputs.h"

#include <fmt/format.h>

#include <utility>

#include "tap/values.h"

namespace ouro::tapping {
namespace {

// What is settled at once goes to the service as one batch, so that it has whole states of the
// database only, whenever the tap is killed; unless that would be very large.
constexpr std::size_t kLargestBatch = std::size_t{4} << 20;

void put_position(std::string& out, std::string_view name, const std::optional<Position>& at) {
  if (at) out += fmt::format("\"{}\":[{},{}],", name, at->rank, at->order);
}

void put_cell(std::string& out, const std::string& key, const std::string& value,
              const std::string& column) {
  put_json_text(out, key);
  out += ',';
  out += column.empty() ? value : labelled(column, value);
}

// ["select", predicate, rows]
void put_selection(std::string& out, const Placed::Operation& operation) {
  out += "[\"select\"," + operation.predicate + ",[";
  bool first = true;
  for (const Read& row : operation.rows) {
    out += std::exchange(first, false) ? "[" : ",[";
    put_cell(out, row.key, row.value, operation.column);
    out += ']';
  }
  out += "]]";
}

}  // namespace

void print_initial(const std::string& key, const std::string& value, const std::string& column,
                   std::string& out) {
  out += "{\"key\":";
  put_json_text(out, key);
  out += fmt::format(",\"initial\":{}}}\n", column.empty() ? value : labelled(column, value));
}

void print_placed(const Placed& placed, std::string& out) {
  out += "{\"session\":";
  put_json_text(out, placed.session.empty() ? "log " + placed.name : placed.session);
  out += ",\"id\":";
  put_json_text(out, placed.name);
  out += ',';
  if (placed.began != 0) {
    out += fmt::format("\"invoked\":{},\"completed\":{},", placed.began, placed.ended);
  }
  put_position(out, "start_ts", placed.start);
  put_position(out, "commit_ts", placed.commit);
  out += "\"ops\":[";
  bool first = true;
  for (const Placed::Operation& operation : placed.operations) {
    if (!first) out += ',';
    first = false;
    if (!operation.predicate.empty()) {
      put_selection(out, operation);
      continue;
    }
    out += operation.writes ? "[\"w\"," : "[\"r\",";
    put_cell(out, operation.key, operation.value, operation.column);
    out += ']';
  }
  out += "]}\n";
}

Result<std::unique_ptr<Outputs>> Outputs::open(Options options) {
  auto outputs = std::unique_ptr<Outputs>(new Outputs(std::move(options)));
  const Options& wanted = outputs->options_;
  for (const auto& [path, file] : {std::pair(wanted.history, &outputs->history_),
                                   std::pair(wanted.statements, &outputs->statements_)}) {
    if (path.empty()) continue;
    file->open(path, std::ios::binary | std::ios::trunc);
    if (!*file) return Error{.file = path, .what = "cannot write this file"};
  }
  if (!wanted.history.empty()) {
    std::string header = "{\"ouro\":1,\"info\":{\"database\":";
    put_json_text(header, wanted.server);
    outputs->history_ << header << "}}\n" << std::flush;
  }
  if (wanted.serve.empty()) return outputs;
  auto sender =
      Sender::connect({.url = wanted.serve, .token = wanted.token, .notice = wanted.notice});
  if (!sender.ok()) return sender.error();
  outputs->sender_ = *std::move(sender);
  return outputs;
}

void Outputs::fail(Error error) {
  if (!problem_) problem_ = std::move(error);
}

void Outputs::put() {
  if (history_.is_open()) history_ << line_;
  if (history_.is_open() && !history_) {
    fail(Error{.file = options_.history, .what = "cannot write this file; is the disk full?"});
  }
  if (sender_ == nullptr) return;
  batch_ += line_;
  if (batch_.size() >= kLargestBatch) sender_->add(std::exchange(batch_, {}));
}

void Outputs::settled() {
  if (sender_ != nullptr && !batch_.empty()) sender_->add(std::exchange(batch_, {}));
}

void Outputs::undecided(const std::string& why) {
  if (options_.notice) options_.notice(why);
  if (sender_ != nullptr) sender_->undecided(why);
}

void Outputs::initial(const std::string& key, const std::string& value, const std::string& column) {
  line_.clear();
  print_initial(key, value, column, line_);
  put();
}

void Outputs::transaction(const Placed& placed) {
  line_.clear();
  print_placed(placed, line_);
  put();
  if (!statements_.is_open() || placed.statements.empty()) return;
  std::string out = "{\"id\":";
  put_json_text(out, placed.name);
  out += ",\"application\":";
  put_json_text(out, placed.application);
  out += ",\"isolation\":";
  put_json_text(out, placed.isolation);
  out += ",\"sql\":[";
  for (std::size_t i = 0; i < placed.statements.size(); ++i) {
    if (i > 0) out += ',';
    put_json_text(out, placed.statements[i]->sql);
  }
  statements_ << out << "]}\n";
  if (!statements_) {
    fail(Error{.file = options_.statements, .what = "cannot write this file; is the disk full?"});
  }
}

Status Outputs::finish() {
  settled();
  if (sender_ != nullptr) unsent_ = sender_->finish();
  for (std::ofstream* file : {&history_, &statements_}) {
    if (!file->is_open()) continue;
    file->close();
    if (!*file) fail(Error{.file = options_.history, .what = "cannot write this file"});
  }
  if (problem_) return *problem_;
  return {};
}

}  // namespace ouro::tapping
