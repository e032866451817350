#include "tests/this_build.h"

namespace ouro {

const char* const kOuroBinary = OURO_BINARY;

#if defined(OURO_SANITIZED)
const std::size_t kSlowdown = 20;
#else
const std::size_t kSlowdown = 1;
#endif

}  // namespace ouro
