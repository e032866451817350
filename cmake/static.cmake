# What a program without shared libraries needs: static ones of all others. Debian has them, but for
# two: fmt is compiled in from its headers, and simdjson from its source package, which
# scripts/static fetches.
set(OURO_SIMDJSON_SOURCE "" CACHE PATH "Folder with simdjson.cpp and simdjson.h, for OURO_STATIC")
if(NOT OURO_CORE_ONLY)
  message(FATAL_ERROR "OURO_STATIC needs OURO_CORE_ONLY: database clients cannot be linked statically")
endif()
if(NOT EXISTS ${OURO_SIMDJSON_SOURCE}/simdjson.cpp)
  message(FATAL_ERROR "OURO_STATIC needs OURO_SIMDJSON_SOURCE, a folder with simdjson.cpp; "
                      "'make static' does all that")
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
find_package(fmt REQUIRED)
set(OURO_FMT fmt::fmt-header-only)
add_library(ouro_simdjson STATIC ${OURO_SIMDJSON_SOURCE}/simdjson.cpp)
target_include_directories(ouro_simdjson SYSTEM PUBLIC ${OURO_SIMDJSON_SOURCE})
set(OURO_SIMDJSON ouro_simdjson)
