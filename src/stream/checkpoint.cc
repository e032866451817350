// Checkpoints: writes all that the stream knows to one file, and reads it back. Epochs and runs on
// disk are not copied; the checkpoint mentions them, so they must stay as long as it does.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "stream/checker.h"
#include "stream/codec.h"

namespace ouro::stream {
namespace {

constexpr std::string_view kMagic = "ouro stream 9\n";
constexpr std::string_view kFormerMagic = "ouro stream 8\n";  // It can be read, too.

// The counts as the former version saved them.
struct FormerSummary {
  std::uint64_t txns, left_out, operations, stragglers, lost_stragglers, flips, flipped_txns;
  std::array<std::uint64_t, 4> flipped;
  std::array<std::uint64_t, 5> flip_waits;
  std::array<std::uint64_t, kAnomalyKindCount> counts;
  std::uint64_t provisional, window_txns, keys, memory, disk, spilled, recalled, keys_left,
      keys_back;
};

StreamSummary summary_of(const FormerSummary& former) {
  StreamSummary summary;
  summary.txns = former.txns;
  summary.left_out = former.left_out;
  summary.operations = former.operations;
  summary.stragglers = former.stragglers;
  summary.lost_stragglers = former.lost_stragglers;
  summary.flips = former.flips;
  summary.flipped_txns = former.flipped_txns;
  summary.flipped = former.flipped;
  summary.flip_waits = former.flip_waits;
  summary.counts = former.counts;
  summary.provisional = former.provisional;
  // Of which kind these are was not saved. Nearly all are reads.
  summary.provisional_counts[static_cast<std::size_t>(AnomalyKind::SnapshotMismatch)] =
      former.provisional;
  return summary;
}
constexpr const char* kNew = ".new";  // Ends the name of a checkpoint that is being written.

Error failure(const std::string& file, std::string what) {
  Error error;
  error.file = file;
  error.what = std::move(what);
  return error;
}

// Writes to a file as it goes; the checksum of all comes last.
class FileEncoder : public Encoder {
 public:
  explicit FileEncoder(const std::string& file) : file_(file) {
    // If another process is still writing that file, it goes on with one that has no name.
    ::unlink(file.c_str());
    fd_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0) failed_ = errno;
  }
  ~FileEncoder() override {
    if (fd_ >= 0) ::close(fd_);
  }
  FileEncoder(const FileEncoder&) = delete;
  FileEncoder& operator=(const FileEncoder&) = delete;

  Status finish() {
    full();
    const std::uint64_t sum = checksum_.value();
    write_all({reinterpret_cast<const char*>(&sum), sizeof(sum)});
    if (failed_ == 0 && ::fsync(fd_) != 0) failed_ = errno;
    if (failed_ == 0) return {};
    return failure(file_, fmt::format("cannot be written: {}", std::strerror(failed_)));
  }

 private:
  void full() override {
    checksum_.add(buffer_);
    write_all(buffer_);
    buffer_.clear();
  }
  void write_all(std::string_view bytes) {
    while (failed_ == 0 && !bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) failed_ = errno;
      if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::string file_;
  int fd_ = -1;
  int failed_ = 0;
  Checksum checksum_;
};

// The new name of a file survives a crash only if its folder was synced.
void sync_folder(const std::string& file) {
  const auto parent = std::filesystem::path(file).parent_path();
  const int fd = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

template <class T>
void save_sequence(Sequence<T>& all, Encoder& out) {
  out.number<std::uint64_t>(all.size());
  for (auto c = all.begin(); c != all.end(); c = all.next(c)) out.number(all.at(c));
}

template <class T>
void restore_sequence(Sequence<T>& all, Decoder& in, Pool& pool) {
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    all.insert(all.end(), in.number<T>(), pool);
  }
}

void save_event(const StreamEvent& event, Encoder& out) {
  out.number(event.number);
  out.number(event.what);
  out.number(event.withdraws);
  out.number(event.kind);
  out.number(event.arrived.count());
  out.number(event.reported.count());
  encode(*event.history, out);
  out.array(std::span<const std::uint64_t>(event.arrivals));
  out.number(event.verdict.outcome);
  out.number<std::uint64_t>(event.verdict.anomalies.size());
  for (const Anomaly& anomaly : event.verdict.anomalies) {
    out.array(std::span<const TxnId>(anomaly.txns));
    out.array(std::span<const OpId>(anomaly.ops));
    out.text(anomaly.expected);
  }
}

StreamEvent restore_event(Decoder& in, Level level) {
  StreamEvent event;
  event.number = in.number<std::uint64_t>();
  event.what = in.number<StreamEvent::What>();
  event.withdraws = in.number<std::uint64_t>();
  event.kind = in.number<AnomalyKind>();
  event.arrived = StreamTime(in.number<StreamTime::rep>());
  event.reported = StreamTime(in.number<StreamTime::rep>());
  event.history = decode_history(in);
  event.arrivals = in.array<std::uint64_t>();
  event.verdict.level = level;
  event.verdict.evidence = Evidence::Timestamps;
  event.verdict.outcome = in.number<Outcome>();
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    Anomaly anomaly{.kind = event.kind, .txns = {}, .ops = {}, .edges = {}};
    anomaly.txns = in.array<TxnId>();
    anomaly.ops = in.array<OpId>();
    anomaly.expected = in.text();
    event.verdict.anomalies.push_back(std::move(anomaly));
    ++event.verdict.counts[static_cast<std::size_t>(event.kind)];
  }
  return event;
}

template <class Map>
void save_map(const Map& map, Encoder& out) {
  out.number<std::uint64_t>(map.size());
  for (const auto& [key, value] : map) {
    out.number(key);
    out.number(value);
  }
}

template <class Map>
void restore_map(Map& map, Decoder& in) {
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto key = in.number<typename Map::key_type>();
    map.emplace(key, in.number<typename Map::mapped_type>());
  }
}

}  // namespace

Status Checker::save(const std::string& file) {
  if (Status status = begin_checkpoint(file); !status.ok()) return status;
  const Status written = write_checkpoint();
  return written.ok() ? end_checkpoint() : written;
}

Status Checker::begin_save(const std::string& file) {
  if (Status status = begin_checkpoint(file); !status.ok()) return status;
  if (!twin_.begin([this] { return write_checkpoint(); })) written_ = write_checkpoint();
  return {};
}

std::optional<Status> Checker::saved() {
  if (twin_.at_work()) written_ = twin_.ended();
  if (!written_) return std::nullopt;
  const Status written = *std::exchange(written_, std::nullopt);
  return written.ok() ? end_checkpoint() : written;
}

Status Checker::begin_checkpoint(const std::string& file) {
  twin_.stop();
  written_.reset();
  if (Status status = archive_.finish_sweep(now_); !status.ok()) return status;
  if (archive_.is_open()) sync_folder(options_.folder + "/.");
  archive_.begin_checkpoint();
  cold_.begin_checkpoint();
  predicates_.archive().begin_checkpoint();
  checkpoint_ = file;
  return {};
}

Status Checker::write_checkpoint() {
  FileEncoder out(checkpoint_ + kNew);
  out.text(kMagic);
  save_options(out);
  save_books(out);
  save_window(out);
  save_keys(out);
  real_time_.save(out);
  commit_times_.save(out);
  archive_.save(out);
  cold_.save(out);
  predicates_.save(out);
  if (numbered_.bytes() > 0) numbered_.save(out);
  return out.finish();
}

Status Checker::end_checkpoint() {
  std::error_code failed;
  std::filesystem::rename(checkpoint_ + kNew, checkpoint_, failed);
  if (failed) return failure(checkpoint_, "cannot be replaced: " + failed.message());
  sync_folder(checkpoint_);
  archive_.end_checkpoint();
  cold_.end_checkpoint();
  predicates_.archive().end_checkpoint();
  return {};
}

Status Checker::restore(const std::string& file) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  std::string bytes(failed ? 0 : size, '\0');
  std::ifstream stream(file, std::ios::binary);
  if (failed || !stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    return failure(file, "cannot be read");
  }
  const std::string_view content =
      std::string_view(bytes).substr(0, bytes.size() - std::min<std::size_t>(8, bytes.size()));
  Checksum checksum;
  checksum.add(content);
  std::uint64_t sum = 0;
  if (bytes.size() >= 8) std::memcpy(&sum, bytes.data() + content.size(), 8);
  if (bytes.size() < 8 || sum != checksum.value()) {
    return failure(file, "is no whole checkpoint of a stream");
  }
  Decoder in(content);
  const std::string magic = in.text();
  const bool former = magic == kFormerMagic;
  if (magic != kMagic && !former) {
    return failure(file, "is a checkpoint of another version of ouro");
  }
  if (!restore_options(in)) {
    return failure(file, "is of a stream with other options; use the same ones, or another file");
  }
  restore_books(in, former);
  restore_window(in);
  restore_keys(in, former);
  real_time_.restore(in);
  commit_times_.restore(in);
  if (Status status = archive_.restore(in, options_.folder, options_.memory > 0, !former);
      !status.ok()) {
    return status;
  }
  if (Status status = cold_.restore(in, options_.folder, options_.memory); !status.ok()) {
    return status;
  }
  if (Status status = predicates_.restore(in, options_.folder, options_.memory > 0); !status.ok()) {
    return status;
  }
  if (!in.at_end()) numbered_.restore(in);
  if (!in.at_end()) return failure(file, "is damaged");
  return {};
}

void Checker::save_options(Encoder& out) const {
  out.text(std::string(info(options_.level).name));
  out.number(options_.timeout.count());
  out.number(options_.clock_drift);
  out.number(options_.retention.count());
  out.text(options_.folder);
}

// The retention and the folder may be others: what the former retention dropped is known to be
// dropped, and files are found by their numbers.
bool Checker::restore_options(Decoder& in) const {
  bool same = in.text() == info(options_.level).name;
  same &= in.number<decltype(options_.timeout)::rep>() == options_.timeout.count();
  same &= in.number<std::int64_t>() == options_.clock_drift;
  static_cast<void>(in.number<decltype(options_.retention)::rep>());
  static_cast<void>(in.text());
  return same && in.ok();
}

void Checker::save_books(Encoder& out) {
  initials_.save(out);
  out.number(reader_.has_lists());
  out.number(now_.count());
  out.number<std::uint64_t>(sweep_at_);
  out.number(summary_);
  out.number(event_count_);
  save_map(sessions_, out);
  save_map(reported_, out);
  save_map(accused_, out);
  out.number<std::uint64_t>(hidden_.size());
  for (const auto& [write, hidden] : hidden_) {
    out.number(write.first);
    out.number(write.second);
    out.number(hidden);
  }
  out.number<std::uint64_t>(events_.size());
  for (const StreamEvent& event : events_) save_event(event, out);
}

void Checker::restore_books(Decoder& in, bool former) {
  initials_.restore(in);
  reader_.restore(in.number<bool>());
  now_ = StreamTime(in.number<StreamTime::rep>());
  sweep_at_ = in.number<std::uint64_t>();
  summary_ = former ? summary_of(in.number<FormerSummary>()) : in.number<StreamSummary>();
  event_count_ = in.number<std::uint64_t>();
  restore_map(sessions_, in);
  restore_map(reported_, in);
  if (!former) restore_map(accused_, in);
  const auto hidden = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < hidden && in.ok(); ++i) {
    const auto name = in.number<Name>();
    const auto value = in.number<std::uint64_t>();
    HiddenPair& pair = hidden_[{name, value}] = in.number<HiddenPair>();
    for (Hidden& writer : pair) writer.untimed = writer.untimed && !former;
  }
  const auto events = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < events && in.ok(); ++i) {
    events_.push_back(restore_event(in, options_.level));
  }
}

void Checker::save_window(Encoder& out) {
  out.number(window_.first());
  out.number(window_.next());
  for (Arrival a = window_.first(); a < window_.next(); ++a) out.number(window_.at(a));
  out.number<std::uint64_t>(window_.batches().size());
  for (const Window::Batch& batch : window_.batches()) {
    out.number(batch.first);
    encode(*batch.history, out);
  }
}

void Checker::restore_window(Decoder& in) {
  const auto first = in.number<Arrival>();
  const auto next = in.number<Arrival>();
  if (!in.ok()) return;
  window_.restart(first, next);
  for (Arrival a = first; a < next && in.ok(); ++a) window_.at(a) = in.number<OpenTxn>();
  const auto batches = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < batches && in.ok(); ++i) {
    const auto number = in.number<Arrival>();
    window_.restore_batch(number, decode_history(in));
  }
}

void Checker::save_keys(Encoder& out) {
  out.number<std::uint64_t>(keys_.size());
  const auto save_key = [&](KeyState& key, std::uint64_t) {
    out.number(key.name);
    out.number<KeyKind>(key.kind);
    out.number<bool>(key.has_stub);
    out.number(key.stub);
    out.number<bool>(key.unsure);
    out.number<std::uint32_t>(key.first_epoch);
    out.number(key.last_epoch);
    if (key.kind == KeyKind::List) {
      save_sequence(key.lists, out);
    } else {
      save_sequence(key.registers, out);
    }
    save_sequence(key.reads, out);
  };
  for (std::size_t part = 0; part < KeyTable::kParts; ++part) keys_.for_each(part, save_key);
}

void Checker::restore_keys(Decoder& in, bool former) {
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto name = in.number<Name>();
    KeyState& key = *keys_.find_or_add(name, name.hash());
    key.kind = in.number<KeyKind>();
    key.has_stub = in.number<bool>();
    key.stub = in.number<std::uint64_t>();
    key.unsure = in.number<bool>() && !former;  // It had another meaning.
    key.first_epoch = in.number<std::uint32_t>() & KeyState::kMostEpochs;
    key.last_epoch = in.number<std::uint32_t>();
    if (key.kind == KeyKind::List) {
      restore_sequence(key.lists, in, pool_);
    } else {
      restore_sequence(key.registers, in, pool_);
    }
    restore_sequence(key.reads, in, pool_);
  }
}

}  // namespace ouro::stream
