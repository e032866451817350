// What is behind the handles of ouro/c.h, and the wall that exceptions do not pass.
#pragma once

#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/c.h"
#include "ouro/examine.h"
#include "ouro/format.h"
#include "ouro/history.h"
#include "ouro/history_builder.h"
#include "ouro/result.h"

struct ouro_error {
  int kind = OURO_ERROR_INPUT;
  ouro::Error error;
  std::string text;  // The whole error as one text, with its place.
};

struct ouro_options {
  ouro::ReadOptions read;
  ouro::CheckOptions check;  // Without `cancelled`.
  std::string levels;        // Empty: those of `expectation`, or else the usual one.
  ouro::Expectation expectation;
  ouro::ExamineOptions::Explain explain = ouro::ExamineOptions::Explain::WeakestLevels;
  std::size_t examples = 1;
  std::string title;
  mutable std::atomic<bool> cancelled{false};
};

struct ouro_history {
  ouro::History history;
  std::string name;
  std::optional<double> load_seconds;
};

struct ouro_builder {
  ouro::HistoryBuilder builder;
  std::optional<ouro::Error> wrong;  // The first error of the calls so far.
  int kind = OURO_ERROR_INPUT;       // The kind of that error.
  bool begun = false;                // Whether there is a transaction.
  std::uint64_t line = 1;            // Of the next line of native text.
};

struct ouro_verdict {
  ouro::History history;
  ouro::Examination examination;
  std::vector<ouro::Level> unsupported;
  std::string name;
  std::optional<double> load_seconds;
  std::int64_t clock_drift = 0;
};

namespace ouro::c {

// Puts an error where the caller wants it: nowhere if `out` is null, or has an earlier error.
void tell(ouro_error** out, int kind, Error error) noexcept;

[[nodiscard]] inline Error error_saying(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

// A copy of `text` for ouro_free(), with a zero byte behind it. Throws bad_alloc.
[[nodiscard]] char* copy_of(std::string_view text);

// Calls `f`. If it throws, tells the error and returns `otherwise`.
template <class T, class F>
T guarded(ouro_error** error, T otherwise, const F& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    tell(error, OURO_ERROR_MEMORY, error_saying("out of memory"));
  } catch (const std::exception& thrown) {
    tell(error, OURO_ERROR_INTERNAL, error_saying(thrown.what()));
  } catch (...) {
    tell(error, OURO_ERROR_INTERNAL, error_saying("something unknown went wrong"));
  }
  return otherwise;
}

// The text that begins at `text`: `length` bytes, or up to its zero byte if that is (size_t)-1.
[[nodiscard]] std::string_view view(const char* text, std::size_t length);

// The options that were given, or the defaults. `given` may be null.
[[nodiscard]] const ouro_options& or_defaults(const ouro_options* given);

}  // namespace ouro::c
