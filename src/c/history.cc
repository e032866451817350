// Histories that are read and written.

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "c/handles.h"

namespace ouro::c {
namespace {

// The history that `read` returns, with the time that it took; null after an error.
template <class Read>
ouro_history* timed(std::string name, ouro_error** error, const Read& read) {
  const auto start = std::chrono::steady_clock::now();
  Result<History> history = read();
  if (!history.ok()) {
    tell(error, OURO_ERROR_INPUT, history.error());
    return nullptr;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return new ouro_history{*std::move(history), std::move(name), passed.count()};
}

// The format of that name, if it can be written; null after an error.
const FormatInfo* writable(const char* name, ouro_error** error) {
  const FormatInfo* format = find_format(name);
  if (format != nullptr && format->writable) return format;
  std::string names;
  for (const FormatInfo& known : formats()) {
    if (!known.writable) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  tell(error, OURO_ERROR_INPUT,
       error_saying(fmt::format("format '{}' cannot be written; there are: {}", name, names)));
  return nullptr;
}

void give_warnings(const WriteReport& report, char** warnings) {
  if (warnings == nullptr) return;
  std::string text;
  for (const std::string& warning : report.warnings) text += warning + "\n";
  *warnings = text.empty() ? nullptr : copy_of(text);
}

}  // namespace
}  // namespace ouro::c

extern "C" {

ouro_history* ouro_history_read(const char* path, const ouro_options* options, ouro_error** error) {
  if (path == nullptr) return nullptr;
  return ouro::c::guarded(error, static_cast<ouro_history*>(nullptr), [&] {
    const ouro_options& how = ouro::c::or_defaults(options);
    std::string name = std::strcmp(path, "-") == 0 ? "standard input" : path;
    return ouro::c::timed(std::move(name), error,
                          [&] { return ouro::read_history(path, how.read); });
  });
}

ouro_history* ouro_history_parse(const void* bytes, size_t length, const ouro_options* options,
                                 ouro_error** error) {
  if (bytes == nullptr && length != 0) return nullptr;
  return ouro::c::guarded(error, static_cast<ouro_history*>(nullptr), [&] {
    const ouro_options& how = ouro::c::or_defaults(options);
    const std::string name = how.title.empty() ? "input" : how.title;
    const std::string_view text(static_cast<const char*>(bytes), length);
    return ouro::c::timed(name, error, [&] { return ouro::parse_history(text, how.read, name); });
  });
}

void ouro_history_free(ouro_history* history) { delete history; }

uint64_t ouro_history_transactions(const ouro_history* history) {
  return history == nullptr ? 0 : history->history.txn_count();
}
uint64_t ouro_history_operations(const ouro_history* history) {
  return history == nullptr ? 0 : history->history.op_count();
}
uint64_t ouro_history_sessions(const ouro_history* history) {
  return history == nullptr ? 0 : history->history.session_count();
}
uint64_t ouro_history_keys(const ouro_history* history) {
  return history == nullptr ? 0 : history->history.key_count();
}

int ouro_history_write(const ouro_history* history, const char* path, const char* format,
                       char** warnings, ouro_error** error) {
  if (history == nullptr || path == nullptr || format == nullptr) return -1;
  return ouro::c::guarded(error, -1, [&] {
    const ouro::FormatInfo* known = ouro::c::writable(format, error);
    if (known == nullptr) return -1;
    const auto report = ouro::write_history(history->history, path, known->format);
    if (!report.ok()) {
      ouro::c::tell(error, OURO_ERROR_INPUT, report.error());
      return -1;
    }
    ouro::c::give_warnings(*report, warnings);
    return 0;
  });
}

char* ouro_history_print(const ouro_history* history, const char* format, size_t* length,
                         char** warnings, ouro_error** error) {
  if (history == nullptr || format == nullptr) return nullptr;
  return ouro::c::guarded(error, static_cast<char*>(nullptr), [&]() -> char* {
    const ouro::FormatInfo* known = ouro::c::writable(format, error);
    if (known == nullptr) return nullptr;
    std::string text;
    const auto report = ouro::print_history(history->history, known->format, text);
    if (!report.ok()) {
      ouro::c::tell(error, OURO_ERROR_INPUT, report.error());
      return nullptr;
    }
    char* copy = ouro::c::copy_of(text);
    if (length != nullptr) *length = text.size();
    ouro::c::give_warnings(*report, warnings);
    return copy;
  });
}
}
