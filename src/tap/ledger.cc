#include "tap/ledger.h"

namespace ouro::tapping {

std::uint64_t Ledger::open(Nanos since) {
  const std::lock_guard lock(mutex_);
  open_.emplace(++last_ticket_, since);
  return last_ticket_;
}

void Ledger::close(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  open_.erase(ticket);
}

std::uint64_t Ledger::add(std::uint64_t ticket, ClientTxn txn, Nanos next) {
  const std::lock_guard lock(mutex_);
  open_.erase(ticket);
  if (!stopped_) finished_.push_back(std::move(txn));
  if (next == 0) return 0;
  open_.emplace(++last_ticket_, next);
  return last_ticket_;
}

void Ledger::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  finished_.clear();
}

bool Ledger::may_probe() const {
  constexpr std::uint64_t kFailures = 3;
  const std::lock_guard lock(mutex_);
  return !stopped_ && counts_.failed_probes < kFailures;
}

Ledger::Taken Ledger::take() {
  const std::lock_guard lock(mutex_);
  Taken taken;
  taken.finished.swap(finished_);
  for (const auto& [ticket, since] : open_) taken.open.push_back(since);
  return taken;
}

void Ledger::count(std::uint64_t Counts::*what) {
  const std::lock_guard lock(mutex_);
  ++(counts_.*what);
}

Ledger::Counts Ledger::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::shared_ptr<const Catalog> Ledger::catalog() const {
  const std::lock_guard lock(mutex_);
  return catalog_;
}

void Ledger::set_catalog(std::shared_ptr<const Catalog> catalog) {
  const std::lock_guard lock(mutex_);
  catalog_ = std::move(catalog);
}

void Ledger::want_catalog() {
  const std::lock_guard lock(mutex_);
  wanted_ = true;
}

bool Ledger::catalog_is_wanted() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wanted_, false);
}

}  // namespace ouro::tapping
