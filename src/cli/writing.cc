#include "cli/writing.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

// Whether `path` is no regular file but a device, a pipe or the name of an open descriptor.
bool is_device(std::string_view path) {
  std::error_code ignored;
  return path == "-" || path == "/dev/stdout" || path == "/dev/stderr" ||
         path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") ||
         std::filesystem::is_other(path, ignored);
}

// The writable format that the extension of `path` stands for, or native for a device. If there is
// none, or more than one, complains and returns nothing.
std::optional<Format> format_of_path(std::string_view path) {
  const bool device = is_device(path);
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  std::string names;
  std::optional<Format> found;
  std::size_t longest = 0;
  for (const FormatInfo& format : formats()) {
    if (!format.writable || format.extension.empty() || !path.ends_with(format.extension)) continue;
    if (format.extension.size() < longest) continue;
    if (format.extension.size() > longest) names.clear();
    longest = format.extension.size();
    found = format.format;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  if (found && names.find(',') == std::string::npos) return found;
  if (!found && device) return Format::Native;
  if (found) {
    fail(fmt::format("{}: several formats have this extension; choose one of {}", path, names));
    return std::nullopt;
  }
  for (const FormatInfo& format : formats()) {
    if (format.writable) names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  fail(fmt::format("{}: no format has this extension; choose one of {}", path, names));
  return std::nullopt;
}

// Ends the process as Ctrl-C would have. What is half written goes with it.
[[noreturn]] void die_of_interrupt() {
  ::raise(SIGINT);  // The second one kills.
  leave(kInternalError);
}

}  // namespace

int write_out(const History& history, const std::string& path, const std::string& format) {
  const auto chosen = format.empty() ? format_of_path(path) : parse_format(format);
  if (!chosen) return kBadInput;
  std::optional<Result<WriteReport>> report;
  catch_interrupt();
  const auto stop = [] { return interrupted().load(); };
  if (!watched("writing " + (path == "-" ? "standard output" : path), stop,
               [&] { report = write_history(history, path, *chosen); })) {
    die_of_interrupt();
  }
  if (!report->ok()) {
    if (path == "-" && output_closed()) return kHolds;
    return fail(report->error());
  }
  for (const std::string& warning : (*report)->warnings) {
    print_error(fmt::format("ouro: warning: {}\n", warning));
  }
  return kHolds;
}

}  // namespace ouro::cli
