// The files of a folder with shards.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ouro/shard.h"

namespace ouro::shard {

// FOLDER/keys-2.jsonl, FOLDER/keys-2.verdict
[[nodiscard]] std::string shard_path(const std::string& folder, ShardId shard);
[[nodiscard]] std::string verdict_path(const std::string& folder, ShardId shard);

// Replaces the file at `path`.
[[nodiscard]] Status write_file(const std::string& path, std::string text);
// Makes `folder` if it does not exist. The error is also a folder that is not empty.
[[nodiscard]] Status make_folder(const std::string& folder);
// The shard of that name; nothing if the plan has none.
[[nodiscard]] std::optional<ShardId> find_shard(const ShardPlan& plan, std::string_view name);

// A history that is there as one piece.
[[nodiscard]] NextPiece one_piece(History history);

}  // namespace ouro::shard
