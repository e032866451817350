#include "run/player.h"

#include <algorithm>

namespace ouro::running {

using db::Answer;
using db::Connection;
using db::Model;
using db::Number;
using db::Reply;
using workload::Step;
using workload::StepKind;

namespace {

// The difference between a number and the nearest multiple of the unit; so balances may be
// negative.
Number balance_of(Number number) {
  constexpr Number kHalf = Player::kAccountUnit / 2;
  return (number + kHalf) % Player::kAccountUnit - kHalf;
}

// Records an operation of a whole transaction. `found` is null if it was not answered.
void record_operation(const db::Operation& operation, bool tombstone, const db::Found* found,
                      Transcript& transcript) {
  switch (operation.kind) {
    case db::OperationKind::Read:
      if (found != nullptr) transcript.read(operation.key, found->number);
      break;
    case db::OperationKind::ReadList:
      if (found != nullptr) transcript.read_list(operation.key, found->elements);
      break;
    case db::OperationKind::Scan:
      if (found != nullptr) transcript.scan(operation.key, operation.upper, found->rows);
      break;
    case db::OperationKind::Append:
      transcript.append(operation.key, operation.number);
      break;
    case db::OperationKind::Write:
      if (tombstone) {
        transcript.remove(operation.key, operation.number);
      } else {
        transcript.write(operation.key, operation.number);
      }
      break;
  }
}

// Whether a database that takes snapshots must have one to answer the step. Some update the latest
// rows, whatever the snapshot.
bool takes_snapshot(StepKind kind) {
  return kind == StepKind::Read || kind == StepKind::Scan || kind == StepKind::Select ||
         kind == StepKind::Aggregate;
}

}  // namespace

Played Player::play(Connection& connection, const Plan& plan, Transcript& transcript,
                    const std::function<void()>& before_commit, workload::Client* client) {
  if (connection.takes_whole() && can_be_whole(plan)) {
    return play_whole(connection, plan, transcript, before_commit, client);
  }
  transcript.clear();
  balances_.clear();
  Played played;
  Answer answer = connection.begin(plan.read_only);
  for (const Step& step : plan.steps) {
    if (!answer.ok()) break;
    answer = do_step(connection, step, transcript, client);
    if (played.began == kNoClock && plan.now && answer.ok() && takes_snapshot(step.kind)) {
      played.began = plan.now();
    }
  }
  if (!answer.ok() || plan.abort) {
    played.by_choice = answer.ok();
    played.failed = answer.reply == Reply::Failed;
    played.lost = answer.reply == Reply::Lost;
    played.reason = std::move(answer.reason);
    const Answer undone = connection.rollback();
    played.connection_usable = undone.ok() && answer.reply != Reply::Lost;
    played.trace = connection.trace();
    return played;
  }
  if (transcript.wrote()) before_commit();
  if (plan.now) played.committing = plan.now();
  answer = connection.commit();
  played.failed = answer.reply == Reply::Failed;
  played.lost = answer.reply == Reply::Lost;
  played.status = answer.ok()                      ? TxnStatus::Committed
                  : answer.reply == Reply::Aborted ? TxnStatus::Aborted
                                                   : TxnStatus::Unknown;
  played.connection_usable = played.status != TxnStatus::Unknown;
  played.reason = std::move(answer.reason);
  played.trace = connection.trace();
  return played;
}

// The numbers of accounts depend on what was read before, and rows are asked for one by one.
bool Player::can_be_whole(const Plan& plan) const {
  return model_ != Model::Rows && !accounts_ && !plan.abort &&
         std::all_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
           return step.kind == StepKind::Read || step.kind == StepKind::Write ||
                  step.kind == StepKind::Delete || step.kind == StepKind::Append ||
                  step.kind == StepKind::Scan;
         });
}

db::Operation Player::operation_of(const Step& step) {
  switch (step.kind) {
    case StepKind::Scan:
      return {.kind = db::OperationKind::Scan, .key = step.key, .upper = step.upper};
    case StepKind::Append:
      return {.kind = db::OperationKind::Append, .key = step.key, .number = numbers_.next()};
    case StepKind::Write:
      return {.kind = db::OperationKind::Write, .key = step.key, .number = numbers_.next()};
    case StepKind::Delete:
      return {.kind = db::OperationKind::Write, .key = step.key, .number = -numbers_.next()};
    default:
      return {
          .kind = model_ == Model::Lists ? db::OperationKind::ReadList : db::OperationKind::Read,
          .key = step.key};
  }
}

// All writes are recorded, also those that come after a statement that failed and were not tried:
// the transaction is aborted, so that says nothing about the database.
Played Player::play_whole(Connection& connection, const Plan& plan, Transcript& transcript,
                          const std::function<void()>& before_commit, workload::Client* client) {
  operations_.clear();
  for (const Step& step : plan.steps) operations_.push_back(operation_of(step));
  const auto record = [&](bool answered) {
    transcript.clear();
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      record_operation(operations_[i], plan.steps[i].kind == StepKind::Delete,
                       answered && i < results_.size() ? &results_[i] : nullptr, transcript);
    }
  };
  record(false);
  if (transcript.wrote()) before_commit();
  Played played;
  if (plan.now) played.committing = plan.now();
  Answer answer = connection.whole(operations_, plan.read_only, results_);
  record(true);
  for (std::size_t i = 0; client != nullptr && i < results_.size(); ++i) {
    const std::size_t size = results_[i].elements.size() + results_[i].rows.size();
    if (operations_[i].kind == db::OperationKind::ReadList ||
        operations_[i].kind == db::OperationKind::Scan) {
      client->saw(plan.steps[i], size);
    }
  }
  played.failed = answer.reply == Reply::Failed;
  played.lost = answer.reply == Reply::Lost;
  played.status = answer.ok()   ? TxnStatus::Committed
                  : played.lost ? TxnStatus::Unknown
                                : TxnStatus::Aborted;
  played.connection_usable = !played.lost;
  played.reason = std::move(answer.reason);
  played.trace = connection.trace();
  return played;
}

Answer Player::do_step(Connection& connection, const Step& step, Transcript& transcript,
                       workload::Client* client) {
  switch (step.kind) {
    case StepKind::Read:
      return do_read(connection, step, transcript, client);
    case StepKind::Scan: {
      Answer answer = connection.scan(step.key, step.upper, numbers_found_);
      if (!answer.ok()) return answer;
      transcript.scan(step.key, step.upper, numbers_found_);
      if (client != nullptr) client->saw(step, numbers_found_.size());
      return answer;
    }
    case StepKind::Write:
    case StepKind::Delete:
    case StepKind::Append:
      return do_write(connection, step, transcript);
    default:
      return do_predicate(connection, step, transcript);
  }
}

Answer Player::do_read(Connection& connection, const Step& step, Transcript& transcript,
                       workload::Client* client) {
  if (model_ == Model::Lists) {
    Answer answer = connection.read_list(step.key, elements_);
    if (!answer.ok()) return answer;
    transcript.read_list(step.key, elements_);
    if (client != nullptr) client->saw(step, elements_.size());
    return answer;
  }
  if (model_ == Model::Rows) {
    std::optional<db::Row> row;
    Answer answer = connection.read_row(step.key, row);
    if (answer.ok()) transcript.read_row(step.key, row);
    return answer;
  }
  std::optional<Number> number;
  Answer answer = connection.read(step.key, number);
  if (!answer.ok()) return answer;
  transcript.read(step.key, number);
  if (accounts_) balances_.emplace_back(step.key, balance_of(number.value_or(0)));
  return answer;
}

// For an account: the balance that the transaction last read there, or the opening balance, plus
// the amount of the step.
Number Player::number_for(const Step& step) {
  const Number fresh = numbers_.next();
  if (!accounts_) return fresh;
  const auto read = std::find_if(balances_.rbegin(), balances_.rend(),
                                 [&](const auto& seen) { return seen.first == step.key; });
  const Number balance = read == balances_.rend() ? kOpeningBalance : read->second;
  return fresh * kAccountUnit + balance + step.amount;
}

Answer Player::do_write(Connection& connection, const Step& step, Transcript& transcript) {
  if (step.kind == StepKind::Append) {
    const Number element = numbers_.next();
    transcript.append(step.key, element);
    return connection.append(step.key, element);
  }
  if (step.kind == StepKind::Delete) {
    const Number tombstone = -numbers_.next();
    transcript.remove(step.key, tombstone);
    return connection.write(step.key, tombstone);
  }
  if (model_ == Model::Rows) {
    const db::Row row{numbers_.next(), step.low, step.high};
    transcript.write_row(step.key, row);
    return connection.write_row(step.key, row);
  }
  const Number number = number_for(step);
  transcript.write(step.key, number);
  return connection.write(step.key, number);
}

// An update or delete by predicate is recorded as a select, followed by writes or deletes of the
// rows found. Only the answer tells which rows these are. If an update failed, the writes that the
// driver knows of are recorded without the select.
Answer Player::do_predicate(Connection& connection, const Step& step, Transcript& transcript) {
  const db::Where where{{.column = step.column, .lower = step.low, .upper = step.high}};
  if (step.kind == StepKind::Aggregate) {
    std::optional<Number> result;
    Answer answer = connection.aggregate(step.aggregate, step.of, where, result);
    if (answer.ok()) transcript.aggregate(step.aggregate, step.of, where, result);
    return answer;
  }
  if (step.kind == StepKind::Select) {
    Answer answer = connection.select(where, rows_found_);
    if (answer.ok()) transcript.select(where, rows_found_);
    return answer;
  }
  if (step.kind == StepKind::DeleteWhere) {
    Answer answer = connection.remove_where(where, rows_found_);
    if (!answer.ok()) return answer;
    transcript.select(where, rows_found_);
    for (const db::KeyRow& row : rows_found_) transcript.remove(row.key);
    return answer;
  }
  const db::Assignment assignments[] = {{.column = 0, .number = numbers_.next()},
                                        {.column = 1, .number = step.amount}};
  changes_.clear();
  Answer answer = connection.update_where(where, assignments, changes_);
  rows_found_.clear();
  for (const db::RowChange& change : changes_) rows_found_.push_back({change.key, change.before});
  if (answer.ok()) transcript.select(where, rows_found_);
  for (const db::RowChange& change : changes_) transcript.write_row(change.key, change.after);
  return answer;
}

}  // namespace ouro::running
