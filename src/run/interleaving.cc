#include "run/interleaving.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

namespace ouro::running {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds kGlance = 4ms;  // Between two looks at a step.
// A thread in this process waits if it sleeps at so many looks in a row.
constexpr unsigned kAsleepLooks = 25;
// Where nobody can tell, a step waits that takes longer than this, and so many times longer than
// any step before.
constexpr std::chrono::milliseconds kLong = 200ms;
constexpr int kTimesLonger = 10;

// What scripts start with: x is 10 and y is 20.
constexpr std::string_view kSetup = "1 w x 10, 1 w y 20, 1 c";
constexpr std::string_view kSeesSetup = "1 r y, 1 c";

std::string client_name(std::size_t client) { return fmt::format("T{}", client + 1); }

}  // namespace

struct Interleaving::Seat {
  Seat(std::size_t number_, db::Connection& connection, const ScriptPlace& place,
       std::function<std::int64_t()> now)
      : number(number_), client(client_name(number_), connection, place, std::move(now)) {}

  std::size_t number;
  StepClient client;
  bool waits = false;              // Its step was begun, and waits.
  std::size_t step = 0;            // The number of that step in PlayedScript::steps.
  std::deque<ScriptStep> backlog;  // Steps whose turn came meanwhile.
};

Interleaving::Interleaving(db::Database& database) : database_(database) {}
Interleaving::~Interleaving() = default;

std::int64_t Interleaving::now() const { return (Clock::now() - made_).count(); }

// Clients are spread over the nodes that take writes.
Status Interleaving::connect(std::size_t clients) {
  while (connections_.size() < clients) {
    std::size_t node = connections_.size() % database_.node_count();
    if (database_.read_only(node)) node = 0;
    auto connection = database_.connect(node);
    if (!connection.ok()) return connection.error();
    connections_.push_back(*std::move(connection));
  }
  return {};
}

bool Interleaving::run_alone(const std::string& name, const std::vector<ScriptStep>& steps,
                             const ScriptPlace& place, PlayedScript& played) {
  StepClient client(name, *connections_[0], place, [this] { return now(); });
  for (const ScriptStep& step : steps) {
    if (client.over()) break;
    client.take(step);
    while (!client.wait(1s)) {
    }
  }
  if (client.status() != TxnStatus::Committed) {
    if (client.unclear()) played.unclear = client.last().text;
    return false;
  }
  played.history += client.line();
  return true;
}

// Other nodes of a cluster may learn of the keys a little later; whoever does not see them yet
// would play another script.
Status Interleaving::prepare(const ScriptPlace& place, PlayedScript& played) {
  if (!run_alone("before", parse_script(kSetup), place, played)) {
    return Error{.what = fmt::format("cannot write the first rows: {}", played.unclear)};
  }
  for (const auto& connection : connections_) {
    bool seen = false;
    for (int attempt = 0; attempt < 500 && !seen; ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(10ms);
      StepClient client("", *connection, place, [this] { return now(); });
      for (const ScriptStep& step : parse_script(kSeesSetup)) {
        if (client.over()) break;
        client.take(step);
        while (!client.wait(1s)) {
        }
        if (step.act == Act::Read) seen = client.last().text == "20";
      }
      seen = seen && client.status() == TxnStatus::Committed;
    }
    if (!seen) return Error{.what = "the first rows cannot be read back"};
  }
  return {};
}

// Reads what the script touched, and the first key once more: so two transactions whose writes of
// two keys were mixed contradict each other.
void Interleaving::look_back(const std::vector<ScriptStep>& script, const ScriptPlace& place,
                             PlayedScript& played) {
  std::set<db::Key> keys{0, 1};
  for (const ScriptStep& step : script) {
    if (step.act == Act::Write || step.act == Act::Delete) keys.insert(step.key);
  }
  std::vector<ScriptStep> steps{{.act = Act::Begin}};
  for (const db::Key key : keys) steps.push_back({.act = Act::Read, .key = key});
  steps.push_back({.act = Act::Read, .key = 0});
  steps.push_back({.act = Act::Commit});
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (run_alone("after", steps, place, played)) return;
  }
  if (played.unclear.empty()) played.unclear = "what was left in the end could not be read";
}

bool Interleaving::seems_to_wait(const Seat& seat, std::chrono::milliseconds so_far,
                                 unsigned& asleep) {
  if (database_.features().in_process) {
    asleep = seat.client.asleep() ? asleep + 1 : 0;
    return asleep >= kAsleepLooks;
  }
  if (const std::optional<bool> told = database_.waits(seat.client.handle())) return *told;
  return so_far > std::max(kLong, kTimesLonger * slowest_);
}

bool Interleaving::settle(Seat& seat) {
  const Clock::time_point begun = Clock::now();
  unsigned asleep = 0;
  for (;;) {
    const bool done = seat.client.wait(kGlance);
    const auto so_far = std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begun);
    if (done) {
      slowest_ = std::max(slowest_, so_far);
      return true;
    }
    if (seems_to_wait(seat, so_far, asleep) && !seat.client.wait(0ms)) return false;
  }
}

bool Interleaving::begin_step(Seat& seat, const ScriptStep& step, PlayedScript& played) {
  seat.step = played.steps.size();
  played.steps.push_back({.client = client_name(seat.number), .what = text_of(step)});
  seat.client.take(step);
  if (settle(seat)) {
    answered(seat, played);
    return true;
  }
  seat.waits = true;
  played.steps[seat.step].waited = played.waited = true;
  return false;
}

void Interleaving::answered(Seat& seat, PlayedScript& played) {
  seat.waits = false;
  const StepAnswer& told = seat.client.last();
  played.steps[seat.step].answer = told.text;
  if (told.answer.ok()) return;
  played.steps[seat.step].refused = true;
  if (told.answer.reply == db::Reply::Aborted) played.refused = true;
  if (seat.client.unclear()) played.unclear = told.text;
}

void Interleaving::look_after(std::vector<std::unique_ptr<Seat>>& seats, PlayedScript& played) {
  for (bool again = true; again;) {
    again = false;
    for (const auto& seat : seats) {
      if (!seat->waits || !settle(*seat)) continue;
      again = true;
      answered(*seat, played);
      while (!seat->waits && !seat->backlog.empty()) {
        const ScriptStep step = seat->backlog.front();
        seat->backlog.pop_front();
        if (!seat->client.over()) begin_step(*seat, step, played);
      }
    }
  }
}

// The turn of every step has come. Those that still wait wait for each other, or for time to pass;
// the driver's patience ends that.
void Interleaving::finish(std::vector<std::unique_ptr<Seat>>& seats, PlayedScript& played) {
  const auto waits = [](const auto& seat) { return seat->waits; };
  while (std::any_of(seats.begin(), seats.end(), waits)) {
    const auto first = std::find_if(seats.begin(), seats.end(), waits);
    static_cast<void>((*first)->client.wait(20ms));
    look_after(seats, played);
  }
}

Result<PlayedScript> Interleaving::play(const std::vector<ScriptStep>& script,
                                        const ScriptPlace& place) {
  std::size_t clients = 0;
  for (const ScriptStep& step : script) clients = std::max(clients, step.client + 1);
  PlayedScript played;
  if (auto connected = connect(clients); !connected) return connected.error();
  if (auto prepared = prepare(place, played); !prepared) return prepared.error();
  std::vector<std::unique_ptr<Seat>> seats;
  for (std::size_t i = 0; i < clients; ++i) {
    seats.push_back(std::make_unique<Seat>(i, *connections_[i], place, [this] { return now(); }));
  }
  for (const ScriptStep& step : script) {
    Seat& seat = *seats[step.client];
    if (seat.waits) {
      seat.backlog.push_back(step);
    } else if (!seat.client.over()) {
      begin_step(seat, step, played);
    }
    look_after(seats, played);
  }
  finish(seats, played);
  for (const auto& seat : seats) played.history += seat->client.line();
  seats.clear();
  if (!played.unclear.empty()) connections_.clear();  // Who knows what state they are in.
  if (connections_.empty()) {
    if (auto connected = connect(1); !connected) return connected.error();
  }
  look_back(script, place, played);
  return played;
}

}  // namespace ouro::running
