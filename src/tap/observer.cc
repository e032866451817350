#include "tap/observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace ouro::tapping {
namespace {

constexpr char kProbeName[] = "ouro_tap_probe";
constexpr char kProbe[] =
    "SELECT pg_catalog.pg_current_snapshot()::pg_catalog.text, "
    "pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text, "
    "pg_catalog.current_setting('transaction_isolation')";

// What the server may say at any time.
bool is_aside(char type) { return type == 'N' || type == 'S' || type == 'A'; }

// The last number of a tag such as "UPDATE 3" or "INSERT 0 1".
std::uint64_t count_of_tag(std::string_view tag) {
  const std::size_t space = tag.rfind(' ');
  std::uint64_t count = 0;
  if (space != tag.npos) std::from_chars(tag.data() + space + 1, tag.data() + tag.size(), count);
  return count;
}

// Whether a setting may give the names of tables to others.
bool names_tables(std::string_view sql) {
  constexpr std::array<std::string_view, 5> kWords{"search_path", "schema", "role", "authorization",
                                                   "all"};
  std::string text(sql);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace

Observer::Observer(Ledger& ledger, Texts& texts, std::string application, std::uint64_t number,
                   bool observes)
    : ledger_(ledger), texts_(texts), observes_(observes) {
  blank_.application = std::move(application);
  blank_.session =
      fmt::format("{}#{}", blank_.application.empty() ? "client" : blank_.application, number);
  ledger_.count(&Ledger::Counts::connections);
}

Observer::~Observer() {
  cycles_.clear();
  if (txn_ != nullptr) {
    end_txn(ClientTxn::End::Unknown);
  } else if (ticket_ != 0) {
    ledger_.close(ticket_);
  }
}

void Observer::give_up() {
  if (!observes_) return;
  observes_ = false;
  ledger_.count(&Ledger::Counts::not_understood);
  while (cycles_.size() > 1 || (!cycles_.empty() && !cycles_.front().own)) cycles_.pop_back();
  if (txn_ != nullptr) end_txn(ClientTxn::End::Unknown);
  if (ticket_ != 0) ledger_.close(std::exchange(ticket_, 0));
}

void Observer::from_client(const Piece& piece, std::string& out) {
  if (observes_ && status_ != 0 && piece.kind != Piece::Kind::More) client_message(piece, out);
  out += piece.bytes;
}

void Observer::client_message(const Piece& piece, std::string& out) {
  Body body(piece.body);
  switch (piece.type) {
    case 'Q': {
      const bool whole = piece.kind == Piece::Kind::Message;
      const std::shared_ptr<const Text> text = whole ? texts_.get(body.text()) : nullptr;
      probe_before(text, out);
      Cycle& cycle = open_cycle();
      cycle.simple = cycle.closed = true;
      cycle.text = text;
      break;
    }
    case 'F': {  // A call of a function by its number.
      Cycle& cycle = open_cycle();
      cycle.simple = cycle.closed = true;
      break;
    }
    case 'S':
      if (copying_) break;  // The server ignores it.
      open_cycle().closed = true;
      break;
    case 'c':
    case 'f':
      copying_ = false;
      break;
    case 'P':
    case 'B':
    case 'D':
    case 'E':
    case 'C':
      client_step(piece, out);
      break;
    default:
      break;
  }
}

// The cycle that the client's messages belong to.
Observer::Cycle& Observer::open_cycle() {
  if (cycles_.empty() || cycles_.back().closed) {
    cycles_.emplace_back();
    cycles_.back().sent = now();
    if (txn_ == nullptr && ticket_ == 0) ticket_ = ledger_.open(cycles_.back().sent);
  }
  return cycles_.back();
}

void Observer::client_step(const Piece& piece, std::string& out) {
  Body body(piece.body);
  Step step;
  step.type = piece.type;
  const bool whole = piece.kind == Piece::Kind::Message;
  switch (piece.type) {
    case 'P':
      step.name = body.text();
      if (whole) step.text = texts_.get(body.text());
      for (int i = static_cast<std::uint16_t>(body.int16()); whole && i > 0 && body.ok(); --i) {
        step.types.push_back(static_cast<Oid>(body.int32()));
      }
      probe_before(step.text, out);
      break;
    case 'B':
      step.name = body.text();
      step.statement = body.text();
      bind(body, step);
      if (const auto found = prepared_.find(step.statement); whole && found != prepared_.end()) {
        probe_before(found->second.text, out);
      }
      break;
    case 'E':
      step.name = body.text();
      step.limited = body.int32() != 0;
      break;
    default:  // D, C
      step.name = body.byte();
      step.name += body.text();
      break;
  }
  if (!whole) return give_up();
  open_cycle().steps.push_back(std::move(step));
}

void Observer::bind(Body& body, Step& step) const {
  std::vector<bool> formats;
  const int format_count = static_cast<std::uint16_t>(body.int16());
  for (int i = 0; i < format_count && body.ok(); ++i) formats.push_back(body.int16() != 0);
  const int count = static_cast<std::uint16_t>(body.int16());
  for (int i = 0; i < count && body.ok(); ++i) {
    Parameter parameter;
    const std::int32_t length = body.int32();
    parameter.null = length < 0;
    if (length >= 0) parameter.bytes = body.bytes(static_cast<std::size_t>(length));
    const auto at = static_cast<std::size_t>(i);
    parameter.binary = formats.size() == 1   ? bool{formats[0]}
                       : at < formats.size() ? bool{formats[at]}
                                             : false;
    step.binding.parameters.push_back(std::move(parameter));
  }
  const int results = static_cast<std::uint16_t>(body.int16());
  for (int i = 0; i < results && body.ok(); ++i) step.binding.binary.push_back(body.int16() != 0);
  if (!body.ok()) step.binding = {};
}

// Puts our own statement in front of what the client sends next, if that is a COMMIT.
void Observer::probe_before(const std::shared_ptr<const Text>& text, std::string& out) {
  if (txn_ == nullptr || status_ != 'T' || !cycles_.empty() || copying_) return;
  if (text == nullptr || text->statements.empty()) return;
  if (text->statements[0].act != Act::Commit) return;
  if (!ledger_.may_probe()) return;
  put_statement(out, kProbeName, kProbe);
  Cycle cycle;
  cycle.own = cycle.closed = true;
  cycles_.push_back(std::move(cycle));
  ++probes_due_;
  ledger_.count(&Ledger::Counts::probes);
}

void Observer::from_server(const Piece& piece, std::string& out) {
  if (!observes_ && probes_due_ == 0 && failure_.empty()) {
    out += piece.bytes;
    return;
  }
  if (!cycles_.empty() && cycles_.front().own && !is_aside(piece.type)) {
    own_answer(piece, out);
    return;
  }
  if (observes_ && piece.kind != Piece::Kind::More) answer(piece);
  if (!replaced(piece, out)) out += piece.bytes;
}

// If our own statement failed, the transaction did, too, so that its COMMIT is answered by a mere
// ROLLBACK. Clients take that for success; they get the error instead.
bool Observer::replaced(const Piece& piece, std::string& out) {
  if (failure_.empty() || is_aside(piece.type)) return false;
  if (piece.type == 'Z') {
    failure_.clear();
    told_failure_ = false;
    return false;
  }
  if (told_failure_) return true;
  if (piece.type != 'C' || Body(piece.body).text() != "ROLLBACK") return false;
  out += failure_;
  told_failure_ = true;
  return true;
}

// Takes a message of the answer to our own statement.
void Observer::own_answer(const Piece& piece, std::string& out) {
  Body body(piece.body);
  if (piece.type == 'D') {
    std::array<std::string*, 3> texts = {&probe_.snapshot, &probe_.id, &probe_.isolation};
    const int count = body.int16();
    for (std::string* text : texts) {
      text->clear();
      const std::int32_t length = body.int32();
      if (length > 0) *text = body.bytes(static_cast<std::size_t>(length));
    }
    probe_.fresh = body.ok() && count == 3;
  } else if (piece.type == 'E') {
    probe_.fresh = false;
    ledger_.count(&Ledger::Counts::failed_probes);
    const bool ends = piece.body.find("VFATAL") != piece.body.npos ||
                      piece.body.find("VPANIC") != piece.body.npos;
    if (ends) out += piece.bytes;  // The client shall know why the connection is closed.
    if (!ends && piece.kind == Piece::Kind::Message) failure_ = piece.bytes;
  } else if (piece.type == 'Z') {
    status_ = body.byte();
    --probes_due_;
    cycles_.pop_front();
  }
}

void Observer::answer(const Piece& piece) {
  Body body(piece.body);
  if (piece.type == 'S') {
    const std::string_view name = body.text();
    const std::string_view value = body.text();
    if (name == "application_name") blank_.application = value;
    if (name == "standard_conforming_strings" && value == "off") give_up();
    if (name == "client_encoding") utf8_ = value == "UTF8" || value == "UNICODE";
    return;
  }
  if (status_ == 0) {  // Before the connection is ready.
    if (piece.type == 'Z') status_ = body.byte();
    return;
  }
  if (is_aside(piece.type)) return;
  if (cycles_.empty()) {
    // An error that closes the connection comes without being asked for.
    if (piece.type != 'E') give_up();
    return;
  }
  Cycle& cycle = cycles_.front();
  switch (piece.type) {
    case 'T':
      described(piece.body);
      break;
    case 'D':
      row(piece);
      break;
    case 'C':
      completed(body.text(), true);
      break;
    case 's':
      completed("", false);
      break;
    case 'I':
      completed("", true);
      break;
    case 'E':
      cycle.failed = true;
      cycle.steps.clear();
      current_ = {};
      copying_ = false;
      probe_.fresh = false;
      break;
    case 'G':
      if (cycle.simple) break;
      copying_ = true;
      cycle.closed = false;  // A Sync that the client sent already is ignored.
      break;
    case 'W':
      give_up();
      break;
    case 'Z':
      ready(body.byte());
      break;
    default:
      step_answered(piece);
      break;
  }
}

// The server did what a message of the extended protocol asked for.
void Observer::step_answered(const Piece& piece) {
  Cycle& cycle = cycles_.front();
  if (cycle.simple || piece.type == 't' || piece.type == 'H' || piece.type == 'd' ||
      piece.type == 'c' || piece.type == 'V') {
    return;
  }
  const char expected = piece.type == '1'   ? 'P'
                        : piece.type == '2' ? 'B'
                        : piece.type == '3' ? 'C'
                        : piece.type == 'n' ? 'D'
                                            : '\0';
  if (cycle.steps.empty() || cycle.steps.front().type != expected) return give_up();
  Step step = std::move(cycle.steps.front());
  cycle.steps.pop_front();
  if (step.type == 'P') prepared_[step.name] = {step.text, nullptr, step.types};
  if (step.type == 'B') {
    const auto found = prepared_.find(step.statement);
    Portal& portal = portals_[step.name];
    portal = {};
    if (found != prepared_.end()) portal.prepared = found->second;
    portal.binding = std::move(step.binding);
    std::vector<Parameter>& parameters = portal.binding.parameters;
    const std::vector<Oid>& types = portal.prepared.types;
    for (std::size_t i = 0; i < std::min(parameters.size(), types.size()); ++i) {
      parameters[i].type = types[i];
    }
    portal.sent = cycle.sent;
  }
  if (step.type == 'C' && step.name.starts_with('S')) prepared_.erase(step.name.substr(1));
  if (step.type == 'C' && step.name.starts_with('P')) portals_.erase(step.name.substr(1));
}

void Observer::described(std::string_view body) {
  auto parsed = parse_columns(body);
  auto columns =
      parsed ? std::make_shared<const std::vector<ResultColumn>>(*std::move(parsed)) : nullptr;
  Cycle& cycle = cycles_.front();
  if (cycle.simple) {
    current_ = {};
    current_.columns = std::move(columns);
    return;
  }
  if (cycle.steps.empty() || cycle.steps.front().type != 'D') return give_up();
  const std::string name = cycle.steps.front().name;
  cycle.steps.pop_front();
  if (name.starts_with('S')) {
    prepared_[name.substr(1)].columns = std::move(columns);
  } else {
    Portal& portal = portals_[name.substr(1)];
    portal.prepared.columns = columns;
    // The statement gives these columns every time; later portals need not ask.
    for (auto& [other, prepared] : prepared_) {
      if (!other.empty() && prepared.text == portal.prepared.text) prepared.columns = columns;
    }
  }
}

Observer::Portal* Observer::portal_now() {
  Cycle& cycle = cycles_.front();
  if (cycle.simple || cycle.steps.empty() || cycle.steps.front().type != 'E') return nullptr;
  const auto found = portals_.find(cycle.steps.front().name);
  return found == portals_.end() ? nullptr : &found->second;
}

std::shared_ptr<const Text> Observer::text_now() const {
  const Cycle& cycle = cycles_.front();
  if (cycle.simple) return cycle.text;
  if (cycle.steps.empty()) return nullptr;
  const auto found = portals_.find(cycle.steps.front().name);
  return found == portals_.end() ? nullptr : found->second.prepared.text;
}

// What is answered at present; null if it is not known.
const Statement* Observer::statement_now() const {
  const std::shared_ptr<const Text> text = text_now();
  const std::size_t at = cycles_.front().simple ? cycles_.front().statement : 0;
  return text == nullptr || at >= text->statements.size() ? nullptr : &text->statements[at];
}

void Observer::row(const Piece& piece) {
  Portal* portal = portal_now();
  if (!current_.begun) {
    current_.begun = true;
    if (portal != nullptr) current_.columns = portal->prepared.columns;
    const Statement* statement = statement_now();
    current_.catalog = ledger_.catalog();
    const auto& catalog = current_.catalog;
    if (statement == nullptr) {
      current_.not_judged = "statement not known";
    } else if (current_.columns == nullptr || catalog == nullptr) {
      current_.not_judged = "columns not described";
    } else {
      static const Binding none;
      current_.rows =
          std::make_unique<ResultRows>(*statement, *current_.columns,
                                       portal == nullptr ? none : portal->binding, *catalog, utf8_);
      current_.not_judged = current_.rows->not_judged();
      if (current_.rows->unknown_table()) ledger_.want_catalog();
    }
  }
  ++current_.count;
  if (piece.kind != Piece::Kind::Message) current_.not_judged = "a row of more than a megabyte";
  constexpr std::size_t kMostReads = 100'000;
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  current_.bytes += piece.bytes.size();
  if (current_.reads.size() > kMostReads || current_.bytes > kMostBytes) {
    current_.not_judged = "too many rows";
  }
  if (current_.not_judged.empty()) {
    current_.rows->add(piece.body, current_.reads);
  } else {
    current_.reads = {};
  }
}

// A statement is done; or, if not `whole`, has returned as many rows as were asked for.
void Observer::completed(std::string_view tag, bool whole) {
  Cycle& cycle = cycles_.front();
  Portal* portal = portal_now();
  if (!cycle.simple && (cycle.steps.empty() || cycle.steps.front().type != 'E')) return give_up();
  const Statement* statement = statement_now();
  Execution execution;
  execution.text = text_now();
  execution.sent = portal != nullptr && portal->sent != 0 ? portal->sent : cycle.sent;
  execution.done = now();
  execution.writes = statement == nullptr || statement->may_write || statement->act == Act::Change;
  execution.returned = current_.count > 0;
  static const Binding none;
  const Binding& binding = portal == nullptr ? none : portal->binding;
  const bool select = statement != nullptr && statement->act == Act::Select;
  if (select && current_.count == 0 && whole && (portal == nullptr || !portal->begun)) {
    const auto columns = portal == nullptr ? current_.columns : portal->prepared.columns;
    const auto catalog = ledger_.catalog();
    if (columns != nullptr && catalog != nullptr) {
      const ResultRows rows(*statement, *columns, binding, *catalog, utf8_);
      current_.not_judged = rows.not_judged();
      if (current_.not_judged.empty()) rows.add_absence(current_.reads);
      if (current_.not_judged.empty()) execution.selection = rows.selection();
      if (current_.not_judged.empty() && current_.reads.empty() && !execution.selection) {
        current_.not_judged = "found nothing, by a condition that is no primary key";
      }
      execution.returned = statement->not_judged != "no table";
    }
  }
  if (statement != nullptr && statement->not_judged == "no table") execution.returned = false;
  execution.not_judged = std::move(current_.not_judged);
  if (execution.not_judged.empty()) {
    execution.reads = std::move(current_.reads);
    const bool all = select && whole && (portal == nullptr || !portal->begun);
    if (all && current_.rows != nullptr) execution.selection = current_.rows->selection();
  }
  if (statement != nullptr) note_assigned(*statement, tag, binding, execution);
  current_ = {};
  if (portal != nullptr) portal->begun = true;
  if (cycle.simple) {
    ++cycle.statement;
  } else {
    cycle.steps.pop_front();
  }
  executed(statement, tag, std::move(execution));
}

void Observer::note_assigned(const Statement& statement, std::string_view tag,
                             const Binding& binding, Execution& execution) {
  if (!statement.updates) return;
  const auto catalog = ledger_.catalog();
  const Table* table =
      catalog == nullptr ? nullptr : catalog->find_alone(statement.schema, statement.table);
  Assigned assigned;
  assigned.count = count_of_tag(tag);
  if (assigned.count == 0) return;
  if (table != nullptr) {
    assigned.table = table->oid;
    assigned.columns = statement.assigned;
    bool alone = false;
    const auto row = row_of_conditions(statement, *table, binding, alone);
    if (row && assigned.count == 1) assigned.row = *row;
  }
  execution.assigned = std::move(assigned);
}

void Observer::executed(const Statement* statement, std::string_view tag, Execution execution) {
  const Act act = statement == nullptr ? Act::Other : statement->act;
  const bool fresh = std::exchange(probe_.fresh, false);
  if (act == Act::Forget) prepared_.clear();
  if (act == Act::Setting && execution.text != nullptr && names_tables(execution.text->sql)) {
    for (auto& [name, prepared] : prepared_) prepared.columns = nullptr;
  }
  if (tag == "BEGIN" || tag == "START TRANSACTION") {
    if (txn_ == nullptr) begin_txn(execution.sent);
    return;
  }
  if (tag == "COMMIT" || tag == "PREPARE TRANSACTION") {
    if (txn_ == nullptr) return;
    if (!fresh || tag != "COMMIT") {
      txn_->not_judged =
          tag == "COMMIT" ? "COMMIT came together with other statements" : "PREPARE TRANSACTION";
    } else {
      txn_->isolation = probe_.isolation;
      std::from_chars(probe_.id.data(), probe_.id.data() + probe_.id.size(), txn_->id);
      auto snapshot = db::parse_snapshot(probe_.snapshot);
      if (txn_->isolation != "read committed" && txn_->isolation != "read uncommitted") {
        txn_->snapshot = std::move(snapshot);
      }
    }
    end_txn(ClientTxn::End::Committed);
    return;
  }
  if (tag == "ROLLBACK" && act != Act::RollbackTo) {
    // Of a text that is not known it may be to a savepoint; ready() finds out.
    if (txn_ != nullptr && statement != nullptr) end_txn(ClientTxn::End::RolledBack);
    if (txn_ != nullptr) txn_->undone_parts = true;
    return;
  }
  if (act == Act::RollbackTo && txn_ != nullptr) txn_->undone_parts = true;
  if (act == Act::Setting || act == Act::Savepoint || act == Act::RollbackTo) return;
  if (txn_ == nullptr) {
    cycles_.front().executions.push_back(std::move(execution));
  } else {
    txn_->unknown_writes |= statement == nullptr || statement->may_write;
    txn_->executions.push_back(std::move(execution));
  }
}

void Observer::begin_txn(Nanos since) {
  txn_ = std::make_unique<ClientTxn>(blank_);
  txn_->began = since;
  // What ran before in the same implicit transaction belongs to it.
  txn_->executions = std::move(cycles_.front().executions);
  cycles_.front().executions.clear();
  for (const Execution& execution : txn_->executions) txn_->unknown_writes |= execution.writes;
  if (ticket_ == 0) ticket_ = ledger_.open(since);
}

void Observer::end_txn(ClientTxn::End end) {
  txn_->end = end;
  txn_->ended = now();
  if (end == ClientTxn::End::RolledBack) ledger_.count(&Ledger::Counts::rolled_back);
  if (ticket_ == 0) ticket_ = ledger_.open(txn_->began);
  // More may follow in the same cycle; ready() closes the ticket if not.
  const Nanos next = cycles_.empty() || cycles_.front().own ? 0 : cycles_.front().sent;
  ticket_ = ledger_.add(ticket_, std::move(*txn_), next);
  txn_.reset();
}

void Observer::ready(char status) {
  Cycle& cycle = cycles_.front();
  if (!cycle.closed) return give_up();
  if (cycle.simple) {
    prepared_.erase("");
    portals_.erase("");
  }
  status_ = status;
  current_ = {};
  if (status == 'I') {
    portals_.clear();
    if (txn_ != nullptr) end_txn(ClientTxn::End::RolledBack);  // A COMMIT that failed.
  } else if (txn_ == nullptr) {
    begin_txn(cycle.sent);  // COMMIT AND CHAIN, or a BEGIN that we did not recognise.
  }
  finish_cycle(cycle, status);
  cycles_.pop_front();
  if (txn_ == nullptr && ticket_ != 0 && cycles_.empty()) {
    ledger_.close(std::exchange(ticket_, 0));
  }
}

// Records what ran outside of BEGIN and COMMIT.
void Observer::finish_cycle(Cycle& cycle, char status) {
  if (cycle.executions.empty() || status != 'I' || cycle.failed) return;
  ClientTxn txn = blank_;
  txn.automatic = true;
  txn.began = cycle.sent;
  txn.ended = now();
  const bool alone = cycle.executions.size() == 1 && !cycle.executions[0].writes;
  if (!alone)
    txn.not_judged = cycle.executions.size() == 1
                         ? "writes, and is a transaction of its own"
                         : "several statements in one transaction without BEGIN";
  txn.executions = std::move(cycle.executions);
  cycle.executions.clear();
  if (ticket_ == 0) ticket_ = ledger_.open(txn.began);
  ticket_ = ledger_.add(ticket_, std::move(txn), cycles_.size() > 1 ? cycles_[1].sent : 0);
}

}  // namespace ouro::tapping
