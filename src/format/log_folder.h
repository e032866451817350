// Histories that are folders with a log file per session, such as T15.log or J24.log.zst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history_builder.h"
#include "ouro/result.h"

namespace ouro {

struct LogFile {
  std::string path;
  std::string name;                     // Without .log, .gz and .zst: "T15".
  std::optional<std::uint64_t> number;  // What follows the first letter of `name`: 15.
};

// The files of `folder` whose names end in .log, .log.gz or .log.zst, ordered by number, then by
// name. Fails if the folder cannot be read, or if two files belong to one session.
[[nodiscard]] Result<std::vector<LogFile>> list_logs(const std::string& folder);

// Whether `folder` has a log whose name is `letter` and a number.
[[nodiscard]] bool has_log(const std::string& folder, char letter);

// The session of `log` in `builder`. Its name is the number of the log, or the name if it has none.
SessionId session_of(const LogFile& log, HistoryBuilder& builder);

}  // namespace ouro
