# What `ctest` checks: the plugin as it is installed, by the conformance kit of ephost. Checks that may fail, with
# their reasons, are in acme.exclusions.yaml, if there is such a file when the build is configured.
#
#   cmake -DCHECK_LEVEL=full build && (cd build && ctest)    # takes minutes
option(BUILD_TESTING "Whether ctest checks the plugin" ON)
set(CHECK_LEVEL basic CACHE STRING "How much ctest checks: basic or full")
if(BUILD_TESTING)
  include(GNUInstallDirs)
  find_program(EPHOST ephost DOC "The command of ephost")
  if(NOT EPHOST)
    message(FATAL_ERROR "The command ephost, which checks the plugin, was not found: install it, name it with "
      "-DEPHOST=<file>, or do without checks, with -DBUILD_TESTING=OFF")
  endif()
  enable_testing()
  set(stage ${CMAKE_CURRENT_BINARY_DIR}/stage)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} --install ${CMAKE_CURRENT_BINARY_DIR} --prefix ${stage})
  set_tests_properties(install PROPERTIES FIXTURES_SETUP stage)
  set(exclusions "")
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/acme.exclusions.yaml)
    set(exclusions --exclusions ${CMAKE_CURRENT_SOURCE_DIR}/acme.exclusions.yaml)
  endif()
  add_test(NAME validate
    COMMAND ${EPHOST} validate ${stage}/${CMAKE_INSTALL_DATADIR}/ephost/plugins/acme.yaml --level ${CHECK_LEVEL}
            ${exclusions})
  set_tests_properties(validate PROPERTIES FIXTURES_REQUIRED stage TIMEOUT 3600)
endif()
