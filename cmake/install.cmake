# `make install`, and what find_package(ouro) needs.
include(CMakePackageConfigHelpers)

install(TARGETS ouro RUNTIME)
install(TARGETS ouro_lib EXPORT ouroTargets ARCHIVE)
install(DIRECTORY include/ouro TYPE INCLUDE)
if(EXISTS ${PROJECT_SOURCE_DIR}/docs/ouro.1)
  install(FILES docs/ouro.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
set(OURO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ouro)
install(EXPORT ouroTargets NAMESPACE ouro:: DESTINATION ${OURO_CMAKE_DIR})
configure_package_config_file(cmake/ouroConfig.cmake.in ouroConfig.cmake
  INSTALL_DESTINATION ${OURO_CMAKE_DIR})
write_basic_package_version_file(ouroConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ouroConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ouroConfigVersion.cmake
        DESTINATION ${OURO_CMAKE_DIR})
