# The web page of src/serve: puts src/serve/page/ into one document, and that into a header. It has the look
# of the HTML report, and its parts for stories and graphs.
set(page ${PROJECT_SOURCE_DIR}/src/serve/page)
set(shared ${PROJECT_SOURCE_DIR}/src/report/html)
set(page_styles ${shared}/report.css ${page}/page.css)
set(page_scripts ${shared}/elements.js ${shared}/look.js ${shared}/layers.js ${shared}/layout.js
  ${shared}/graph.js ${shared}/story.js ${page}/tiles.js ${page}/events.js ${page}/page.js)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${page}/page.html ${page_styles} ${page_scripts})
file(READ ${page}/page.html document)
set(style "")
foreach(name ${page_styles})
  file(READ ${name} content)
  string(APPEND style "${content}")
endforeach()
set(script "(() => {\n'use strict';\n")
foreach(name ${page_scripts})
  file(READ ${name} content)
  string(APPEND script "${content}")
endforeach()
string(APPEND script "})();\n")
string(REPLACE "@style@" "${style}" document "${document}")
string(REPLACE "@script@" "${script}" document "${document}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/serve/page_files.h @ONLY CONTENT
[[// Made by cmake/page.cmake.
#pragma once

namespace ouro::serving {

// Compilers need not take strings of more than 65,536 bytes; ours do.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
inline constexpr char kPage[] = R"page(@document@)page";
#pragma GCC diagnostic pop

}  // namespace ouro::serving
]])
