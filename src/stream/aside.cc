#include "stream/aside.h"

#include <system_error>

namespace ouro::stream {

Aside::~Aside() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (helper_.joinable()) helper_.join();
}

void Aside::share(std::size_t pieces, const Work& work) {
  bool alone = pieces < 2;
  try {
    if (!alone && !helper_.joinable()) helper_ = std::thread([this] { help(); });
  } catch (const std::system_error&) {
    alone = true;  // The system allows no more threads.
  }
  work_ = &work;
  pieces_ = pieces;
  next_ = 0;
  if (!alone) {
    const std::lock_guard lock(mutex_);
    waits_ = true;
    changed_.notify_all();
  }
  do_some(0);
  std::unique_lock lock(mutex_);
  waits_ = false;  // All pieces are taken, so a helper that has not begun need not begin.
  changed_.wait(lock, [this] { return !helps_; });
}

void Aside::do_some(std::size_t who) {
  for (std::size_t piece = next_++; piece < pieces_; piece = next_++) (*work_)(piece, who);
}

void Aside::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || waits_; });
    if (ends_) return;
    waits_ = false;
    helps_ = true;
    lock.unlock();
    do_some(1);
    lock.lock();
    helps_ = false;
    changed_.notify_all();
  }
}

}  // namespace ouro::stream
