// Reads and writes histories: bytes ⇄ History. docs/formats.md describes the formats.
//
// Example (built and run as tests/example_format.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   std::cout << history->txn_count() << " transactions\n";
//
// Thread safety: calls share no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

enum class Format : std::uint8_t {
  Detect,        // Reading only: look at the content.
  Native,        // JSON Lines (docs/formats.md); what all other formats can be converted to.
  NativeBinary,  // .ouro
  JepsenEdn,     // Elle's list-append and rw-register, and the models of Jepsen's other tests.
  JepsenJson,    // The same as JSON, as elle-cli has it.
  DbcopBincode,
  DbcopJson,
  DbcopText,  // dbcop's .hist language.
  DbcopYaml,
  Cobra,      // A folder of T*.log.
  Plume,      // Lines r(key,value,session,txn); PolySI has them, too.
  AwditText,  // Lines r key value, with ---- and ==== between them.
  Viper,      // A folder of J*.log.
  Chronos,    // TimeKiller's JSON.
  // VeriStrong's numeric list appends.
  VeriStrongList,
};

struct FormatInfo {
  Format format = Format::Detect;
  std::string_view name;         // For --format: "native", "dbcop" …
  std::string_view description;  // One line.
  std::string_view extension;    // With its dot; "" for folders.
  bool writable = false;         // Whether write_history() and print_history() know it.
};

// Every format, in the order of the enumeration, without Detect.
[[nodiscard]] std::vector<FormatInfo> formats();
// The format of that name, or null.
[[nodiscard]] const FormatInfo* find_format(std::string_view name);
// What is known of a format. Detect, which formats() and find_format() leave out, is "detect".
[[nodiscard]] const FormatInfo& info(Format format);

struct ReadOptions {
  Format format = Format::Detect;
  unsigned threads = 0;  // Zero: one per core. The result does not depend on it.
  // Of a Jepsen history: what its operations mean (docs/formats.md), one of jepsen_models(). Empty:
  // that is found out. A history of another model than transactions has it as the remark "model".
  std::string model = {};
};
[[nodiscard]] std::vector<std::string_view> jepsen_models();

// Reads the history at `path`: a file (also .gz or .zst), a folder where the format is one, or
// "-" for standard input. All or nothing: on any doubt about the input it returns an error that
// names the place and what to do. Cost: linear in the input.
[[nodiscard]] Result<History> read_history(const std::string& path,
                                           const ReadOptions& options = {});

// Reads a history from memory. `name` stands in messages for the file. The error is also a format
// that is a folder.
[[nodiscard]] Result<History> parse_history(std::string_view bytes, const ReadOptions& options = {},
                                            std::string_view name = "input");

struct WriteReport {
  // What the format cannot express and was left out, one sentence each, ready to print.
  std::vector<std::string> warnings;
};

// Writes `history` to `path` ("-": standard output; .gz and .zst compress text). Returns an error,
// and writes nothing, if the format is not writable, or if the result would mean something else
// (operations or statuses that the format has no word for). Leaves out remarks, clocks, names and
// the like with a warning each. REQUIRES: `format` is not Detect. Cost: linear in the history.
[[nodiscard]] Result<WriteReport> write_history(const History& history, const std::string& path,
                                                Format format);

// The same, into memory: replaces `out`, or leaves it as it is if there is an error.
[[nodiscard]] Result<WriteReport> print_history(const History& history, Format format,
                                                std::string& out);

// Writes a text, such as a report, to `path` as write_history() does: a file gets its name when it
// is complete, and .gz and .zst compress it.
[[nodiscard]] Status write_file(const std::string& path, std::string_view text);

// Removes the files that write_history(), write_certificate() and write_file() are writing on any
// thread. Safe in a signal handler, and meant for one that ends the process.
void remove_half_written() noexcept;

}  // namespace ouro
