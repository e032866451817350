#include "run/step_client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace ouro::running {

using db::Answer;
using db::Model;
using db::Number;
using db::Reply;

StepClient::StepClient(std::string name, db::Connection& connection, const ScriptPlace& place,
                       std::function<std::int64_t()> now)
    : name_(std::move(name)),
      connection_(connection),
      place_(place),
      now_(std::move(now)),
      handle_(connection_.handle()),
      thread_([this] { work(); }) {}

StepClient::~StepClient() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StepClient::work() {
  thread_id_ = ::gettid();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return given_ || ending_; });
    if (!given_) return;
    lock.unlock();
    StepAnswer answer = given_();
    lock.lock();
    last_ = std::move(answer);
    given_ = nullptr;
    changed_.notify_all();
  }
}

void StepClient::give(Work work) {
  {
    const std::lock_guard lock(mutex_);
    given_ = std::move(work);
  }
  changed_.notify_all();
}

bool StepClient::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return !given_; });
}

void StepClient::take(const ScriptStep& step) {
  give([this, step] { return do_step(step); });
}

std::string StepClient::line() const {
  std::string text;
  if (invoked_ == kNoClock || transcript_.empty()) return text;
  transcript_.format({.session_name = name_,
                      .status = status_,
                      .invoked = invoked_,
                      .completed = status_ == TxnStatus::Unknown ? kNoClock
                                   : completed_ == kNoClock       ? now_()
                                                                  : completed_},
                     text);
  return text;
}

// The kernel's word for what the thread does follows its name, which is in brackets: S is asleep.
// D, waiting for a disk, and R, running or wanting to, are not.
bool StepClient::asleep() const {
  std::ifstream file(fmt::format("/proc/self/task/{}/stat", thread_id_.load()));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] == 'S';
}

StepAnswer StepClient::do_begin() {
  invoked_ = now_();
  Answer answer = connection_.begin(false);
  if (!answer.ok()) give_up(answer);
  return {answer, answer.ok() ? "" : answer.reason};
}

StepAnswer StepClient::do_step(const ScriptStep& step) {
  if (step.act == Act::Begin) return do_begin();
  if (step.act == Act::Commit) return do_commit();
  if (step.act == Act::Abort) return do_abort();
  const db::Key key = place_.first_key + step.key;
  StepAnswer done = step.act == Act::Read     ? do_read(key)
                    : step.act == Act::Write  ? do_write(key, step.low)
                    : step.act == Act::Delete ? do_delete(key)
                                              : do_find(step);
  if (done.answer.ok()) return done;
  give_up(done.answer);
  done.text = done.answer.reason;
  return done;
}

StepAnswer StepClient::do_read(db::Key key) {
  if (place_.model == Model::Rows) {
    std::optional<db::Row> row;
    Answer answer = connection_.read_row(key, row);
    if (answer.ok()) transcript_.read_row(key, row);
    return {answer, row ? std::to_string((*row)[1] - place_.first_number) : "absent"};
  }
  std::optional<Number> number;
  Answer answer = connection_.read(key, number);
  if (answer.ok()) transcript_.read(key, number);
  return {answer, number ? std::to_string(*number) : "absent"};
}

// In a row, c0 tells its versions apart; it is the same number.
StepAnswer StepClient::do_write(db::Key key, Number number) {
  if (place_.model == Model::Rows) {
    const db::Row row{place_.first_number + number, place_.first_number + number, 0};
    transcript_.write_row(key, row);
    return {connection_.write_row(key, row), ""};
  }
  transcript_.write(key, number);
  return {connection_.write(key, number), ""};
}

StepAnswer StepClient::do_delete(db::Key key) {
  transcript_.remove(key);
  return {connection_.remove(key), ""};
}

// What is found by the range of a scan, or by that of a select or a delete.
StepAnswer StepClient::do_find(const ScriptStep& step) {
  if (step.act == Act::Scan) {
    std::vector<db::KeyNumber> found;
    const db::Key lower = place_.first_key + step.key;
    const db::Key upper = place_.first_key + step.upper;
    Answer answer = connection_.scan(lower, upper, found);
    if (answer.ok()) transcript_.scan(lower, upper, found);
    return {answer, fmt::format("{} found", found.size())};
  }
  const db::Where where{{.column = 1,
                         .lower = place_.first_number + step.low,
                         .upper = place_.first_number + step.high}};
  std::vector<db::KeyRow> found;
  const bool deletes = step.act == Act::DeleteWhere;
  Answer answer =
      deletes ? connection_.remove_where(where, found) : connection_.select(where, found);
  if (!answer.ok()) return {answer, ""};
  transcript_.select(where, found);
  if (deletes) {
    for (const db::KeyRow& row : found) transcript_.remove(row.key);
  }
  return {answer, fmt::format("{} {}", found.size(), deletes ? "deleted" : "found")};
}

StepAnswer StepClient::do_commit() {
  Answer answer = connection_.commit();
  completed_ = now_();
  over_ = true;
  status_ = answer.ok()                      ? TxnStatus::Committed
            : answer.reply == Reply::Aborted ? TxnStatus::Aborted
                                             : TxnStatus::Unknown;
  unclear_ = unclear_ || status_ == TxnStatus::Unknown;
  return {answer, answer.ok() ? "committed" : answer.reason};
}

StepAnswer StepClient::do_abort() {
  Answer answer = connection_.rollback();
  completed_ = now_();
  over_ = true;
  unclear_ = unclear_ || !answer.ok();
  return {answer, answer.ok() ? "aborted" : answer.reason};
}

void StepClient::give_up(const Answer& answer) {
  unclear_ = answer.reply != Reply::Aborted;
  static_cast<void>(connection_.rollback());
  completed_ = now_();
  over_ = true;
}

}  // namespace ouro::running
