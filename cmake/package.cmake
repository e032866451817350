# `make deb`: the components "program" and "c" of cmake/install.cmake as a Debian package. What they
# depend on is found by dpkg-shlibdeps in the program and the library themselves.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ouro)
set(CPACK_PACKAGE_CONTACT "The Ouro developers <ouro@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "decides whether a database kept its isolation level")
set(CPACK_PACKAGE_DESCRIPTION
"Ouro reads what clients saw of a database, or runs clients on one, and says for
 each isolation level whether it holds, or by which transactions and why it is
 violated. Every verdict carries a proof that can be checked.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program c)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
