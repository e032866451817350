#include "format/log_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <tuple>

#include "format/input.h"

namespace ouro {
namespace {

bool remove_suffix(std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.resize(name.size() - suffix.size());
  return true;
}

std::optional<std::uint64_t> number_in(std::string_view name) {
  if (name.size() < 2 || (name.size() > 2 && name[1] == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (code != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// The logs of `folder`, in no particular order. On failure `code` says why.
std::vector<LogFile> find_logs(const std::string& folder, std::error_code& code) {
  std::vector<LogFile> logs;
  std::filesystem::directory_iterator at(folder, code);
  for (; !code && at != std::filesystem::directory_iterator(); at.increment(code)) {
    LogFile log{at->path().string(), at->path().filename().string(), {}};
    remove_suffix(log.name, ".gz") || remove_suffix(log.name, ".zst");
    if (!remove_suffix(log.name, ".log")) continue;
    log.number = number_in(log.name);
    logs.push_back(std::move(log));
  }
  return logs;
}

}  // namespace

Result<std::vector<LogFile>> list_logs(const std::string& folder) {
  std::error_code code;
  std::vector<LogFile> logs = find_logs(folder, code);
  if (code) return error_in(folder, "cannot list the folder: " + code.message());
  std::sort(logs.begin(), logs.end(), [](const LogFile& a, const LogFile& b) {
    return std::tie(a.number, a.name, a.path) < std::tie(b.number, b.name, b.path);
  });
  const auto same =
      std::adjacent_find(logs.begin(), logs.end(), [](const LogFile& a, const LogFile& b) {
        return a.name == b.name || (a.number && a.number == b.number);
      });
  if (same == logs.end()) return logs;
  return error_in((same + 1)->path,
                  fmt::format("is of the same session as {}; remove one of them", same->path));
}

bool has_log(const std::string& folder, char letter) {
  std::error_code code;
  const std::vector<LogFile> logs = find_logs(folder, code);
  return std::any_of(logs.begin(), logs.end(),
                     [letter](const LogFile& log) { return log.number && log.name[0] == letter; });
}

SessionId session_of(const LogFile& log, HistoryBuilder& builder) {
  if (!log.number) return builder.session(log.name);
  return builder.session(builder.unsigned_integer(*log.number));
}

}  // namespace ouro
