// What the program does about errors that nobody foresaw.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace ouro::cli {

// Returns what `run` returns. If it throws, calls complain(what), in one line, and returns what
// that returns: a status that cannot be mistaken for a verdict.
template <class Run, class Complain>
int guarded(const Run& run, const Complain& complain) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return complain(std::string_view("out of memory"));
  } catch (const std::exception& error) {
    return complain(std::string_view("internal error: " + std::string(error.what())));
  } catch (...) {
    return complain(std::string_view("internal error"));
  }
}

}  // namespace ouro::cli
