#include "tap/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace ouro::tapping {
namespace {

// The first statement that wrote, or their number.
std::size_t first_write(const ClientTxn& txn) {
  const auto found = std::find_if(txn.executions.begin(), txn.executions.end(),
                                  [](const Execution& execution) { return execution.writes; });
  return static_cast<std::size_t>(found - txn.executions.begin());
}

// Whether what the statement returned is of one snapshot.
bool has_one_snapshot(const Execution& execution) {
  if (execution.text == nullptr || execution.writes) return false;
  return std::none_of(execution.text->statements.begin(), execution.text->statements.end(),
                      [](const Statement& statement) { return statement.locks; });
}

// The row stands for itself in the first column of its key; the others are part of its name only.
bool is_later_key_part(const Table& table, const TableColumn* column) {
  return std::any_of(table.key.begin() + 1, table.key.end(),
                     [&](std::size_t place) { return &table.columns[place] == column; });
}

}  // namespace

const std::string* Assembler::Key::last() const {
  if (!versions.empty()) return &versions.back().second;
  return initial == Initial::Open ? nullptr : &first_value;
}

void Assembler::Key::forget_before(Position from) {
  const auto later = std::partition_point(
      versions.begin(), versions.end(), [&](const auto& version) { return version.first <= from; });
  const auto count = later - versions.begin() - 1;
  if (count < 1 || static_cast<std::size_t>(count) * 2 < versions.size()) return;
  versions.erase(versions.begin(), versions.begin() + count);
  forgot = true;
}

void Assembler::add(Logged logged) { logged_.push_back(std::move(logged)); }

void Assembler::add(Poll poll) { polls_.push_back(std::move(poll)); }

void Assembler::set_catalog(std::shared_ptr<const Catalog> catalog, Nanos time) {
  const auto former = std::exchange(catalog_, std::move(catalog));
  compare_names();
  if (former == nullptr) return;
  for (const auto& [oid, table] : catalog_->tables()) {
    const Table* before = former->find(oid);
    const bool same = before != nullptr && before->refused.empty() && before->says_same(table);
    if (!same && (before == nullptr || !before->refused.empty() || young_.contains(oid))) {
      young_[oid] = time;
    } else if (!same) {
      spoil(*before, "it was altered, truncated or rewritten");
    }
  }
  for (const auto& [oid, table] : former->tables()) {
    if (catalog_->find(oid) == nullptr && table.refused.empty()) spoil(table, "it was dropped");
  }
}

// Keys are named by their table; those of another one with its name would be the same.
void Assembler::compare_names() {
  for (const auto& [oid, table] : catalog_->tables()) {
    Oid& first = first_of_.try_emplace(table.schema + '.' + table.name, oid).first->second;
    if (first == oid) continue;
    if (used_.contains(first) || touched_.contains(first)) {
      spoil(table, "another one of its name was there before");
    } else {
      first = oid;
    }
  }
}

void Assembler::grow_up() {
  std::erase_if(young_, [&](const auto& young) {
    if (horizon_->sent <= young.second) return false;
    since_[young.first] = {Position{rank_of(horizon_->snapshot), 0}, young.second};
    return true;
  });
}

void Assembler::load(const Table& table, const std::vector<LogCell>& cells) {
  const auto row = row_of(table, cells);
  if (!row) return spoil(table, "a row has no primary key that can be read");
  touched_.insert(table.oid);
  for (const LogCell& cell : cells) {
    const TableColumn* column = table.column(cell.column);
    if (column == nullptr || !column->known || is_later_key_part(table, column)) continue;
    const auto value = cell.null ? null_value() : value_of_text(column->type, cell.text);
    if (!value) return spoil(table, "a value is not of its type");
    Key& key = keys_[cell_name(*row, column->name)];
    key.column = &*columns_.insert(column_label(table.schema, table.name, column->name)).first;
    key.initial = Key::Initial::Loaded;
    key.first_value = *value;
  }
}

void Assembler::tell_loaded(const std::string& name, Key& key) {
  if (key.initial != Key::Initial::Loaded) return;
  key.initial = Key::Initial::Known;
  if (key.first_value == "null") return;
  output_.initial(name, key.first_value, key.column == nullptr ? "" : *key.column);
}

void Assembler::tell_column(const std::string& column) {
  if (!told_columns_.insert(column).second) return;
  for (auto& [name, key] : keys_) {
    if (key.column != nullptr && *key.column == column) tell_loaded(name, key);
  }
}

void Assembler::complain(std::string why) {
  output_.undecided(why);
  problems_.push_back(std::move(why));
}

void Assembler::spoil(const Table& table, const std::string& why) {
  const auto [spoiled, fresh] = spoiled_.try_emplace(table.oid, table.name + ": " + why);
  if (fresh && used_.contains(table.oid)) complain("table " + spoiled->second);
}

void Assembler::settle(Ledger::Taken taken, Nanos time) {
  for (ClientTxn& txn : taken.finished) take_client(std::move(txn));
  Nanos oldest = std::numeric_limits<Nanos>::max();
  for (const Nanos since : taken.open) {
    if (since < time - options_.patience) {
      given_up_ = std::max(given_up_, since + 1);
    } else {
      oldest = std::min(oldest, since);
    }
  }
  const Poll* horizon = nullptr;
  for (const Poll& poll : polls_) {
    if (poll.received < oldest) horizon = &poll;
  }
  if (horizon == nullptr || (horizon_ && horizon->sent <= horizon_->sent)) return;
  kept_from_ = {rank_of(polls_.front().snapshot), 0};
  place_commits(*horizon);
  horizon_ = *horizon;
  grow_up();
  place_clients(oldest);
  oldest = std::min(oldest, horizon_->sent);
  while (polls_.size() > 1 && polls_[1].received < oldest) polls_.pop_front();
  forget_sessions();
}

// A client whose commit is placed is placed, too, so that whoever saw what it wrote is never told
// without it; and with it what its session did before.
void Assembler::place_clients(Nanos& oldest) {
  std::vector<bool> known(pending_.size());
  std::unordered_set<std::string> sessions;
  for (std::size_t i = pending_.size(); i-- > 0;) {
    const ClientTxn& txn = pending_[i].txn;
    known[i] = txn.ended < horizon_->sent || (txn.id != 0 && writes_.contains(txn.id)) ||
               sessions.contains(txn.session);
    if (known[i]) sessions.insert(txn.session);
  }
  std::deque<Pending> waiting;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (known[i]) {
      place_client(pending_[i]);
    } else {
      oldest = std::min(oldest, pending_[i].txn.began);
      waiting.push_back(std::move(pending_[i]));
    }
  }
  pending_ = std::move(waiting);
}

// Sessions whose last transaction is before all moments that are asked for.
void Assembler::forget_sessions() {
  constexpr std::size_t kMany = 1000;
  if (session_end_.size() < kMany) return;
  std::erase_if(session_end_, [&](const auto& session) { return session.second <= kept_from_; });
}

void Assembler::take_client(ClientTxn txn) {
  if (txn.end != ClientTxn::End::Committed) return;
  std::string why = txn.not_judged;
  Pending pending;
  if (txn.snapshot) {
    // A snapshot does not list its own transaction.
    db::Snapshot& snapshot = *txn.snapshot;
    const auto at =
        std::lower_bound(snapshot.in_progress.begin(), snapshot.in_progress.end(), txn.id);
    const bool listed = at != snapshot.in_progress.end() && *at == txn.id;
    if (txn.id != 0 && txn.id < snapshot.next && !listed) snapshot.in_progress.insert(at, txn.id);
    pending.start = Position{rank_of(snapshot), 0};
  }
  const bool late = txn.began < given_up_ || (horizon_ && pending.start &&
                                              pending.start->rank < rank_of(horizon_->snapshot));
  if (why.empty() && late) why = "its transaction was open for too long";
  if (!why.empty()) {
    for (const Execution& execution : txn.executions) count(execution, why);
    return;
  }
  pending.txn = std::move(txn);
  pending_.push_back(std::move(pending));
}

// Gives a position to each commit that the horizon sees.
void Assembler::place_commits(const Poll& horizon) {
  std::vector<Logged> visible;
  std::deque<Logged> waiting;
  for (Logged& logged : logged_) {
    if (horizon.snapshot.sees(logged.id)) {
      visible.push_back(std::move(logged));
    } else {
      waiting.push_back(std::move(logged));
    }
  }
  logged_ = std::move(waiting);

  std::vector<const db::Snapshot*> chain;
  for (const Poll& poll : polls_) {
    const bool fresh = !horizon_ || poll.sent > horizon_->sent;
    if (fresh && poll.sent <= horizon.sent) chain.push_back(&poll.snapshot);
  }
  std::unordered_map<std::uint64_t, const Pending*> clients;
  for (const Pending& pending : pending_) {
    if (pending.txn.id != 0) clients.emplace(pending.txn.id, &pending);
    if (pending.start && pending.start->rank <= rank_of(horizon.snapshot)) {
      chain.push_back(&*pending.txn.snapshot);
    }
  }
  std::vector<std::uint64_t> ids;
  for (const Logged& logged : visible) ids.push_back(logged.id);
  const db::CommitPlaces places = db::place_commits(std::move(chain), ids);
  if (places.breaks && !std::exchange(broken_, true)) complain("snapshots contradict each other");
  std::vector<const Pending*> readers;
  for (const Pending& pending : pending_) {
    if (pending.start) readers.push_back(&pending);
  }
  std::sort(readers.begin(), readers.end(),
            [](const Pending* a, const Pending* b) { return *a->start < *b->start; });
  auto reader = readers.begin();
  for (const auto& [rank, i] : places.ranks) {
    for (; reader != readers.end() && (*reader)->start->rank < rank; ++reader) learn(**reader);
    const auto client = clients.find(visible[i].id);
    place_commit(visible[i], {rank - 1, ++order_},
                 client == clients.end() ? nullptr : client->second);
  }
}

// Takes note of what keys held at first, before a change of them is placed that the reader does not
// see.
void Assembler::learn(const Pending& reader) {
  const std::size_t end = first_write(reader.txn);
  for (std::size_t i = 0; i < end; ++i) {
    const Execution& execution = reader.txn.executions[i];
    for (const Read& read : execution.reads) {
      (void)usable(read, execution.sent, *reader.start, *reader.start);
    }
  }
}

const std::vector<std::string>* Assembler::assigned_to(const ClientTxn* client, const Table& table,
                                                       const std::string& row, std::size_t nth,
                                                       std::size_t entries) {
  if (client == nullptr || client->unknown_writes) return nullptr;
  std::vector<const Assigned*> candidates;
  for (const Execution& execution : client->executions) {
    if (!execution.assigned) continue;
    const Assigned& assigned = *execution.assigned;
    if (assigned.table == 0) return nullptr;
    if (assigned.table != table.oid) continue;
    if (assigned.row.empty() || assigned.row == row) candidates.push_back(&assigned);
  }
  if (candidates.size() != entries) return nullptr;
  const bool certain =
      entries == 1 || std::none_of(candidates.begin(), candidates.end(),
                                   [](const Assigned* a) { return a->row.empty(); });
  return certain ? &candidates[nth]->columns : nullptr;
}

bool Assembler::revives(const Decoded& change, const Table& table, Position start,
                        Position at) const {
  const bool inserts = change.kind == Decoded::Kind::Insert || !change.before.empty();
  const auto row = inserts ? row_of(table, change.cells) : std::nullopt;
  if (!row) return false;
  // Only inserting and deleting a row change the first column of its key.
  const auto key = keys_.find(cell_name(*row, table.columns[table.key.front()].name));
  if (key == keys_.end() || key->second.versions.empty()) return false;
  const Position last = key->second.versions.back().first;
  return start < last && last < at;
}

void Assembler::place_commit(const Logged& logged, Position at, const Pending* pending) {
  const ClientTxn* client = pending == nullptr ? nullptr : &pending->txn;
  const auto table_of = [&](const Decoded& change) -> const Table* {
    const Table* table = catalog_->find(change.schema, change.table);
    const bool judged = table != nullptr && table->refused.empty() &&
                        !spoiled_.contains(table->oid) && !young_.contains(table->oid);
    return judged ? table : nullptr;
  };
  std::unordered_map<std::string, std::size_t> updates;  // Of each row.
  for (const Decoded& change : logged.changes) {
    const Table* table = change.kind == Decoded::Kind::Update ? table_of(change) : nullptr;
    const auto row = table == nullptr ? std::nullopt : row_of(*table, change.cells);
    if (row) ++updates[*row];
  }
  std::unordered_map<std::string, std::size_t> seen;
  Operations writes;
  bool revived = false;
  for (const Decoded& change : logged.changes) {
    const Table* table = table_of(change);
    if (table == nullptr) continue;
    touched_.insert(table->oid);
    revived |= client != nullptr && pending->start && revives(change, *table, *pending->start, at);
    const std::vector<std::string>* assigned = nullptr;
    if (change.kind == Decoded::Kind::Update) {
      const auto row = row_of(*table, change.cells);
      if (row) assigned = assigned_to(client, *table, *row, seen[*row]++, updates[*row]);
    }
    apply(change, *table, at, assigned, writes);
  }
  if (client != nullptr) {
    writes_[logged.id] = {at, std::move(writes), revived};
    return;
  }
  Placed placed;
  placed.name = std::to_string(logged.id);
  placed.start = placed.commit = at;
  placed.operations = std::move(writes);
  totals_.others += placed.operations.empty() ? 0 : 1;
  emit(placed);
}

std::optional<std::string> Assembler::row_of(const Table& table,
                                             const std::vector<LogCell>& cells) const {
  std::vector<std::string> key;
  for (const std::size_t place : table.key) {
    const TableColumn& column = table.columns[place];
    const auto cell = std::find_if(cells.begin(), cells.end(),
                                   [&](const LogCell& c) { return c.column == column.name; });
    if (cell == cells.end() || cell->null || cell->unchanged) return std::nullopt;
    auto part = key_part(column.type, cell->text);
    if (!part) return std::nullopt;
    key.push_back(std::move(*part));
  }
  return row_name(table.schema, table.name, key);
}

void Assembler::apply(const Decoded& change, const Table& table, Position at,
                      const std::vector<std::string>* assigned, Operations& writes) {
  if (change.kind == Decoded::Kind::Truncate) return spoil(table, "it was truncated");
  const auto row = row_of(table, change.cells);
  if (!row) return spoil(table, "a change in the log has no primary key");
  if (change.kind == Decoded::Kind::Insert) {
    insert_row(table, *row, change, at, writes);
  } else if (change.kind == Decoded::Kind::Delete) {
    delete_row(table, *row, at, writes);
  } else {
    const auto before = change.before.empty() ? row : row_of(table, change.before);
    if (!before) return spoil(table, "a change in the log has no primary key");
    if (*before == *row) return update_row(table, *row, change, at, assigned, writes);
    delete_row(table, *before, at, writes);
    insert_row(table, *row, change, at, writes);
  }
}

void Assembler::set(const std::string& key, const std::string& value, const std::string& column,
                    Position at, Operations& writes) {
  Key& known = keys_[key];
  tell_loaded(key, known);
  if (!known.first) known.first = at;
  known.versions.emplace_back(at, value);
  known.forget_before(kept_from_);
  writes.push_back({.writes = true, .key = key, .value = value, .column = column});
}

void Assembler::insert_row(const Table& table, const std::string& row, const Decoded& change,
                           Position at, Operations& writes) {
  for (const LogCell& cell : change.cells) {
    const TableColumn* column = table.column(cell.column);
    if (column == nullptr || !column->known || is_later_key_part(table, column)) continue;
    if (cell.unchanged) return spoil(table, "a key changed in a row with large values");
    const auto value = cell.null ? null_value() : value_of_text(column->type, cell.text);
    if (!value) return spoil(table, "a value in the log is not of its type");
    const std::string key = cell_name(row, column->name);
    Key& known = keys_[key];
    if (known.initial == Key::Initial::Open && !known.first) {
      known.initial = Key::Initial::Known;
      known.first_value = "null";
    }
    set(key, *value, table.label(*column), at, writes);
  }
}

void Assembler::delete_row(const Table& table, const std::string& row, Position at,
                           Operations& writes) {
  for (const TableColumn& column : table.columns) {
    if (!column.known || is_later_key_part(table, &column)) continue;
    set(cell_name(row, column.name), "null", table.label(column), at, writes);
  }
}

void Assembler::update_row(const Table& table, const std::string& row, const Decoded& change,
                           Position at, const std::vector<std::string>* assigned,
                           Operations& writes) {
  for (const LogCell& cell : change.cells) {
    const TableColumn* column = table.column(cell.column);
    if (column == nullptr || !column->known || cell.unchanged) continue;
    const bool in_key = std::any_of(table.key.begin(), table.key.end(), [&](std::size_t place) {
      return &table.columns[place] == column;
    });
    if (in_key) continue;
    const auto value = cell.null ? null_value() : value_of_text(column->type, cell.text);
    if (!value) return spoil(table, "a value in the log is not of its type");
    const std::string key = cell_name(row, column->name);
    Key& known = keys_[key];
    const bool was_set = assigned != nullptr && std::find(assigned->begin(), assigned->end(),
                                                          column->name) != assigned->end();
    const std::string* last = known.last();
    if (was_set || (last != nullptr && *last != *value)) {
      set(key, *value, table.label(*column), at, writes);
    } else if (last == nullptr && !known.first) {
      known.initial = Key::Initial::Guessed;
      known.first_value = *value;
      known.first = at;
      output_.initial(key, *value, table.label(*column));
    }
  }
}

std::pair<Position, Position> Assembler::bounds(const Execution& execution) const {
  Position low, high{rank_of(horizon_->snapshot), 0};
  for (const Poll& poll : polls_) {
    if (poll.sent >= horizon_->sent) break;
    if (poll.received < execution.sent) low = {rank_of(poll.snapshot), 0};
    if (poll.sent > execution.done) {
      high = {rank_of(poll.snapshot), 0};
      break;
    }
  }
  return {low, high};
}

bool Assembler::usable_table(Oid table, Nanos sent, Position low) {
  const auto spoiled = spoiled_.find(table);
  if (used_.insert(table).second && spoiled != spoiled_.end()) {
    complain("table " + spoiled->second);
  }
  if (spoiled != spoiled_.end() || young_.contains(table)) return false;
  const auto since = since_.find(table);
  return since == since_.end() || (low >= since->second.first && sent >= since->second.second);
}

bool Assembler::usable(const Read& read, Nanos sent, Position low, Position high) {
  if (!usable_table(read.table, sent, low)) return false;
  Key& key = keys_[read.key];
  tell_loaded(read.key, key);
  if (key.initial == Key::Initial::Open && !key.first && loaded_.contains(read.table)) {
    key.initial = Key::Initial::Known;
    key.first_value = "null";
  }
  if (key.initial == Key::Initial::Known) return true;
  if (key.first && low >= *key.first) return true;
  if (key.initial == Key::Initial::Guessed) return read.value == key.first_value;
  // The initial state, unless the first change may have been seen.
  if (key.first && !(high < *key.first)) return false;
  key.initial = Key::Initial::Known;
  key.first_value = read.value;
  if (read.value != "null") output_.initial(read.key, read.value, read.column);
  return true;
}

void Assembler::add_selection(const Execution& execution, Position start, Operations& reads) {
  if (!execution.selection || !loaded_.contains(execution.selection->table)) return;
  const Selection& selection = *execution.selection;
  bool all = usable_table(selection.table, execution.sent, start);
  for (const Read& row : selection.rows) all = all && usable(row, execution.sent, start, start);
  if (!all) return;
  tell_column(selection.column);
  ++totals_.selections;
  reads.push_back(
      {.column = selection.column, .predicate = selection.predicate, .rows = selection.rows});
}

Assembler::Operations Assembler::reads_of(const Execution& execution,
                                          const std::optional<Position>& start,
                                          const std::unordered_set<std::string>& own) {
  Operations reads;
  const auto limits = start ? std::pair(*start, *start) : bounds(execution);
  for (const Read& read : execution.reads) {
    if (own.contains(read.key)) continue;
    if (usable(read, execution.sent, limits.first, limits.second)) {
      reads.push_back({.key = read.key, .value = read.value, .column = read.column});
    } else {
      ++coverage_.dropped_reads;
    }
  }
  return reads;
}

Assembler::Answer Assembler::held_at(const Placed::Operation& read, Position at) const {
  const auto found = keys_.find(read.key);
  if (found == keys_.end()) return Answer::Unknown;
  const Key& key = found->second;
  const auto answer = [&](const std::string& value) {
    return value == read.value ? Answer::Yes : Answer::No;
  };
  for (auto version = key.versions.rbegin(); version != key.versions.rend(); ++version) {
    if (version->first <= at) return answer(version->second);
  }
  return key.forgot || key.initial == Key::Initial::Open ? Answer::Unknown
                                                         : answer(key.first_value);
}

std::vector<Position> Assembler::moments(const Operations& reads, Position low,
                                         Position high) const {
  std::vector<Position> moments = {low};
  for (const Placed::Operation& read : reads) {
    const auto found = keys_.find(read.key);
    if (found == keys_.end()) continue;
    for (const auto& [at, value] : found->second.versions) {
      if (low < at && at <= high) moments.push_back(at);
    }
  }
  std::sort(moments.begin(), moments.end());
  return moments;
}

std::optional<Position> Assembler::fit(const Operations& reads, Position low, Position high) const {
  for (const Position moment : moments(reads, low, high)) {
    const bool all = std::all_of(reads.begin(), reads.end(), [&](const Placed::Operation& read) {
      return held_at(read, moment) == Answer::Yes;
    });
    if (all) return moment;
  }
  return std::nullopt;
}

bool Assembler::each_possible(const Operations& reads, Position low, Position high) const {
  const std::vector<Position> all = moments(reads, low, high);
  return std::all_of(reads.begin(), reads.end(), [&](const Placed::Operation& read) {
    return std::any_of(all.begin(), all.end(),
                       [&](Position at) { return held_at(read, at) != Answer::No; });
  });
}

Position Assembler::moment_of(const Execution& execution, const std::string& session,
                              Operations& reads) {
  const auto [low, high] = bounds(execution);
  // Not before what the session did already; but that may have been placed later than it was.
  const auto end = session_end_.find(session);
  const auto moment =
      fit(reads, end == session_end_.end() ? low : std::max(low, end->second), high);
  if (moment) return *moment;
  if (!has_one_snapshot(execution) || each_possible(reads, low, high)) {
    coverage_.dropped_reads += reads.size();
    reads.clear();
  }
  return high;
}

void Assembler::place_client(Pending& pending) {
  const ClientTxn& txn = pending.txn;
  Placed placed;
  placed.name = txn.id != 0 ? std::to_string(txn.id) : fmt::format("r{}", ++names_);
  placed.session = txn.session;
  placed.application = txn.application;
  placed.isolation = txn.automatic ? "one statement" : txn.isolation;
  placed.began = txn.began;
  placed.ended = txn.ended;
  placed.start = pending.start;
  Operations writes;
  std::unordered_set<std::string> own;
  bool revived = false;
  if (const auto found = writes_.find(txn.id); txn.id != 0 && found != writes_.end()) {
    placed.commit = found->second.at;
    writes = std::move(found->second.writes);
    revived = found->second.revives;
    writes_.erase(found);
    for (const Placed::Operation& write : writes) own.insert(write.key);
  }
  ++totals_.txns;
  totals_.automatic += txn.automatic ? 1 : 0;
  if (!txn.automatic) {
    totals_.serializable += txn.isolation == "serializable" ? 1 : 0;
    totals_.repeatable_read += txn.isolation == "repeatable read" ? 1 : 0;
    totals_.read_committed += txn.snapshot ? 0 : 1;
  }
  const std::size_t write_at = first_write(txn);
  std::vector<std::pair<const Execution*, Operations>> parts;
  for (std::size_t i = 0; i < txn.executions.size(); ++i) {
    const Execution& execution = txn.executions[i];
    const bool selects = pending.start && i < write_at && execution.selection.has_value();
    const bool nothing_told = execution.reads.empty() && execution.selection && !selects;
    count(execution, nothing_told ? "found nothing, and has no snapshot of its own" : "");
    if (execution.text != nullptr) placed.statements.push_back(execution.text);
    const bool undone = txn.undone_parts && i >= write_at;
    if (undone) continue;
    static const std::unordered_set<std::string> nothing;
    Operations reads = reads_of(execution, pending.start, i >= write_at ? own : nothing);
    if (selects) add_selection(execution, *pending.start, reads);
    if (!reads.empty()) parts.emplace_back(&execution, std::move(reads));
  }
  if (revived || (!pending.start && options_.split && !txn.automatic)) {
    totals_.revived += revived ? 1 : 0;
    placed.operations = std::move(writes);
    return place_split(txn, std::move(placed), std::move(parts));
  }
  if (!pending.start && parts.size() == 1 && writes.empty()) {
    placed.start = moment_of(*parts[0].first, txn.session, parts[0].second);
    placed.began = 0;  // The moment may be earlier than the clocks allow, so they are not told.
  } else if (!pending.start && parts.empty()) {
    placed.start = placed.commit;
  }
  for (auto& part : parts) {
    std::move(part.second.begin(), part.second.end(), std::back_inserter(placed.operations));
  }
  std::move(writes.begin(), writes.end(), std::back_inserter(placed.operations));
  totals_.without_start += !placed.operations.empty() && !placed.start ? 1 : 0;
  emit(placed);
}

void Assembler::place_split(const ClientTxn& txn, Placed placed,
                            std::vector<std::pair<const Execution*, Operations>> parts) {
  const std::optional<Position> snapshot = placed.start;
  const std::optional<Position> commit = std::exchange(placed.commit, std::nullopt);
  Operations writes = std::move(placed.operations);
  const std::string name = placed.name;
  const Nanos began = std::exchange(placed.began, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    placed.name = fmt::format("{}.{}", name, i + 1);
    placed.start = snapshot ? *snapshot : moment_of(*parts[i].first, txn.session, parts[i].second);
    placed.operations = std::move(parts[i].second);
    emit(placed);
  }
  placed.name = name;
  placed.began = began;
  placed.start = placed.commit = commit;
  placed.operations = std::move(writes);
  emit(placed);
}

void Assembler::count(const Execution& execution, const std::string& why) {
  if (!execution.returned) return;
  if (why.empty() && execution.not_judged.empty()) {
    ++coverage_.judged;
    return;
  }
  ++coverage_.not_judged;
  constexpr std::size_t kMostShapes = 1000;
  std::string shape = "other statements";
  if (coverage_.why.size() < kMostShapes && execution.text != nullptr) {
    shape = shape_of(execution.text->sql);
  }
  ++coverage_.why[{why.empty() ? execution.not_judged : why, shape}];
}

void Assembler::emit(const Placed& placed) {
  if (placed.operations.empty()) return;
  if (!placed.session.empty()) {
    Position& end = session_end_[placed.session];
    if (placed.start) end = std::max(end, *placed.start);
    if (placed.commit) end = std::max(end, *placed.commit);
  }
  output_.transaction(placed);
}

}  // namespace ouro::tapping
