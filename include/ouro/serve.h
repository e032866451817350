// Checks what a live database does, as a service: takes transactions over HTTP, TCP, standard input
// and from growing files, judges them with Stream, and tells what it finds.
//
// Example (built and run as tests/example_serve.cc):
//
//   ouro::ServeOptions options;
//   options.stream.level = ouro::Level::SessionSi;
//   options.follow = {"run.jsonl"};
//   options.http = "127.0.0.1:0";
//   options.stop = &stop;
//   options.event = [&](const std::string&) { stop = true; };  // At the first violation.
//   options.ready = [&](const ouro::ServeAddresses& at) { std::cout << at.http << '\n'; };
//   const auto report = ouro::serve(options);
//   if (!report.ok()) return fail(report.error());
//   std::cout << ouro::describe(*report);
//
// With a state folder nothing that was acknowledged is lost or counted twice, even if the process
// is killed; docs/serve.md has the protocols and the guarantees.
//
// Thread safety: services share nothing, but each needs a state folder and addresses of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/result.h"
#include "ouro/stream.h"

namespace ouro {

// Where the service listens; empty where it does not.
struct ServeAddresses {
  std::string http;  // "http://127.0.0.1:7117/"
  std::string tcp;   // "127.0.0.1:7118"
};

struct ServeOptions {
  // The level, time-out, memory … A limit of memory needs `state`, unless `folder` is set.
  StreamOptions stream;

  // Inputs. Addresses are HOST:PORT; port 0 is any that is free.
  std::string http;                     // Empty: no HTTP, hence no page and no metrics.
  std::string tcp;                      // Empty: none.
  int input = -1;                       // A file descriptor to read; negative: none.
  std::vector<std::string> follow;      // Files in native text that grow; they may appear later.
  std::string token;                    // What clients must show; empty: nothing.
  std::optional<std::int64_t> initial;  // What keys hold at first; nothing: they are absent.
  std::size_t body_limit = std::size_t{32} << 20;   // Bytes of one batch.
  std::size_t queue_limit = std::size_t{64} << 20;  // Bytes of batches that wait for the check.

  // Outputs.
  std::function<void(const std::string& line)> event;  // Each event as a line of JSON.
  // With a state: the number of the last event that `event` got before; later ones that were found
  // in the past are given to it first. The largest number: none.
  std::uint64_t event_after = std::numeric_limits<std::uint64_t>::max();
  std::string webhook;  // URL to POST each event to; empty: none.

  // Survives restarts in this folder, which is made; empty: a restart forgets everything.
  std::string state;
  // How much of the events is kept there, about; but all that the webhook did not get yet.
  std::uint64_t events_limit = std::uint64_t{1} << 30;
  std::chrono::seconds checkpoint{30};                        // How often, at most …
  std::uint64_t checkpoint_bytes = std::uint64_t{256} << 20;  // … and after how much input.

  // Turns true: accept nothing more, judge what came, and return.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const ServeAddresses&)> ready;  // Once, when clients can connect.
  std::function<void(const std::string&)> note;      // What an operator should know; one line.
};

struct ServeReport {
  Level level = Level::SessionSi;
  // Undecided if nothing was violated but some transactions came too late to be judged.
  Outcome outcome = Outcome::Holds;
  StreamSummary summary;
  std::uint64_t events = 0;    // Violations and withdrawals told since the state began.
  std::uint64_t rejected = 0;  // Batches or lines that could not be read, in this process.
  double seconds = 0;          // Of this process.
};

// Serves until told to stop, or until all inputs that can end have ended if nothing else is left to
// listen to. The error is what kept it from starting, or a state folder that cannot be written.
[[nodiscard]] Result<ServeReport> serve(const ServeOptions& options);

// "VIOLATED session-si by timestamps (2 write conflict)" and a line of counts.
[[nodiscard]] std::string describe(const ServeReport& report);

}  // namespace ouro
