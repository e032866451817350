// Errors, texts and the version.

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

#include "c/handles.h"
#include "ouro/version.h"

namespace ouro::c {
namespace {

// Without memory for more, an error that says nothing else. It belongs to nobody.
ouro_error no_memory{.kind = OURO_ERROR_MEMORY, .error = {}, .text = "out of memory"};

}  // namespace

void tell(ouro_error** out, int kind, Error error) noexcept {
  if (out == nullptr || *out != nullptr) return;
  try {
    auto made = std::make_unique<ouro_error>();
    made->kind = kind;
    made->text = error.to_string();
    if (kind == OURO_ERROR_INTERNAL) made->text = "internal error: " + made->text;
    made->error = std::move(error);
    *out = made.release();
  } catch (...) {
    *out = &no_memory;
  }
}

char* copy_of(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

std::string_view view(const char* text, std::size_t length) {
  if (text == nullptr) return {};
  return length == static_cast<std::size_t>(-1) ? std::string_view(text)
                                                : std::string_view(text, length);
}

}  // namespace ouro::c

extern "C" {

const char* ouro_version(void) {
  static const std::string text(ouro::version());
  return text.c_str();
}

void ouro_free(char* text) { std::free(text); }

int ouro_error_kind(const ouro_error* error) { return error == nullptr ? 0 : error->kind; }

const char* ouro_error_text(const ouro_error* error) {
  return error == nullptr ? "" : error->text.c_str();
}

const char* ouro_error_what(const ouro_error* error) {
  if (error == nullptr) return "";
  return error->error.what.empty() ? error->text.c_str() : error->error.what.c_str();
}

const char* ouro_error_file(const ouro_error* error) {
  return error == nullptr ? "" : error->error.file.c_str();
}

int64_t ouro_error_line(const ouro_error* error) {
  return error == nullptr ? 0 : static_cast<int64_t>(error->error.line.value_or(0));
}

int64_t ouro_error_byte(const ouro_error* error) {
  if (error == nullptr || !error->error.offset) return -1;
  return static_cast<int64_t>(*error->error.offset);
}

void ouro_error_free(ouro_error* error) {
  if (error != &ouro::c::no_memory) delete error;
}
}
