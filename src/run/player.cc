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

// Whether a database that takes snapshots must have one to answer the step. Some update the latest
// rows, whatever the snapshot.
bool takes_snapshot(StepKind kind) {
  return kind == StepKind::Read || kind == StepKind::Scan || kind == StepKind::Select ||
         kind == StepKind::Aggregate;
}

}  // namespace

Played Player::play(Connection& connection, const Plan& plan, Transcript& transcript,
                    const std::function<void()>& before_commit, workload::Client* client) {
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
  played.status = answer.ok()                      ? TxnStatus::Committed
                  : answer.reply == Reply::Aborted ? TxnStatus::Aborted
                                                   : TxnStatus::Unknown;
  played.connection_usable = played.status != TxnStatus::Unknown;
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
