# Style and scripts of the HTML report as one header, so that the binary needs no files. The scripts
# become one, in this order, inside one function.
set(OURO_HTML_DIR ${PROJECT_SOURCE_DIR}/src/report/html)
set(OURO_HTML_SCRIPTS elements.js look.js layers.js layout.js graph.js story.js timeline.js levels.js page.js)

file(READ ${OURO_HTML_DIR}/report.css OURO_HTML_STYLE)
set(OURO_HTML_SCRIPT "(() => {\n'use strict';\n")
foreach(name ${OURO_HTML_SCRIPTS})
  file(READ ${OURO_HTML_DIR}/${name} content)
  string(APPEND OURO_HTML_SCRIPT "${content}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${OURO_HTML_DIR}/${name})
endforeach()
string(APPEND OURO_HTML_SCRIPT "})();\n")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${OURO_HTML_DIR}/report.css)
string(SHA256 OURO_HTML_STYLE_HASH "${OURO_HTML_STYLE}")
string(SHA256 OURO_HTML_SCRIPT_HASH "${OURO_HTML_SCRIPT}")
configure_file(cmake/html_assets.h.in generated/report/html_assets.h @ONLY)
