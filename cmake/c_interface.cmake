# libouro_c: the C interface (include/ouro/c.h) and the core in one shared library with a stable ABI.
#
# It exports what src/c/exports.map lists and nothing else. The number of its SONAME grows when a
# function, a number or a structure is changed or removed, which is to happen never.
file(GLOB OURO_C_SOURCES CONFIGURE_DEPENDS src/c/*.cc)
list(FILTER OURO_C_SOURCES EXCLUDE REGEX "(_test|_benchmark)\\.cc$")
add_library(ouro_c_objects OBJECT ${OURO_C_SOURCES})
ouro_library_sources(ouro_c_objects ouro_core)

add_library(ouro_c SHARED $<TARGET_OBJECTS:ouro_c_objects>)
add_library(ouro::c ALIAS ouro_c)
set_target_properties(ouro_c PROPERTIES EXPORT_NAME c LINKER_LANGUAGE CXX VERSION 1.0.0 SOVERSION 1
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/c/exports.map)
target_include_directories(ouro_c
  INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(ouro_c PRIVATE ouro_core)
target_link_options(ouro_c PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/c/exports.map -Wl,--as-needed)
if(NOT OURO_SANITIZE)  # What sanitizers call is in the program.
  target_link_options(ouro_c PRIVATE -Wl,--no-undefined -Wl,--gc-sections)
endif()
list(APPEND OURO_OBJECTS $<TARGET_OBJECTS:ouro_c_objects>)

# In a wheel, which cannot have symbolic links, the library is one file beside the Python sources
# (clients/python).
if(OURO_PYTHON)
  set_target_properties(ouro_c PROPERTIES VERSION 1)
  install(TARGETS ouro_c LIBRARY DESTINATION ouro COMPONENT python NAMELINK_SKIP)
endif()
