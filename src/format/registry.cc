#include "format/registry.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>

#include "format/awdit_text.h"
#include "format/chronos.h"
#include "format/cobra.h"
#include "format/dbcop_bincode.h"
#include "format/dbcop_json.h"
#include "format/dbcop_text.h"
#include "format/dbcop_yaml.h"
#include "format/jepsen.h"
#include "format/jepsen_model.h"
#include "format/native_binary.h"
#include "format/native_text.h"
#include "format/plume.h"
#include "format/veristrong_list.h"
#include "format/viper.h"
#include "history/columns.h"

namespace ouro {
namespace {

constexpr FormatEntry kTable[] = {
    {.info = {Format::Native, "native", "Ouro's JSON Lines, one transaction a line", ".jsonl",
              true},
     .first_bytes = "{",
     .detect = detect_native_text,
     .read = read_native_text,
     .write = write_native_text},
    {.info = {Format::NativeBinary, "ouro", "Ouro's binary columns, loads at disk speed", ".ouro",
              true},
     .first_bytes = "O",
     .detect = detect_native_binary,
     .read = read_native_binary,
     .write = write_native_binary},
    {.info = {Format::JepsenEdn, "edn", "Jepsen's EDN: Elle's list-append and rw-register", ".edn",
              true},
     .detect = detect_jepsen_edn,
     .read = read_jepsen_edn,
     .write = write_jepsen_edn},
    {.info = {Format::JepsenJson, "jepsen-json", "elle-cli's JSON twin of Jepsen's EDN", ".json",
              false},
     .detect = detect_jepsen_json,
     .read = read_jepsen_json},
    {.info = {Format::Chronos, "chronos", "TimeKiller's JSON, for Chronos and Aion", ".json", true},
     .first_bytes = "[",
     .detect = detect_chronos,
     .read = read_chronos,
     .write = write_chronos},
    {.info = {Format::DbcopBincode, "dbcop", "dbcop's history.bincode", ".bincode", true},
     .detect = detect_dbcop_bincode,
     .read = read_dbcop_bincode,
     .write = write_dbcop_bincode},
    {.info = {Format::DbcopJson, "dbcop-json", "dbcop's JSON", ".json", false},
     .detect = detect_dbcop_json,
     .read = read_dbcop_json},
    {.info = {Format::DbcopText, "dbcop-text", "dbcop's language [x:=1 y==2]", ".hist", false},
     .detect = detect_dbcop_text,
     .read = read_dbcop_text},
    {.info = {Format::DbcopYaml, "dbcop-yaml", "dbcop's YAML of 2019", ".yaml", false},
     .detect = detect_dbcop_yaml,
     .read = read_dbcop_yaml},
    {.info = {Format::Cobra, "cobra", "Cobra's logs, a folder of T*.log", "", false},
     .detect_folder = detect_cobra,
     .read_folder = read_cobra},
    {.info = {Format::Plume, "plume", "Plume's and PolySI's lines r(key,value,session,txn)", ".txt",
              true},
     .detect = detect_plume,
     .read = read_plume,
     .write = write_plume},
    {.info = {Format::AwditText, "awdit", "AWDIT's lines r key value, with ---- and ====", ".txt",
              false},
     .detect = detect_awdit_text,
     .read = read_awdit_text},
    {.info = {Format::Viper, "viper", "Viper's logs, a folder of J*.log", "", false},
     .detect_folder = detect_viper,
     .read_folder = read_viper},
    {.info = {Format::VeriStrongList, "veristrong-list", "VeriStrong's numeric list appends",
              ".txt", false},
     .detect = detect_veristrong_list,
     .read = read_veristrong_list},
};

const FormatEntry* entry(Format format) {
  for (const FormatEntry& candidate : kTable) {
    if (candidate.info.format == format) return &candidate;
  }
  return nullptr;
}

bool is_text(Format format) {
  return format != Format::DbcopBincode && format != Format::NativeBinary;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string known_names(bool folders) {
  std::string names;
  for (const FormatEntry& candidate : kTable) {
    if ((candidate.read_folder != nullptr) != folders) continue;
    if (!names.empty()) names += ", ";
    names += candidate.info.name;
  }
  return names;
}

// The same history, which knows what it was read as.
Result<History> described(Result<History> read, const FormatInfo& format) {
  if (!read.ok()) return read;
  HistoryColumns columns = columns_of(*read);
  columns.read_as = format.description;
  return history_of(columns, std::make_shared<const History>(*std::move(read)));
}

Result<History> read_folder(const std::string& path, const ReadOptions& options) {
  const FormatEntry* chosen = nullptr;
  if (options.format != Format::Detect) {
    chosen = entry(options.format);
    if (chosen->read_folder == nullptr) {
      return error_in(path,
                      fmt::format("is a folder, but a '{}' history is a file; give the file in it",
                                  chosen->info.name));
    }
  }
  for (const FormatEntry& candidate : kTable) {
    if (chosen == nullptr && candidate.detect_folder != nullptr && candidate.detect_folder(path)) {
      chosen = &candidate;
    }
  }
  if (chosen == nullptr) {
    return error_in(path, fmt::format("no history in this folder: formats that are folders are {}; "
                                      "otherwise give the file in it",
                                      known_names(true)));
  }
  return described(chosen->read_folder(path, options.threads), chosen->info);
}

Error unknown_format(const Input& input) {
  constexpr std::string_view kWanted = "a history has a transaction a line";
  const std::string_view head = input.head();
  if (head.empty()) return error_in(input.name(), fmt::format("is empty; {}", kWanted));
  if (head.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return error_in(input.name(), fmt::format("has only blank lines; {}", kWanted));
  }
  return error_in(input.name(), fmt::format("unknown format; say which with --format, one of {}",
                                            known_names(false)));
}

bool is_jepsen(Format format) {
  return format == Format::JepsenEdn || format == Format::JepsenJson;
}

Result<History> read_model(Input& input, const FormatInfo& format, const ReadOptions& options,
                           RecordedLines* lines) {
  const std::string& model = options.model;
  if (!model.empty() && find_jepsen_model(model) == nullptr) {
    return error_in(input.name(), fmt::format("model '{}' is not known; there are {}", model,
                                              fmt::join(jepsen_models(), ", ")));
  }
  if (is_jepsen(format.format)) {
    return read_jepsen_model(input, format.format, model, lines);
  }
  // What other formats have are transactions.
  if (model.empty() || find_jepsen_model(model)->model == JepsenModel::Txn) {
    return entry(format.format)->read(input, options.threads);
  }
  return error_in(input.name(), fmt::format("model '{}' is of Jepsen's formats, and this is '{}'",
                                            model, format.name));
}

// `lines` may be null.
Result<History> read_input(Input& input, const ReadOptions& options, RecordedLines* lines) {
  const FormatEntry* chosen = nullptr;
  if (options.format == Format::Detect) {
    chosen = entry(detect_format(input));
    if (chosen == nullptr) return unknown_format(input);
  } else {
    if (is_text(options.format)) input.skip_byte_order_mark();
    chosen = entry(options.format);
    if (chosen->read == nullptr) {
      return error_in(input.name(),
                      fmt::format("is a file, but a '{}' history is a folder", chosen->info.name));
    }
  }
  return described(read_model(input, chosen->info, options, lines), chosen->info);
}

Result<History> read_path(const std::string& path, const ReadOptions& options,
                          RecordedLines* lines) {
  if (path.empty()) {
    return error_in("",
                    "the name of the history is empty; give a file, a folder, or - for standard "
                    "input");
  }
  if (is_folder(path)) return read_folder(path, options);
  auto input = Input::open(path);
  if (!input.ok()) return std::move(input).error();
  return read_input(*input, options, lines);
}

Result<History> parse_bytes(std::string_view bytes, const ReadOptions& options,
                            std::string_view name, RecordedLines* lines) {
  auto input = Input::memory(bytes, name);
  if (!input.ok()) return std::move(input).error();
  return read_input(*input, options, lines);
}

}  // namespace

std::vector<std::string_view> jepsen_models() {
  return {"list-append", "rw-register", "bank",       "cas-register", "comments", "counter",
          "long-fork",   "mutex",       "sequential", "set",          "set-full"};
}

std::span<const FormatEntry> format_table() { return kTable; }

Format detect_format(std::string_view head, std::span<const Format> among) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  const auto possible = [&](const FormatEntry& candidate) {
    if (candidate.detect == nullptr) return false;
    const bool wanted = among.empty() ||
                        std::find(among.begin(), among.end(), candidate.info.format) != among.end();
    return wanted && (candidate.first_bytes.empty() ||
                      (start != head.npos && candidate.first_bytes.find(head[start]) != head.npos));
  };
  if (!among.empty() && std::count_if(std::begin(kTable), std::end(kTable), possible) == 1) {
    return std::find_if(std::begin(kTable), std::end(kTable), possible)->info.format;
  }
  for (const FormatEntry& candidate : kTable) {
    if (possible(candidate) && candidate.detect(head)) return candidate.info.format;
  }
  return Format::Detect;
}

// Some editors put a byte order mark in front of text, where it means nothing. A binary file may
// begin with the same bytes, which must be kept.
Format detect_format(Input& input) {
  if (!detect_dbcop_bincode(input.head())) input.skip_byte_order_mark();
  return detect_format(input.head());
}

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> infos;
  for (const FormatEntry& candidate : kTable) infos.push_back(candidate.info);
  std::sort(infos.begin(), infos.end(),
            [](const FormatInfo& a, const FormatInfo& b) { return a.format < b.format; });
  return infos;
}

const FormatInfo* find_format(std::string_view name) {
  for (const FormatEntry& candidate : kTable) {
    if (candidate.info.name == name) return &candidate.info;
  }
  return nullptr;
}

const FormatInfo& info(Format format) {
  static constexpr FormatInfo kDetect{Format::Detect, "detect", "found out by the content", "",
                                      false};
  const FormatEntry* const found = entry(format);
  return found == nullptr ? kDetect : found->info;
}

Result<History> read_history(const std::string& path, const ReadOptions& options) {
  return read_path(path, options, nullptr);
}

Result<History> read_history(const std::string& path, const ReadOptions& options,
                             RecordedLines& lines) {
  return read_path(path, options, &lines);
}

Result<History> parse_history(std::string_view bytes, const ReadOptions& options,
                              std::string_view name) {
  return parse_bytes(bytes, options, name, nullptr);
}

Result<History> parse_history(std::string_view bytes, const ReadOptions& options,
                              std::string_view name, RecordedLines& lines) {
  return parse_bytes(bytes, options, name, &lines);
}

Result<WriteReport> write_history(const History& history, const std::string& path, Format format) {
  const FormatEntry* chosen = entry(format);
  if (chosen->write == nullptr) {
    return error_in(path, fmt::format("cannot write the format '{}'", chosen->info.name));
  }
  auto output = open_output(path);
  if (!output.ok()) return std::move(output).error();
  auto report = chosen->write(history, **output);
  if (!report.ok()) return report;
  if (auto status = (*output)->finish(); !status.ok()) return status.error();
  return report;
}

Result<WriteReport> print_history(const History& history, Format format, std::string& out) {
  const FormatEntry* chosen = entry(format);
  if (chosen->write == nullptr) {
    return error_in("", fmt::format("cannot write the format '{}'", chosen->info.name));
  }
  MemoryOutput output;
  auto report = chosen->write(history, output);
  if (report.ok()) out = std::move(output.buffer());
  return report;
}

}  // namespace ouro
