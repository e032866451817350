#include "kafka/shard_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>

#include "history/columns.h"
#include "ouro/format.h"
#include "serve/doubt.h"
#include "serve/event_text.h"

namespace ouro::kafka {
namespace {

namespace fs = std::filesystem;
using serving::Doubt;

constexpr const char* kCheckpoint = "checkpoint";
constexpr const char* kSpill = "spill";
constexpr const char* kManifest = "manifest";
// Brokers take messages of up to 1 MB, unless told otherwise.
constexpr std::size_t kChunk = std::size_t{512} << 10;
// Explaining takes about a millisecond; if there are more than these at once, texts are brief.
constexpr std::size_t kManyEvents = 1000;

Error wrong(const ShardCheck::Options& options, std::string what) {
  return Error{.file = name(options.shard), .line = {}, .offset = {}, .what = std::move(what)};
}

StreamOptions stream_options(const ShardCheck::Options& options) {
  StreamOptions stream = options.stream;
  stream.folder = stream.memory == 0 ? std::string() : (options.folder / kSpill).string();
  stream.faults_apart = true;
  return stream;
}

std::size_t chunks_of(std::uint64_t bytes) { return (bytes + kChunk - 1) / kChunk; }

std::string chunk_name(const TopicManifest::File& file, std::size_t chunk) {
  return fmt::format("{}/{}", file.name, chunk);
}

// Writes a file of the manifest to the folder.
Status load_file(const ShardCheck::Options& options, const TopicManifest::File& file,
                 const StateRecords& records) {
  // The name is part of a path.
  if (file.name.find("..") != file.name.npos) return wrong(options, "the state names " + file.name);
  const fs::path path = options.folder / file.name;
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary);
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < chunks_of(file.bytes); ++c) {
    const auto found = records.find(chunk_name(file, c));
    if (found == records.end()) break;
    out << found->second;
    bytes += found->second.size();
  }
  out.close();
  if (out && bytes == file.bytes) return {};
  return wrong(options, out ? fmt::format("the state lacks a part of {}", file.name)
                            : path.string() + " cannot be written");
}

}  // namespace

ShardCheck::ShardCheck(Options options, Stream stream, TopicManifest manifest)
    : options_(std::move(options)), stream_(std::move(stream)), manifest_(std::move(manifest)) {}

Result<ShardCheck> ShardCheck::open(Options options, const StateRecords& records) {
  TopicManifest manifest{.shard = options.shard, .counts = options.counts};
  const auto found = records.find(kManifest);
  if (found == records.end()) {
    auto stream = Stream::open(stream_options(options));
    if (!stream.ok()) return stream.error();
    return ShardCheck(std::move(options), *std::move(stream), std::move(manifest));
  }
  auto parsed = parse_manifest(found->second);
  if (!parsed.ok()) return wrong(options, "the manifest of its state " + parsed.error().what);
  if (parsed->shard != options.shard || parsed->counts.keys != options.counts.keys ||
      parsed->counts.sessions != options.counts.sessions) {
    return wrong(options,
                 fmt::format("the state is that of {} of {} shards of keys and {} of "
                             "sessions",
                             name(parsed->shard), parsed->counts.keys, parsed->counts.sessions));
  }
  manifest = *std::move(parsed);
  for (const TopicManifest::File& file : manifest.files) {
    if (Status loaded = load_file(options, file, records); !loaded) return loaded.error();
  }
  const fs::path checkpoint = options.folder / kCheckpoint;
  auto stream = Stream::restore(stream_options(options), checkpoint.string());
  if (!stream.ok()) return stream.error();
  return ShardCheck(std::move(options), *std::move(stream), std::move(manifest));
}

Status ShardCheck::take(std::string_view message) {
  auto part = parse_part(message);
  if (!part.ok()) return wrong(options_, "a message of its partition " + part.error().what);
  if (part->shard != options_.shard || part->counts.keys != options_.counts.keys ||
      part->counts.sessions != options_.counts.sessions) {
    return wrong(options_,
                 fmt::format("a message is for {} of {} shards of keys and {} of sessions; give "
                             "all processes the same --keys and --sessions",
                             name(part->shard), part->counts.keys, part->counts.sessions));
  }
  if (!part->missing.empty()) miss(part->missing, Known::ByAll);
  if (!part->text.empty()) {
    auto parsed = parse_history(part->text, {.format = Format::Native, .threads = 1}, "message");
    if (!parsed.ok()) return wrong(options_, parsed.error().to_string());
    const auto batch = std::make_shared<const History>(*std::move(parsed));
    const Status taken = stream_.append(batch, clock());
    if (taken) {
      manifest_.operations += part->operations;
      for (const TxnStatus status : columns_of(*batch).txn_status) {
        ++manifest_.txns[static_cast<std::size_t>(status)];
      }
    } else {
      miss(fmt::format("{}: {}", name(options_.shard), taken.error().what), Known::Here);
    }
  }
  if (part->clock) set(*part->clock);
  stream_.advance(clock());
  return {};
}

StreamTime ShardCheck::clock() const {
  const auto& times = manifest_.times_ms;
  if (times.empty()) return StreamTime{0};
  return std::chrono::milliseconds(*std::min_element(times.begin(), times.end()));
}

// A partition that was added later was empty before.
void ShardCheck::set(const ShardPart::Clock& clock) {
  std::vector<std::int64_t>& times = manifest_.times_ms;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(this->clock()).count();
  if (times.size() < clock.partitions) times.resize(clock.partitions, now);
  std::int64_t& time = times[clock.partition];
  time = std::max(time, clock.time_ms);
}

std::uint32_t ShardCheck::partition() const {
  return partition_of(options_.counts, name(options_.shard)).value_or(0);
}

void ShardCheck::miss(const std::string& why, Known known) {
  Doubt& doubt = manifest_.doubt;
  ++doubt.number;
  if (doubt.scope == Doubt::Scope::Reads) return;
  doubt.scope = Doubt::Scope::Reads;
  doubt.reason = serving::reason_of(why);
  doubt.at = clock();
  tells_doubt_ = known == Known::Here || partition() == 0;
}

std::vector<ToldEvent> ShardCheck::poll() {
  std::vector<ToldEvent> told;
  const auto tell = [&](StreamEvent event, const Doubt& doubt, serving::Telling telling) {
    const serving::NumberedEvent numbered{.source_number = partition() + 1,
                                          .source = name(options_.shard),
                                          .event = std::move(event),
                                          .doubt = doubt};
    told.push_back({++manifest_.events, serving::tell(numbered, telling).line});
  };
  std::vector<StreamEvent> events = stream_.poll();
  const auto telling =
      events.size() > kManyEvents ? serving::Telling::Brief : serving::Telling::Full;
  for (StreamEvent& event : events) {
    // A transaction that came too late is told by every shard that it matters to.
    const bool late = event.what == StreamEvent::What::Undecided && event.withdraws == 0;
    const bool fault = event.what == StreamEvent::What::Fault;
    if (fault ? options_.shard.kind != ShardKind::Sessions
              : !late && !decides(options_.shard.kind, event.kind)) {
      continue;
    }
    serving::leave_open(manifest_.doubt.scope, event);
    tell(std::move(event), {}, telling);
  }
  if (std::exchange(tells_doubt_, false)) tell({}, manifest_.doubt, telling);
  return told;
}

ShardTally ShardCheck::tally() const {
  ShardTally tally{.shard = options_.shard,
                   .counts = options_.counts,
                   .level = options_.stream.level,
                   .events = manifest_.events,
                   .operations = manifest_.operations,
                   .txns = manifest_.txns,
                   .doubt = manifest_.doubt,
                   .stream = stream_.summary()};
  serving::leave_open(manifest_.doubt.scope, tally.stream);
  return tally;
}

Status ShardCheck::save(std::int64_t offset, const RecordSink& sink) {
  const fs::path checkpoint = options_.folder / kCheckpoint;
  if (Status saved = stream_.save(checkpoint.string()); !saved) return saved;
  std::vector<TopicManifest::File> files;
  files.push_back({kCheckpoint, fs::file_size(checkpoint)});
  // Files of the spill folder are written once and never changed.
  std::error_code problem;
  if (options_.stream.memory > 0) {
    for (const auto& entry : fs::directory_iterator(options_.folder / kSpill, problem)) {
      if (!entry.is_regular_file()) continue;
      files.push_back(
          {fmt::format("{}/{}", kSpill, entry.path().filename().string()), entry.file_size()});
    }
    std::sort(files.begin() + 1, files.end());
  }
  for (const TopicManifest::File& file : files) {
    const auto& before = manifest_.files;
    const bool known =
        file.name != kCheckpoint && std::find(before.begin(), before.end(), file) != before.end();
    if (known) continue;
    if (Status saved = save_file(file, sink); !saved) return saved;
  }
  for (const TopicManifest::File& file : manifest_.files) {
    const auto now = std::find_if(files.begin(), files.end(),
                                  [&](const auto& each) { return each.name == file.name; });
    const std::size_t kept = now == files.end() ? 0 : chunks_of(now->bytes);
    for (std::size_t c = kept; c < chunks_of(file.bytes); ++c) {
      if (Status gone = sink(chunk_name(file, c), std::nullopt); !gone) return gone;
    }
  }
  manifest_.files = std::move(files);
  manifest_.offset = offset;
  return sink(kManifest, message_of(manifest_));
}

Status ShardCheck::save_file(const TopicManifest::File& file, const RecordSink& sink) const {
  const fs::path path = options_.folder / file.name;
  std::ifstream in(path, std::ios::binary);
  std::string chunk;
  for (std::size_t c = 0; c < chunks_of(file.bytes); ++c) {
    chunk.resize(std::min<std::uint64_t>(kChunk, file.bytes - c * kChunk));
    if (!in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()))) {
      return wrong(options_, path.string() + " cannot be read");
    }
    if (Status taken = sink(chunk_name(file, c), chunk); !taken) return taken;
  }
  return {};
}

}  // namespace ouro::kafka
