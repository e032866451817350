# `make install`, and what find_package(ouro) needs.
#
# Components "program" and "c" are what the Debian package holds; "development" is for those who link
# Ouro as C++.
include(CMakePackageConfigHelpers)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # Tests need not be built to install.

install(TARGETS ouro RUNTIME COMPONENT program)
# The manual and the completions are made by the program, so that they tell what it does.
install(CODE "
  function(ouro_print file)
    execute_process(COMMAND \"$<TARGET_FILE:ouro>\" \${ARGN} COMMAND_ERROR_IS_FATAL ANY
                    OUTPUT_FILE \"${PROJECT_BINARY_DIR}/install/\${file}\")
  endfunction()
  file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/install\")
  ouro_print(ouro.1 man)
  ouro_print(ouro completion bash)
  ouro_print(_ouro completion zsh)
  ouro_print(ouro.fish completion fish)
  " COMPONENT program)
set(printed ${PROJECT_BINARY_DIR}/install)
install(FILES ${printed}/ouro.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${printed}/ouro COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${printed}/_ouro COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${printed}/ouro.fish COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# What reports point to (OURO_DOCUMENTS).
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
        PATTERN ouro.1 EXCLUDE)

# The C interface, for programs that use it and for those who compile them. Where it is installed is
# known only then, so ouro_c.pc finds the rest from where it lies itself.
install(TARGETS ouro_c EXPORT ouroCTargets LIBRARY COMPONENT c NAMELINK_COMPONENT c)
install(FILES include/ouro/c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ouro COMPONENT c)
set(OURO_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH OURO_PC_TO_PREFIX /prefix/${OURO_PC_DIR} /prefix)
configure_file(cmake/ouro_c.pc.in ouro_c.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ouro_c.pc DESTINATION ${OURO_PC_DIR} COMPONENT c)

install(TARGETS ouro_core EXPORT ouroCoreTargets ARCHIVE COMPONENT development)
install(DIRECTORY include/ouro TYPE INCLUDE COMPONENT development)
set(OURO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ouro)
install(EXPORT ouroCTargets NAMESPACE ouro:: DESTINATION ${OURO_CMAKE_DIR} COMPONENT development)
install(EXPORT ouroCoreTargets NAMESPACE ouro:: DESTINATION ${OURO_CMAKE_DIR} COMPONENT development)
if(NOT OURO_CORE_ONLY)
  install(TARGETS ouro_lib EXPORT ouroTargets ARCHIVE COMPONENT development)
  install(EXPORT ouroTargets NAMESPACE ouro:: DESTINATION ${OURO_CMAKE_DIR} COMPONENT development)
endif()
configure_package_config_file(cmake/ouroConfig.cmake.in ouroConfig.cmake
  INSTALL_DESTINATION ${OURO_CMAKE_DIR})
write_basic_package_version_file(ouroConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ouroConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ouroConfigVersion.cmake
        DESTINATION ${OURO_CMAKE_DIR} COMPONENT development)
