// split(): writes the projections of a history to the files of a folder.

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "check/left_out.h"
#include "format/output.h"
#include "ouro/pieces.h"
#include "ouro/shard.h"
#include "shard/folder.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;

// The file of one shard, piece by piece.
class ShardWriter {
 public:
  ShardWriter(ShardId id, std::unique_ptr<Output> output)
      : file_{.id = id}, output_(std::move(output)) {}

  Status add(const History& piece) {
    std::string text;
    if (auto printed = print_history(piece, Format::Native, text); !printed.ok()) {
      return std::move(printed).error();
    }
    // The first line is about the whole history, and the same for all pieces.
    const std::size_t from = begun_ ? text.find('\n') + 1 : 0;
    begun_ = true;
    output_->buffer().append(text, from);
    file_.txns += piece.txn_count();
    file_.ops += piece.op_count();
    return output_->drain();
  }
  // Without it there will be no file.
  Status finish() { return output_->finish(); }
  [[nodiscard]] const ShardFile& file() const { return file_; }

 private:
  ShardFile file_;
  std::unique_ptr<Output> output_;
  bool begun_ = false;
};

bool is_needed(const Projector& projector, const ShardFile& file) {
  if (file.id.kind == ShardKind::Rows && !projector.has_predicate_reads()) return false;
  if (file.id.kind == ShardKind::Clocks && !projector.has_clocks()) return false;
  return true;
}

}  // namespace

Status shard::make_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  Error error;
  error.file = folder;
  if (problem) {
    error.what = "the folder cannot be made: " + problem.message();
    return error;
  }
  if (!fs::is_empty(folder, problem) || problem) {
    error.what = "the folder is not empty; name a new one";
    return error;
  }
  return {};
}

Result<NextPiece> pieces_of(const std::string& path, const ReadOptions& read) {
  const bool native = read.format == Format::Detect || read.format == Format::Native ||
                      read.format == Format::Chronos;
  if (native && path != "-") {
    auto opened = HistoryPieces::open(path);
    if (opened.ok()) {
      const auto pieces = std::make_shared<HistoryPieces>(*std::move(opened));
      return NextPiece([pieces] { return pieces->next(); });
    }
  }
  auto history = read_history(path, read);
  if (!history.ok()) return std::move(history).error();
  return shard::one_piece(*std::move(history));
}

Result<ShardPlan> split(const std::string& path, const std::string& folder,
                        const SplitOptions& options) {
  if (auto status = shard::make_folder(folder); !status.ok()) return std::move(status).error();
  const auto next = pieces_of(path, options.read);
  if (!next.ok()) return next.error();
  Projector projector({options.keys, options.sessions}, options.before.value_or(0));
  std::vector<ShardWriter> writers;
  for (const ShardId shard : projector.shards()) {
    auto output = open_output(shard::shard_path(folder, shard));
    if (!output.ok()) return std::move(output).error();
    writers.emplace_back(shard, *std::move(output));
  }
  HistoryIdentity identity;
  Coverage coverage;
  bool stamped = false;
  for (;;) {
    const auto piece = (*next)();
    if (!piece.ok()) return piece.error();
    if (*piece == nullptr) break;
    identity.add(**piece);
    coverage.add(**piece);
    stamped |= (*piece)->has_timestamps();
    const auto parts = projector.add(**piece);
    if (!parts.ok()) return parts.error();
    for (std::size_t i = 0; i < writers.size(); ++i) {
      if (auto status = writers[i].add((*parts)[i]); !status.ok()) return std::move(status).error();
    }
  }
  if (!stamped && !options.before) {
    Error error;
    error.file = path;
    error.what = identity.txns() == 0
                     ? "there are no transactions, so there is nothing to split"
                     : "the history has no timestamps, and only by these a check falls apart";
    return error;
  }
  ShardPlan plan{.counts = {options.keys, options.sessions},
                 .history = path,
                 .txns = identity.txns(),
                 .ops = identity.ops(),
                 .fingerprint = identity.fingerprint(),
                 .left_out = coverage.counted(Level::StrictSerializable, Evidence::Timestamps),
                 .shards = {}};
  if (options.before) {
    plan.part = {*options.before, projector.has_predicate_reads(), projector.has_clocks(), stamped};
  }
  for (ShardWriter& writer : writers) {
    // Another part may have what this one lacks, and then needs all of the shard.
    const bool needed = plan.part || is_needed(projector, writer.file());
    if (!needed || writer.file().txns == 0) continue;
    if (auto status = writer.finish(); !status.ok()) return std::move(status).error();
    plan.shards.push_back(writer.file());
  }
  if (auto status = write_shard_plan(plan, folder); !status.ok()) return std::move(status).error();
  return plan;
}

}  // namespace ouro
