#include "ouro/version.h"

#include "base/version.h"

namespace ouro {

std::string_view version() { return kVersion; }

}  // namespace ouro
