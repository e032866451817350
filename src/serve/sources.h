// The streams of a service: one for each source of transactions.
//
// Keys, sessions and timestamps of different sources have nothing to do with each other, so each
// source has a stream of its own. A source has a name, which clients choose, and a number, which is
// never used again. Number 0 is the source of batches that name none; its files are where those of
// a service without sources are. Those of source N are in the folder sources/N of the state folder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/result.h"
#include "ouro/stream.h"
#include "serve/doubt.h"
#include "serve/manifest.h"

namespace ouro::serving {

struct SourceStream {
  std::uint32_t number = 0;
  std::string name;  // Empty: batches that name no source.
  Stream stream;
  std::uint64_t given = 0;  // How many transactions the stream was given.
  bool changed = false;     // Since the last checkpoint of this stream was begun.
  bool saving = false;      // A checkpoint is being saved in the background.
  std::uint64_t saving_given = 0;      // How many transactions that one includes.
  std::optional<std::uint64_t> saved;  // How many the last complete one does; nothing: none.
  StreamTime fed{0};        // When its last batch came.
  std::size_t memory = 0;   // Its share of the memory.
  Doubt doubt = {};         // The last one, but with the widest scope so far, and its reason.

  [[nodiscard]] bool judged() const { return doubt.scope != Doubt::Scope::Everything; }
  // Takes a doubt; false if it is known already.
  bool add(const Doubt& more);
  // The events since the last call, as far as they can be judged.
  [[nodiscard]] std::vector<StreamEvent> poll();
  // What was found, as far as it can be judged.
  [[nodiscard]] StreamSummary summary() const;
};

// Events of one source.
struct SourceEvents {
  std::uint32_t number = 0;
  std::string name;
  std::vector<StreamEvent> events;
  std::vector<Doubt> doubts = {};  // They came after these events.
};

class Sources {
 public:
  static constexpr std::size_t kMost = 256;          // Sources at a time.
  static constexpr std::size_t kMaxNameBytes = 200;  // Of a source.

  // `folder` is the state folder; empty: nothing survives the process.
  Sources(const StreamOptions& options, std::string folder);

  // Opens or restores source 0 and those that the manifest names, unless they were forgotten. Call
  // it once, first. The error is a checkpoint that is missing or damaged; with `lost`, such sources
  // begin anew, and the error is added to that.
  [[nodiscard]] Status open(const Manifest& manifest = {},
                            std::vector<std::string>* lost = nullptr);
  // Adds a new source. The error is one too many, or a folder that cannot be used.
  [[nodiscard]] Result<SourceStream*> add(const std::string& name);
  // Adds a source that an earlier process had; null if it was forgotten.
  [[nodiscard]] Result<SourceStream*> restore(std::uint32_t number, const std::string& name);
  [[nodiscard]] SourceStream* find(const std::string& name);
  [[nodiscard]] SourceStream* find(std::uint32_t number);
  // Forgets a source and deletes its files. Once it has returned, that survives a crash, if
  // remember_by() was called.
  [[nodiscard]] Status forget(std::uint32_t number);
  [[nodiscard]] bool forgotten(std::uint32_t number) const { return forgotten_.contains(number); }
  [[nodiscard]] const std::set<std::uint32_t>& all_forgotten() const { return forgotten_; }
  // Called to save which sources there are and were, when one is forgotten.
  void remember_by(std::function<Status()> remember) { remember_ = std::move(remember); }

  [[nodiscard]] std::map<std::uint32_t, SourceStream>& all() { return streams_; }
  [[nodiscard]] const std::map<std::uint32_t, SourceStream>& all() const { return streams_; }
  // Divides the memory again, if sources went quiet or came back. Call it now and then.
  void share_memory(StreamTime now);
  // Where the checkpoint of a source is.
  [[nodiscard]] std::string checkpoint_file(std::uint32_t number) const;
  // The events of all sources since the last call.
  [[nodiscard]] std::vector<SourceEvents> poll();
  // What all streams together found.
  [[nodiscard]] StreamSummary summary() const;

 private:
  [[nodiscard]] std::string folder_of(std::uint32_t number) const;
  [[nodiscard]] StreamOptions options_of(std::uint32_t number) const;
  [[nodiscard]] Result<SourceStream*> take(std::uint32_t number, const std::string& name,
                                           bool restored);
  // The stream of a source that an earlier process had.
  [[nodiscard]] Result<Stream> restored_stream(std::uint32_t number, const StreamOptions& options);
  // Divides the memory evenly among the sources of which batches come; the others have little.
  void share_memory();

  const StreamOptions options_;
  const std::string folder_;
  std::map<std::uint32_t, SourceStream> streams_;
  std::set<std::uint32_t> forgotten_;
  Manifest manifest_;                         // As it was at the start.
  std::vector<std::string>* lost_ = nullptr;  // See open().
  std::function<Status()> remember_;
  std::uint32_t next_ = 1;  // The number of the next new source.
  StreamTime now_{0};
};

// Whether clients may give a source this name: at most kMaxNameBytes of UTF-8 without control
// characters, and not "default", by which addresses name the source of batches that name none.
// Empty: no name.
[[nodiscard]] bool is_source_name(std::string_view name);
inline constexpr std::string_view kDefaultSource = "default";
inline constexpr std::string_view kNoSourceName =
    "must be up to 200 bytes of UTF-8 without control characters, and not \"default\"";

// How many transactions a stream was given.
[[nodiscard]] std::uint64_t given_to(const Stream& stream);
// Adds the counts of one stream to those of others.
void add(StreamSummary& sum, const StreamSummary& more);
// What the counts of a stream, or of several, come to. `doubt`: of what could not be judged.
[[nodiscard]] Outcome outcome_of(const StreamSummary& summary, Doubt::Scope doubt);

}  // namespace ouro::serving
