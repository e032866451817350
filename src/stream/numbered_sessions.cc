#include "stream/numbered_sessions.h"

#include <limits>

namespace ouro::stream {
namespace {

constexpr std::size_t kSessionBytes = 256;
constexpr std::size_t kTxnBytes = 120;  // Its entries in RealTime.

}  // namespace

bool NumberedSessions::has(const Name& session, std::int64_t sno) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.invoked_at(sno);
}

void NumberedSessions::add(const Name& session, std::int64_t sno, const Lifetime& life, Arrival txn,
                           bool& known) {
  RealTime& order = this->session(session);
  known &= order.complete(sno, life.commit, txn);
  changes_ = order.changes();
  order.invoke(sno, life.begin, txn, known);
}

void NumberedSessions::pass(const Name& session, std::int64_t sno, Arrival txn) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  bool known = true;
  this->session(session).invoke(sno, {kLast, kLast, ~std::uint64_t{0}}, txn, known);
}

RealTime& NumberedSessions::session(const Name& name) {
  const auto [at, added] = sessions_.try_emplace(name, RealTime(0));
  bytes_ += kTxnBytes + (added ? kSessionBytes : 0);
  return at->second;
}

Arrival NumberedSessions::missed_by(const Name& session, std::int64_t sno, Arrival txn) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? kNobody : found->second.missed_by(sno, txn);
}

void NumberedSessions::forget(Arrival open, Arrival kept) {
  for (auto& [name, session] : sessions_) session.forget_settled(open, kept);
  measure();
}

void NumberedSessions::measure() {
  bytes_ = sessions_.size() * kSessionBytes;
  for (const auto& [name, session] : sessions_) bytes_ += session.bytes();
}

void NumberedSessions::save(Encoder& out) const {
  out.number<std::uint64_t>(sessions_.size());
  for (const auto& [name, session] : sessions_) {
    out.number(name);
    session.save(out);
  }
}

void NumberedSessions::restore(Decoder& in) {
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto name = in.number<Name>();
    sessions_.try_emplace(name, RealTime(0)).first->second.restore(in);
  }
  measure();
}

}  // namespace ouro::stream
