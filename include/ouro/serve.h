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
// serve() blocks; it calls `event` and `note` from its own threads, one call of each at a time.
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

// Where the service listens. Empty: it does not.
struct ServeAddresses {
  std::string http;  // "http://127.0.0.1:7117/"
  std::string tcp;   // "127.0.0.1:7118"
};

struct ServeOptions {
  // How to judge: level, time-out, memory limit … If `stream.memory` is limited and `stream.folder`
  // is empty, what does not fit goes into the state folder, which must then be named.
  StreamOptions stream;

  // Inputs; at least one must be set. Addresses are HOST:PORT; port 0 is any that is free.
  std::string http;                 // Empty: no HTTP, hence no page and no metrics.
  std::string tcp;                  // Empty: no TCP.
  int input = -1;                   // A file descriptor to read; negative: none.
  std::vector<std::string> follow;  // Files in native text that grow; they may appear later.
  std::string token;                // The secret that clients must send; empty: none.
  // Whether other machines may connect without a token.
  bool insecure = false;
  std::optional<std::int64_t> initial;  // What keys hold at the start; nothing: they are absent.
  std::size_t body_limit = std::size_t{32} << 20;   // The most bytes of one batch.
  // The most bytes that wait to be checked. Each takes about three in memory. Zero: 64 MB, or a
  // sixteenth of StreamOptions::memory if that is less.
  std::size_t queue_limit = 0;

  // Outputs. An event is a violation, or the withdrawal of one.
  std::function<void(const std::string& line)> event;  // Gets each event as a line of JSON.
  // With a state folder: the number of the last event that `event` got in an earlier process. It
  // first gets all later events that were found then. The largest number: none of them.
  std::uint64_t event_after = std::numeric_limits<std::uint64_t>::max();
  std::string webhook;  // URL to POST each event to; empty: none.
  // With it each POST is signed: X-Ouro-Signature: sha256=HMAC-SHA-256 of the body. Empty: it is
  // not.
  std::string webhook_secret;

  // The folder for all that must survive a restart; it is made if it does not exist. Empty: a
  // restart forgets everything.
  std::string state;
  // Keeps what can be kept of input in that folder that was damaged, and says what is lost. Reads
  // can no longer be judged then. Otherwise a damaged folder is refused.
  bool repair = false;
  // About how many bytes of events are kept there. Events that the webhook did not get yet are kept
  // anyway.
  std::uint64_t events_limit = std::uint64_t{1} << 30;
  // A checkpoint is written after so much time or so many bytes of input, whichever comes first.
  std::chrono::seconds checkpoint{30};
  std::uint64_t checkpoint_bytes = std::uint64_t{256} << 20;

  // Turns true: the service takes nothing more, judges what it has, and returns. May be null.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const ServeAddresses&)> ready;  // Called once, when clients can connect.
  std::function<void(const std::string&)> note;      // Gets what an operator should know; one line.
};

struct ServeReport {
  Level level = Level::SessionSi;
  // Undecided: nothing was violated, but some transactions came too late to be judged, or without
  // timestamps, or some are missing.
  Outcome outcome = Outcome::Holds;
  StreamSummary summary;
  // What was wrong with the input, so that not all can be judged: "shop: the slot is lost".
  std::vector<std::string> doubts;
  std::uint64_t events = 0;    // Events since the state folder was new.
  std::uint64_t rejected = 0;  // Batches or lines that this process could not read.
  double seconds = 0;          // How long this process served.
};

// Serves until `stop` turns true; or, if `input` is the only input, until that has ended. The error
// is what kept the service from starting, or a state folder that cannot be written.
[[nodiscard]] Result<ServeReport> serve(const ServeOptions& options);

// "VIOLATED session-si by timestamps (2 write conflict)" and a line of counts.
[[nodiscard]] std::string describe(const ServeReport& report);

}  // namespace ouro
