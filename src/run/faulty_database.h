// For tests: a database that runs one transaction at a time, so it is strictly serializable, and
// whose calls fail wherever the test wants.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/database.h"

namespace ouro::running {

enum class Call : std::uint8_t { Begin, Read, Write, Commit, Rollback };

class FaultyDatabase final : public db::Database {
 public:
  // Asked at every call: returns how the call fails, or nothing. Called under a lock.
  using Fault = std::function<std::optional<db::Reply>(Call)>;
  explicit FaultyDatabase(Fault fault) : fault_(std::move(fault)) {}

  [[nodiscard]] std::string description() const override { return "faulty database"; }
  [[nodiscard]] Level claims() const override { return Level::StrictSerializable; }
  [[nodiscard]] db::Features features() const override { return {}; }
  Status prepare(const db::Schema&) override { return {}; }
  Result<std::unique_ptr<db::Connection>> connect(std::size_t) override {
    return std::unique_ptr<db::Connection>(std::make_unique<Link>(*this));
  }
  db::Resolution resolve(std::uint64_t token) override {
    if (!resolves) return db::Resolution::Unknown;
    return took_effect.contains(token) ? db::Resolution::Committed : db::Resolution::Aborted;
  }

  bool resolves = false;  // Whether resolve() knows how transactions ended.
  std::map<db::Key, db::Number> data;
  std::set<db::Number> kept;            // Every number that was ever committed.
  std::set<std::uint64_t> took_effect;  // The tokens of transactions that committed.
  std::uint64_t commits_answered_ok = 0;
  std::vector<Call> calls;

 private:
  class Link final : public db::Connection {
   public:
    explicit Link(FaultyDatabase& database) : database_(database) {}
    ~Link() override { end(); }

    db::Answer begin(bool) override {
      if (!turn_.owns_lock()) turn_ = std::unique_lock(database_.turn_);
      writes_.clear();
      token_ = ++database_.last_token_;
      return answer(Call::Begin);
    }
    db::Answer read(db::Key key, std::optional<db::Number>& number) override {
      const db::Answer told = answer(Call::Read);
      if (!told.ok()) return told;
      number.reset();
      if (const auto own = writes_.find(key); own != writes_.end()) {
        number = own->second;
      } else if (const auto found = database_.data.find(key); found != database_.data.end()) {
        number = found->second;
      }
      return told;
    }
    db::Answer write(db::Key key, db::Number number) override {
      const db::Answer told = answer(Call::Write);
      if (told.ok()) writes_[key] = number;
      return told;
    }
    db::Answer commit() override {
      const db::Answer told = answer(Call::Commit);
      // If the commit fails or is not answered, every other transaction takes effect all the same.
      const bool happens = told.ok() || (told.reply != db::Reply::Aborted && token_ % 2 == 0);
      if (happens) {
        for (const auto& [key, number] : writes_) {
          database_.data[key] = number;
          database_.kept.insert(number);
        }
        database_.took_effect.insert(token_);
      }
      if (told.ok()) ++database_.commits_answered_ok;
      end();
      return told;
    }
    db::Answer rollback() override {
      if (!turn_.owns_lock()) turn_ = std::unique_lock(database_.turn_);
      const db::Answer told = answer(Call::Rollback);
      if (told.ok()) end();
      return told;
    }
    db::Trace trace() override { return {.token = token_}; }

   private:
    db::Answer answer(Call call) {
      database_.calls.push_back(call);
      const auto reply = database_.fault_(call);
      return reply ? db::Answer{*reply, "told to"} : db::Answer{};
    }
    void end() {
      writes_.clear();
      if (turn_.owns_lock()) turn_.unlock();
    }

    FaultyDatabase& database_;
    std::unique_lock<std::mutex> turn_;  // Held while a transaction is open.
    std::map<db::Key, db::Number> writes_;
    std::uint64_t token_ = 0;
  };

  Fault fault_;
  std::mutex turn_;
  std::uint64_t last_token_ = 0;
};

}  // namespace ouro::running
