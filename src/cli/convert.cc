// ouro convert: from one format to another.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/writing.h"

namespace ouro::cli {
namespace {

struct ConvertFlags {
  std::string in, out, from, to;
  unsigned threads = 0;
};

int run_convert(const ConvertFlags& flags) {
  const auto from = parse_format(flags.from);
  if (!from || (!flags.to.empty() && !parse_format(flags.to))) return kBadInput;
  std::error_code ignored;
  if (flags.out != "-" && std::filesystem::equivalent(flags.in, flags.out, ignored)) {
    return fail(
        fmt::format("{}: input and output are the same file; write to another one", flags.out));
  }
  std::optional<Result<History>> history;
  watched("reading " + display_name(flags.in),
          [&] { history = read_history(flags.in, {.format = *from, .threads = flags.threads}); });
  if (!history->ok()) return fail(history->error());
  return write_out(**history, flags.out, flags.to);
}

}  // namespace

void add_convert(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* app = root.add_subcommand("convert", "translate a history into another format");
  app->add_option("IN", flags->in, "history to read; - is standard input")
      ->required()
      ->type_name("FILE");
  app->add_option("OUT", flags->out, "file to write; - is standard output")
      ->required()
      ->type_name("FILE");
  app->add_option("--from", flags->from, "format of IN [detected]")->type_name("FORMAT");
  app->add_option("--to", flags->to, "format of OUT [by its extension]")->type_name("FORMAT");
  app->add_option("--threads", flags->threads, "threads to use [one per core]")
      ->type_name("N")
      ->check(whole_number());
  commands.push_back({app, [flags] { return run_convert(*flags); },
                      "Reads IN and writes the same history to OUT. What the format of OUT cannot "
                      "express is warned about; if the result would mean something else, nothing "
                      "is written. OUT is compressed if it ends in .gz or .zst."});
}

}  // namespace ouro::cli
