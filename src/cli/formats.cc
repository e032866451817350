// ouro formats: lists the formats that can be read and written.

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {

void add_formats(CLI::App& root, Commands& commands) {
  CLI::App* app = root.add_subcommand("formats", "list the formats of histories");
  const auto run = [] {
    std::string out;
    for (const FormatInfo& format : formats()) {
      out += fmt::format(
          "{:<15} {:<10} {:<10}  {}\n", format.name, format.writable ? "read/write" : "read",
          format.extension.empty() ? "folder" : format.extension, format.description);
    }
    print(out);
    return 0;
  };
  commands.push_back({app, run,
                      "Lists every format by the name that --format, --from and --to take, whether "
                      "it can be written, and its usual extension. Reading detects the format by "
                      "content; text may be compressed with gzip (.gz) or zstd (.zst)."});
}

}  // namespace ouro::cli
