# What `cpack` makes in the build folder: a Debian package with library and manifest where hosts look for them.
# `cpack -G TGZ` makes an archive instead.
string(REPLACE "_" "-" package "ephost-plugin-acme")
set(CPACK_PACKAGE_NAME ${package})
set(CPACK_PACKAGE_VERSION ${version})
set(CPACK_PACKAGE_VENDOR "Acme Corp.")
set(CPACK_PACKAGE_CONTACT "Acme Corp. <support@example.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Execution provider acme for ephost")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON) # before the checksum of the library is written into the manifest
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_ENHANCES libephost0)
include(CPack)
