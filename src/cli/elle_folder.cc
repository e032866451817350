#include "cli/elle_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kNotFound = 127;  // As in shells.

// Runs `words`, the first of which is looked for on the PATH, and ends it after `patience`. Returns
// why it did not succeed; "" if it did.
std::string run_within(std::vector<std::string> words, std::chrono::milliseconds patience) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return fmt::format("'{}' cannot be started: {}", words[0], std::strerror(errno));
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    ::_exit(kNotFound);
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return fmt::format("'{}' took more than {} ms (--plot-timeout)", words[0], patience.count());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kNotFound) return fmt::format("'{}' is not installed", words[0]);
  return code == 0 ? "" : fmt::format("'{}' failed", words[0]);
}

// Draws the graph of a file; returns why not, or "".
std::string draw(const ElleFolder& folder, const fs::path& dot, std::size_t bytes) {
  if (folder.plot_format == "dot") return {};
  if (bytes > folder.max_plot_bytes) {
    return fmt::format("its graph has {} bytes, more than --max-plot-bytes allows", bytes);
  }
  fs::path plot = dot;
  plot.replace_extension(folder.plot_format);
  return run_within({"dot", "-T" + folder.plot_format, "-o", plot.string(), dot.string()},
                    std::chrono::milliseconds(folder.plot_timeout_ms));
}

}  // namespace

int write_elle_folder(const ElleFolder& folder, const History& history,
                      std::span<const Explanation> explanations) {
  if (folder.directory.empty()) return kHolds;
  std::string not_drawn;
  for (const ElleFile& file : elle_files(history, explanations)) {
    const fs::path path = fs::path(folder.directory) / file.name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return fail(fmt::format("{}: cannot make this folder: {}", path.parent_path().string(),
                              error.message()));
    }
    if (const auto written = write_file(path.string(), file.text); !written.ok()) {
      return fail(written.error());
    }
    if (path.extension() != ".dot") continue;
    const std::string why = draw(folder, path, file.text.size());
    if (!why.empty() && not_drawn.empty()) not_drawn = path.string() + " is not drawn: " + why;
  }
  if (!not_drawn.empty()) print_error(fmt::format("ouro: note: {}\n", not_drawn));
  return kHolds;
}

}  // namespace ouro::cli
