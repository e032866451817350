# The core and its C interface as WebAssembly, in one script that needs nothing beside it. scripts/web
# makes a page of it. There are no threads and no compression; clients/web/absl stands for Abseil.
file(GLOB_RECURSE OURO_WEB_SOURCES CONFIGURE_DEPENDS src/*.cc)
list(FILTER OURO_WEB_SOURCES INCLUDE REGEX
  "/src/(base|c|certify|check|explain|format|graph|history|report|solver)/")
list(FILTER OURO_WEB_SOURCES EXCLUDE REGEX "(_test|_benchmark|_fuzz|/format/compression)\\.cc$")

configure_file(cmake/version.h.in generated/base/version.h)
include(cmake/html_assets.cmake)
# fmt is the system's, whose other headers are for another processor.
find_path(fmt NAMES fmt/format.h PATHS /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
file(CREATE_LINK ${fmt}/fmt ${PROJECT_BINARY_DIR}/headers/fmt SYMBOLIC)

add_executable(ouro_web ${OURO_WEB_SOURCES} ${PROJECT_SOURCE_DIR}/clients/web/no_compression.cc)
target_include_directories(ouro_web PRIVATE include src clients/web ${PROJECT_BINARY_DIR}/generated)
target_include_directories(ouro_web SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/headers)
target_compile_definitions(ouro_web PRIVATE FMT_HEADER_ONLY)
target_compile_options(ouro_web PRIVATE -Os -Wno-c++11-narrowing -fexceptions)
ouro_unity(ouro_web)
# All functions of the C interface.
file(STRINGS src/c/exports.map exported REGEX "^ +ouro_[a-z_]+;")
list(TRANSFORM exported REPLACE "^ +(.*);" "_\\1")
list(JOIN exported "," exported)
target_link_options(ouro_web PRIVATE -Os -fexceptions
  "SHELL:-s SINGLE_FILE=1" "SHELL:-s ENVIRONMENT=worker,node" "SHELL:-s ALLOW_MEMORY_GROWTH=1"
  "SHELL:-s MAXIMUM_MEMORY=2GB" "SHELL:-s FILESYSTEM=1" "SHELL:-s MODULARIZE=1" "SHELL:-s EXPORT_NAME=ouroEngine"
  "SHELL:-s EXPORTED_RUNTIME_METHODS=ccall,UTF8ToString,HEAPU8,HEAPU32"
  "SHELL:-s EXPORTED_FUNCTIONS=_malloc,_free,${exported}")
