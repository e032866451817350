// The check of one shard: takes the messages of its partition one by one, and can be saved and go
// on elsewhere.
//
// What it finds follows from the messages and from nothing else. So whoever takes over from a
// checkpoint and reads the same messages again finds the same, with the same numbers. Time passes
// by messages, too: it is the time up to which all partitions of the topic of transactions were
// read. So while a projector is away, nothing becomes final that its transactions could explain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/message.h"
#include "ouro/result.h"
#include "ouro/shard.h"
#include "ouro/stream.h"

namespace ouro::kafka {

// An event as text, which has no number among those of all shards yet.
struct ToldEvent {
  std::uint64_t number = 0;  // Of the events of its shard, from 1 without gaps.
  std::string line;
};

// The records of the topic of states that belong to one shard: the latest one of each name.
using StateRecords = std::map<std::string, std::string>;
// Takes a record; nothing as its content means that it is not needed any more.
using RecordSink =
    std::function<Status(const std::string& name, std::optional<std::string_view> content)>;

class ShardCheck {
 public:
  struct Options {
    ShardId shard;
    ShardCounts counts;
    StreamOptions stream;          // Its folder is ignored.
    std::filesystem::path folder;  // For what the check keeps on disk; it must be empty.
  };
  // A new check, if there are no records; else the one that was saved.
  [[nodiscard]] static Result<ShardCheck> open(Options options, const StateRecords& records);

  // Where to go on in the partition: the offset that save() was given; zero: at its beginning.
  [[nodiscard]] std::int64_t begin() const { return manifest_.offset; }
  // Takes the next message. The error is one that is not for this shard.
  [[nodiscard]] Status take(std::string_view message);
  // Up to when all partitions were read; zero: some was not read at all.
  [[nodiscard]] StreamTime clock() const;
  // What was found since the last call, as far as this shard decides about it.
  [[nodiscard]] std::vector<ToldEvent> poll();
  // What was found so far. Its offset and lag are left to the caller.
  [[nodiscard]] ShardTally tally() const;
  void limit(std::size_t memory) { stream_.limit(memory); }

  // Saves the check, which has taken all before `offset`, as records. The last one is the manifest;
  // the records are to be written all or none. REQUIRES: poll() was called since the last message.
  [[nodiscard]] Status save(std::int64_t offset, const RecordSink& sink);

 private:
  ShardCheck(Options options, Stream stream, TopicManifest manifest);
  // Input is missing. If all shards get to know of that, only the first one tells it.
  enum class Known : std::uint8_t { ByAll, Here };
  void miss(const std::string& why, Known known);
  void set(const ShardPart::Clock& clock);
  [[nodiscard]] std::uint32_t partition() const;
  [[nodiscard]] Status save_file(const TopicManifest::File& file, const RecordSink& sink) const;

  Options options_;
  Stream stream_;
  TopicManifest manifest_;    // As it was saved last; what it counts goes on.
  bool tells_doubt_ = false;  // The doubt of the manifest is to become an event.
};

}  // namespace ouro::kafka
