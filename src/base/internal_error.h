// Contradictions that only a bug in this program can cause.
//
// An assert() ends a debug build. Where going on could end in a wrong verdict, a release build must
// not go on either: insist() throws, and the program ends with a message and a status of its own.
#pragma once

#include <stdexcept>

namespace ouro {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Throws unless `holds`. `what` says what is wrong then.
inline void insist(bool holds, const char* what) {
  if (!holds) [[unlikely]]
    throw InternalError(what);
}

}  // namespace ouro
