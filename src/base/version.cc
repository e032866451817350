#include "ouro/version.h"

#include "base/version.h"

namespace ouro {

std::string_view version() { return kVersion; }

std::string document_address(std::string_view page, std::string_view anchor) {
  std::string place = kDocuments;
  place.append("/").append(page);
  if (!anchor.empty()) place.append("#").append(anchor);
  return place;
}

}  // namespace ouro
