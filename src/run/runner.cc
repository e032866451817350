#include "run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace ouro::running {
namespace {

// Random streams of clients for choices begin here, apart from those of plans and numbers.
constexpr std::uint64_t kChoiceStream = 2'000'000;
constexpr std::uint32_t kLoadBatch = 100;             // Keys per transaction of load().
constexpr auto kNap = std::chrono::milliseconds(20);  // How often sleepers look for the end.
constexpr auto kProgressPause = std::chrono::milliseconds(200);
// If so many transactions of a client fail in a row (rather than abort), the run ends: the database
// cannot do what the workload asks.
constexpr unsigned kFailuresInARow = 50;
// Without a limit of time, clients wait so many times their patience for a database that is away.
constexpr int kPatiences = 6;

db::Model model_of(const WorkloadInfo& workload) {
  return workload.lists ? db::Model::Lists : workload.rows ? db::Model::Rows : db::Model::Registers;
}

}  // namespace

// One client: plans transactions, plays them, and records them.
class Runner::Worker {
 public:
  Worker(Runner& runner, std::uint32_t number)
      : runner_(runner),
        options_(runner.options_),
        number_(number),
        clients_(options_.workload.sessions),
        session_(number),
        plan_(workload::make_client(options_.workload, {.number = number, .clients = clients_})),
        player_(runner.model_, options_.workload.workload == WorkloadKind::Bank,
                // One more than there are clients: the loader has numbers, too.
                Numbers(number, clients_ + 1, options_.duplicates, options_.workload.seed)),
        choices_(options_.workload.seed, kChoiceStream + number),
        abort_(options_.workload.abort_share),
        read_only_(runner.database_.read_only(number % runner.database_.node_count())) {
    if (!options_.record) transcript_.mute();
  }

  void run() {
    using Seconds = std::chrono::duration<double>;
    const Clock::duration interval =
        options_.rate > 0 ? std::chrono::duration_cast<Clock::duration>(
                                Seconds(static_cast<double>(clients_) / options_.rate))
                          : Clock::duration(0);
    Clock::time_point next = runner_.started_ + interval * number_ / clients_;
    while (!runner_.over()) {
      if (options_.rate > 0) {
        runner_.sleep_until(next);
        next = std::max(next + interval, Clock::now() - interval);
        if (runner_.over()) return;
      }
      if (read_only_) {
        plan_->plan_reads(program_);
      } else {
        plan_->plan(program_);
      }
      if (!play_with_retries()) return;
      if (options_.think_time.count() > 0) {
        runner_.sleep_until(Clock::now() + options_.think_time);
      }
    }
  }

 private:
  // Plays the planned transaction, and again if it was aborted by the database. False: the run is
  // over.
  bool play_with_retries() {
    const bool abort = choices_.hit(abort_);
    for (unsigned attempt = 0;; ++attempt) {
      if (!runner_.take_one()) return false;
      if (connection_ == nullptr) connection_ = runner_.connect(number_, heard_);
      if (connection_ == nullptr) return false;
      if (attempt > 0) ++runner_.retried_;
      const Played played = play(abort);
      if (!note(played)) return false;
      if (played.status != TxnStatus::Aborted || played.by_choice || attempt >= options_.retries) {
        return true;
      }
      // Waits for a random time, so that clients that collided do not collide again at once.
      const auto pause = std::chrono::microseconds(choices_.below(200 << std::min(attempt, 6U)));
      runner_.sleep_until(Clock::now() + pause);
      if (runner_.over()) return false;
    }
  }

  Played play(bool abort) {
    Transcript::Frame frame{.session = session_, .session_name = {}, .invoked = runner_.now()};
    const Played played = player_.play(
        *connection_,
        {.steps = program_,
         .read_only = read_only_,
         .abort = abort,
         .now = [this] { return runner_.now(); }},
        transcript_, [&] { announce(frame); }, plan_.get());
    frame.status = played.status;
    frame.began = played.began;
    frame.committing = played.committing;
    if (played.status != TxnStatus::Unknown) frame.completed = runner_.now();
    if (options_.evidence) {
      frame.start = played.trace.start;
      frame.commit = played.trace.commit;
    }
    record(frame, played);
    return played;
  }

  // Before a commit: tells the file what to add should this process die. If the line is too long,
  // only its writes; if these are too long, nothing.
  void announce(Transcript::Frame frame) {
    if (!options_.record) return;
    frame.status = TxnStatus::Unknown;
    transcript_.format(frame, line_);
    if (line_.size() > HistoryFile::kSlotBytes) transcript_.format_writes(frame, line_);
    if (line_.size() <= HistoryFile::kSlotBytes) runner_.file_.announce(number_, line_);
  }

  void record(const Transcript::Frame& frame, const Played& played) {
    if (transcript_.empty() || !options_.record) return;
    transcript_.format(frame, line_);
    const std::uint64_t line = runner_.file_.add(number_, line_);
    runner_.feed(line_, frame, played.trace);
    const bool unknown = played.status == TxnStatus::Unknown;
    if (played.trace.token == 0 || (played.status == TxnStatus::Aborted)) return;
    if (!options_.evidence && !unknown) return;
    const std::lock_guard lock(runner_.mutex_);
    runner_.open_lines_.push_back(
        {line, played.trace.token, unknown, transcript_.predicate_ends(line_)});
  }

  // Counts how a transaction ended. False: the client gives up.
  bool note(const Played& played) {
    if (played.status == TxnStatus::Committed) ++runner_.committed_;
    if (played.status == TxnStatus::Aborted) ++runner_.aborted_;
    if (played.status == TxnStatus::Unknown) ++runner_.unknown_;
    if (!played.reason.empty()) runner_.note_reason(played.reason);
    if (!played.connection_usable) connection_.reset();
    // An unknown transaction may take effect after the next ones of this client, so those belong to
    // another session.
    if (played.status == TxnStatus::Unknown) session_ += clients_;
    // Lost ones count only if no transaction ever committed: servers may be away for a while.
    const bool useless = played.failed || (played.lost && runner_.committed_ == 0);
    failures_ = useless ? failures_ + 1 : 0;
    if (!played.lost) heard_ = Clock::now();
    if (failures_ < kFailuresInARow && !runner_.silent_since(heard_)) return true;
    Error error;
    error.what = fmt::format("{}: transactions keep failing: {}", runner_.database_.description(),
                             played.reason);
    runner_.give_up(std::move(error));
    return false;
  }

  Runner& runner_;
  const RunOptions& options_;
  std::uint32_t number_;
  std::uint32_t clients_;
  std::int64_t session_;  // The first is number_; each unknown transaction begins a new one.
  std::unique_ptr<workload::Client> plan_;
  Player player_;
  workload::Random choices_;
  workload::Chance abort_;
  bool read_only_;
  unsigned failures_ = 0;                       // In a row.
  Clock::time_point heard_ = Clock::now();      // When the database last answered.
  std::unique_ptr<db::Connection> connection_;  // Null: must be opened.
  workload::Program program_;
  Transcript transcript_;
  std::string line_;
};

Runner::Runner(const RunOptions& options, db::Database& database, HistoryFile& file, Feeder* feeder)
    : options_(options),
      database_(database),
      file_(file),
      feeder_(feeder),
      model_(model_of(info(options.workload.workload))) {}

std::int64_t Runner::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - made_).count();
}

bool Runner::over() const {
  if (stop_ || (options_.stop != nullptr && *options_.stop) || file_.failed()) return true;
  return deadline_ && Clock::now() >= *deadline_;
}

bool Runner::take_one() {
  if (over()) return false;
  return options_.txns == 0 || begun_.fetch_add(1) < options_.txns;
}

void Runner::give_up(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  stop_ = true;
}

void Runner::sleep_until(Clock::time_point until) const {
  while (!over()) {
    const Clock::time_point now = Clock::now();
    if (now >= until) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(until - now, kNap));
  }
}

bool Runner::silent_since(Clock::time_point heard) const {
  constexpr std::chrono::milliseconds kLeast(100);
  return !deadline_ && Clock::now() - heard > kPatiences * std::max(options_.patience, kLeast);
}

std::unique_ptr<db::Connection> Runner::connect(std::size_t client, Clock::time_point heard) {
  const std::size_t node = client % database_.node_count();
  bool told = false;
  while (!over()) {
    auto connection = database_.connect(node);
    if (connection.ok()) return *std::move(connection);
    if (!std::exchange(told, true)) note_reason("no connection");
    if (database_.gone()) {
      give_up(std::move(connection).error());
      return nullptr;
    }
    // If nothing was ever committed, the database is most likely not there at all; give up soon.
    const auto patience = std::chrono::seconds(10);
    const bool never = committed_ == 0 && Clock::now() - started_ > patience;
    if (never || silent_since(heard)) {
      give_up(std::move(connection).error());
      return nullptr;
    }
    sleep_until(Clock::now() + std::chrono::milliseconds(100));
  }
  return nullptr;
}

void Runner::note_reason(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++reasons_[reason];
}

void Runner::feed(const std::string& line, const Transcript::Frame& frame, const db::Trace& trace) {
  if (feeder_ == nullptr) return;
  const bool ended = frame.status == TxnStatus::Committed ||
                     (frame.status == TxnStatus::Unknown && database_.features().live_unknown);
  const bool open = ended && frame.commit == kNoTimestamp;
  feeder_->add(line, open ? trace.token : 0);
}

Status Runner::load() {
  if (!info(options_.workload.workload).preloads) return {};
  const auto seat = options_.workload.sessions;
  Player player(model_, options_.workload.workload == WorkloadKind::Bank,
                Numbers(seat, seat + 1, options_.duplicates, options_.workload.seed));
  auto connection = database_.connect(0);
  if (!connection.ok()) return connection.error();
  workload::Random random(options_.workload.seed, kChoiceStream + seat);
  Transcript transcript;
  std::string line;
  for (std::uint32_t first = 0; first < options_.workload.keys; first += kLoadBatch) {
    workload::Program program;
    const auto end = std::min<std::uint64_t>(first + kLoadBatch, options_.workload.keys);
    for (std::uint32_t key = first; key < end; ++key) {
      program.push_back({.kind = model_ == db::Model::Lists ? workload::StepKind::Append
                                                            : workload::StepKind::Write,
                         .key = key,
                         .low = static_cast<std::int32_t>(random.below(100)),
                         .high = static_cast<std::int32_t>(random.below(100))});
    }
    Transcript::Frame frame{.session_name = "load", .invoked = now()};
    const Played played = player.play(
        **connection, {.steps = program}, transcript, [] {}, nullptr);
    if (played.status != TxnStatus::Committed) {
      Error error;
      error.what =
          fmt::format("{}: cannot load the keys: {}", database_.description(), played.reason);
      return error;
    }
    frame.completed = now();
    if (options_.evidence) {
      frame.start = played.trace.start;
      frame.commit = played.trace.commit;
    }
    transcript.format(frame, line);
    if (!options_.record) continue;
    const std::uint64_t number = file_.add(seat, line);
    feed(line, frame, played.trace);
    if (played.trace.token != 0 && options_.evidence) {
      open_lines_.push_back({number, played.trace.token, false, {}});
    }
  }
  return {};
}

Status Runner::run() {
  started_ = Clock::now();
  if (options_.seconds > 0) {
    deadline_ = started_ + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(std::min(options_.seconds, 1e9)));
  }
  std::vector<std::thread> threads;
  running_ = options_.workload.sessions;
  for (std::uint32_t client = 0; client < options_.workload.sessions; ++client) {
    threads.emplace_back([this, client] {
      Worker(*this, client).run();
      --running_;
    });
  }
  Clock::time_point shown = started_;
  while (running_ > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!options_.progress || Clock::now() - shown < kProgressPause) continue;
    shown = Clock::now();
    options_.progress(progress());
  }
  for (std::thread& thread : threads) thread.join();
  const std::lock_guard lock(mutex_);
  return error_ ? Status(*error_) : Status();
}

RunProgress Runner::progress() const {
  return {.seconds = std::chrono::duration<double>(Clock::now() - started_).count(),
          .committed = committed_,
          .aborted = aborted_,
          .unknown = unknown_};
}

std::vector<std::pair<std::string, std::uint64_t>> Runner::reasons() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::uint64_t>> sorted(reasons_.begin(), reasons_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

}  // namespace ouro::running
