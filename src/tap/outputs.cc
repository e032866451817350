#include "tap/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "tap/values.h"

namespace ouro::tapping {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{64} << 10;
// How long a service may be away before nothing more is sent to it.
constexpr auto kServicePatience = std::chrono::seconds(30);

void put_position(std::string& out, std::string_view name, const std::optional<Position>& at) {
  if (at) out += fmt::format("\"{}\":[{},{}],", name, at->rank, at->order);
}

}  // namespace

void print_initial(const std::string& key, const std::string& value, std::string& out) {
  out += "{\"key\":";
  put_json_text(out, key);
  out += fmt::format(",\"initial\":{}}}\n", value);
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
    out += operation.writes ? "[\"w\"," : "[\"r\",";
    put_json_text(out, operation.key);
    out += ',';
    out += operation.value;
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
  auto client = net::HttpClient::make(wanted.serve);
  if (!client.ok()) return client.error();
  outputs->client_.emplace(*std::move(client));
  std::random_device random;
  outputs->name_ = fmt::format("tap-{}-{:08x}{:08x}", ::getpid(), random(), random());
  outputs->send();
  if (outputs->problem_) return *outputs->problem_;
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
  if (client_) batch_ += line_;
  if (batch_.size() >= kBatchBytes) send();
}

void Outputs::initial(const std::string& key, const std::string& value) {
  line_.clear();
  print_initial(key, value, line_);
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

// Sends the batch, again and again if the service is away; then nothing more is sent.
void Outputs::send() {
  if (problem_) return batch_.clear();
  net::HttpHeaders headers = {{"X-Ouro-Source", name_}};
  if (!batch_.empty()) headers.emplace_back("X-Ouro-Batch", fmt::format("{}/{}", name_, ++number_));
  if (!options_.token.empty()) headers.emplace_back("Authorization", "Bearer " + options_.token);
  const auto deadline = std::chrono::steady_clock::now() + kServicePatience;
  for (auto pause = std::chrono::milliseconds(20);;
       pause = std::min(pause * 2, std::chrono::milliseconds(1000))) {
    const net::HttpAnswer answer = client_->post("/check", batch_, "application/x-ndjson", headers);
    if (answer.ok()) break;
    const bool again = answer.status == 503 || (answer.status == 0 && number_ > 0);
    if (!again || std::chrono::steady_clock::now() > deadline) {
      fail(Error{
          .what = fmt::format("{}: {}", options_.serve,
                              answer.status == 0 ? answer.body + "; is 'ouro serve' running there?"
                              : answer.status == 401
                                  ? "the service wants a token; set OURO_TOKEN"
                                  : fmt::format("status {}: {}", answer.status, answer.body))});
      break;
    }
    std::this_thread::sleep_for(pause);
  }
  batch_.clear();
}

Status Outputs::finish() {
  if (client_ && !batch_.empty()) send();
  for (std::ofstream* file : {&history_, &statements_}) {
    if (!file->is_open()) continue;
    file->close();
    if (!*file) fail(Error{.file = options_.history, .what = "cannot write this file"});
  }
  if (problem_) return *problem_;
  return {};
}

}  // namespace ouro::tapping
