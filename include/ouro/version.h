// Which Ouro this is, and where its documents are.
#pragma once

#include <string>
#include <string_view>

namespace ouro {

// The version of the library: "0.1.0".
[[nodiscard]] std::string_view version();

// Where a document is: document_address("anomalies.md", "lost-update") is
// "docs/anomalies.md#lost-update", or in an installed Ouro
// "/usr/share/doc/ouro/docs/anomalies.md#lost-update". The folder, or URL, is the build option
// OURO_DOCUMENTS. All messages that point to a document ask here.
[[nodiscard]] std::string document_address(std::string_view page, std::string_view anchor = {});

}  // namespace ouro
