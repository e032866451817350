# The web page of src/serve: puts src/serve/page/ into one document, and that into a header.
set(page ${PROJECT_SOURCE_DIR}/src/serve/page)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${page}/page.html ${page}/page.css ${page}/page.js)
file(READ ${page}/page.html document)
file(READ ${page}/page.css style)
file(READ ${page}/page.js script)
string(REPLACE "@style@" "${style}" document "${document}")
string(REPLACE "@script@" "${script}" document "${document}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/serve/page_files.h @ONLY CONTENT
[[// Made by cmake/page.cmake.
#pragma once

namespace ouro::serving {

inline constexpr char kPage[] = R"page(@document@)page";

}  // namespace ouro::serving
]])
