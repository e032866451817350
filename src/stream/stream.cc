#include "ouro/stream.h"

#include <fmt/format.h>

#include <utility>

#include "history/real_time.h"
#include "stream/checker.h"

namespace ouro {

struct Stream::State {
  explicit State(const StreamOptions& options) : checker(options) {}
  stream::Checker checker;
};

namespace {

Status check_options(const StreamOptions& options) {
  Error error;
  if (!decidable(options.level, Evidence::Timestamps)) {
    error.what = fmt::format(
        "timestamps cannot decide {}; use a level of snapshots (si …) or a serial one (ser …)",
        info(options.level).name);
    return error;
  }
  if (options.memory > 0 && options.folder.empty()) {
    error.what = "a stream with a memory limit needs a folder for what does not fit";
    return error;
  }
  return check_clock_drift(options.clock_drift);
}

}  // namespace

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<Stream> Stream::open(const StreamOptions& options) {
  if (Status status = check_options(options); !status.ok()) return status.error();
  auto state = std::make_unique<State>(options);
  if (Status status = state->checker.open(); !status.ok()) return status.error();
  return Stream(std::move(state));
}

Result<Stream> Stream::restore(const StreamOptions& options, const std::string& file) {
  if (Status status = check_options(options); !status.ok()) return status.error();
  auto state = std::make_unique<State>(options);
  if (Status status = state->checker.restore(file); !status.ok()) return status.error();
  return Stream(std::move(state));
}

Status Stream::append(std::shared_ptr<const History> batch, StreamTime now) {
  return state_->checker.append(std::move(batch), now);
}
void Stream::advance(StreamTime now) { state_->checker.advance(now); }
std::vector<StreamEvent> Stream::poll() { return state_->checker.poll(); }
StreamSummary Stream::summary() const { return state_->checker.summary(); }
StreamSummary Stream::finish() {
  state_->checker.finish();
  return state_->checker.summary();
}
void Stream::limit(std::size_t memory) { state_->checker.limit(memory); }

void Stream::number_events_after(std::uint64_t number) {
  state_->checker.number_events_after(number);
}
bool Stream::sweeping() const { return state_->checker.sweeping(); }
Status Stream::save(const std::string& file) { return state_->checker.save(file); }
Status Stream::begin_save(const std::string& file) { return state_->checker.begin_save(file); }
std::optional<Status> Stream::saved() { return state_->checker.saved(); }

}  // namespace ouro
