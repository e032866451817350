// What differs between builds. The tests themselves are compiled once, whatever the library under
// test was compiled with; only this_build.cc is part of every build.
#pragma once

#include <cstddef>

namespace ouro {

// The program under test.
extern const char* const kOuroBinary;
// Sanitizers make everything about ten times slower: loops that count or enumerate shrink by this.
extern const std::size_t kSlowdown;

}  // namespace ouro
