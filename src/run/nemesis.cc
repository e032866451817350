#include "run/nemesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/temporary_folder.h"
#include "db/process.h"

namespace ouro::running {
namespace {

using namespace std::chrono_literals;

}  // namespace

Result<Trouble> parse_trouble(std::string_view name) {
  if (name == "pause") return Trouble::Pause;
  if (name == "kill") return Trouble::Kill;
  if (name == "cut") return Trouble::Cut;
  return Error{.what = fmt::format("unknown nemesis '{}'; there are pause, kill and cut", name)};
}

Nemesis::Nemesis(db::Server* server, NemesisOptions options, std::function<std::int64_t()> now)
    : server_(server),
      options_(std::move(options)),
      now_(std::move(now)),
      random_(options_.seed, 0),
      thread_([this] { work(); }) {}

Nemesis::~Nemesis() { (void)end(); }

Status Nemesis::end() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
  return problem_;
}

void Nemesis::work() {
  for (;;) {
    wait(options_.quiet);
    if (ending_) return;
    const Trouble trouble = options_.troubles[random_.below(options_.troubles.size())];
    std::size_t node = server_ == nullptr ? 0 : random_.below(server_->nodes().size());
    // A primary cannot be cut off, only its standby.
    if (trouble == Trouble::Cut && server_->kind() == db::ServerKind::PostgresStandby) node = 1;
    Status done = disturb(trouble, node);
    if (done.ok()) {
      ++trouble_count_;
      wait(options_.trouble);
      done = heal(trouble, node);
    } else if (trouble == Trouble::Command) {
      (void)heal(trouble, node);  // Half of the trouble may be there.
    }
    if (done.ok()) continue;
    problem_ = done;
    return;
  }
}

Status Nemesis::disturb(Trouble trouble, std::size_t node) {
  switch (trouble) {
    case Trouble::Pause:
      return record("pause", node, server_->pause(node));
    case Trouble::Kill:
      return record("kill", node, server_->kill(node));
    case Trouble::Cut:
      return record("cut", node, server_->cut(node));
    case Trouble::Command:
      return run_command("strike", trouble_count_ + 1);
  }
  return {};
}

Status Nemesis::heal(Trouble trouble, std::size_t node) {
  switch (trouble) {
    case Trouble::Pause:
      return record("resume", node, server_->resume(node));
    case Trouble::Kill:
      return record("restart", node, server_->restart(node));
    case Trouble::Cut:
      return record("join", node, server_->join(node));
    case Trouble::Command:
      return run_command("heal", trouble_count_);
  }
  return {};
}

Status Nemesis::record(std::string_view what, std::size_t node, Status done) {
  if (!done.ok()) {
    return Error{.what = fmt::format("cannot {} node {}: {}", what, node, done.error().what)};
  }
  events_ += fmt::format("{}{} {} node {}", events_.empty() ? "" : "; ", now_(), what, node);
  return {};
}

// The command is a process group of its own, so that Ctrl-C, which ends the run, does not keep it
// from undoing the trouble; and it cannot outlive us.
Status Nemesis::run_command(const char* what, std::size_t number) {
  auto folder = TemporaryFolder::make("ouro-nemesis");
  if (!folder.ok()) return folder.error();
  const std::string prelude = fmt::format(
      "OURO_NEMESIS={}; OURO_NEMESIS_NUMBER={}; export OURO_NEMESIS OURO_NEMESIS_NUMBER", what,
      number);
  const db::Program program{.words = {"/bin/sh", "-c", prelude + "\n" + options_.command},
                            .directory = std::filesystem::current_path(),
                            .log = folder->path() / "output",
                            .our_environment = true};
  const Status done = db::run_program(program, options_.command_limit);
  if (!done.ok()) {
    return Error{.what = fmt::format("the nemesis command ({}): {}", what, done.error().what)};
  }
  events_ += fmt::format("{}{} {} {}", events_.empty() ? "" : "; ", now_(), what, number);
  return {};
}

// Waits between 0.5 and 1.5 times `about`, or until end() is called.
void Nemesis::wait(std::chrono::milliseconds about) {
  const auto limit = about / 2 + about * static_cast<int>(random_.below(1000)) / 1000;
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!ending_ && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
}

}  // namespace ouro::running
