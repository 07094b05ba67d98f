# Debian packages by CPack; scripts/package.sh makes them. Each is a component of the installation, with
# the files that Debian asks for in addition.
option(EPHOST_DEBIAN_PACKAGES "Install what Debian packages need in addition, for CPack" OFF)
if(NOT EPHOST_DEBIAN_PACKAGES)
  return()
endif()
set(EPHOST_MAINTAINER "ephost maintainers <ephost@localhost.localdomain>" CACHE STRING
  "The maintainer of the packages")

# Component -> package.
set(package_of_libephost libephost0)
set(package_of_libephost_dev libephost-dev)
set(package_of_ephost ephost)
set(package_of_plugin_cpu ephost-plugin-cpu)
set(package_of_plugin_dnnl ephost-plugin-dnnl)
set(package_of_plugin_image ephost-plugin-image)
set(package_of_plugin_sdk ephost-plugin-sdk)
set(package_of_python python3-ephost)

set(CPACK_COMPONENTS_ALL libephost libephost_dev ephost plugin_cpu plugin_dnnl plugin_image plugin_sdk)
if(TARGET ephost_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_CONTACT "${EPHOST_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE ephost)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# What the ELF files need; the command finds our own library in the build tree.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

# ephost_package(<component> <section> <synopsis> <what it has>) describes a package. Lines of what it has
# are shorter than 80 columns.
function(ephost_package component section synopsis has)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package_of_${component}} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${synopsis}\n${about}\n${has}" PARENT_SCOPE)
  set(folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package_of_${component}})
  install(FILES ${PROJECT_SOURCE_DIR}/scripts/debian/copyright
    DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/changelog.Debian.gz
    DESTINATION ${folder} COMPONENT ${component})
endfunction()

configure_file(${PROJECT_SOURCE_DIR}/scripts/debian/changelog.in ${PROJECT_BINARY_DIR}/changelog.Debian @ONLY)
execute_process(COMMAND gzip -9n
  INPUT_FILE ${PROJECT_BINARY_DIR}/changelog.Debian
  OUTPUT_FILE ${PROJECT_BINARY_DIR}/changelog.Debian.gz COMMAND_ERROR_IS_FATAL ANY)
set(about "ephost divides an ONNX model among execution-provider plugins, plans the
order of the steps and their memory, and runs the model.
.")
ephost_package(libephost libs "host for ONNX execution-provider plugins"
  "This package has the library, and the program that it starts to run plugins in\nprocesses of their own.")
ephost_package(libephost_dev libdevel "host for ONNX execution-provider plugins (development files)"
  "This package has the headers for C and C++.")
ephost_package(ephost science "run ONNX models on execution-provider plugins"
  "This package has the commands.")
ephost_package(plugin_cpu libs "CPU execution provider for ephost"
  "This package has the provider that runs every operator on the processor.")
ephost_package(plugin_dnnl libs "oneDNN execution provider for ephost"
  "This package has the provider that compiles partitions to primitives of\noneDNN.")
ephost_package(plugin_image libs "image-decoding execution provider for ephost"
  "This package has the provider that decodes image files.")
ephost_package(plugin_sdk devel "headers for execution-provider plugins of ephost"
  "This package has what is needed to write a plugin.")
if(TARGET ephost_python)
  ephost_package(python python "host for ONNX execution-provider plugins (Python module)"
    "This package has the module ephost, with the names of the module onnxruntime.")
endif()

# The linker's cache is renewed by a trigger. CPack writes scripts that call ldconfig besides.
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBEPHOST_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_LIBEPHOST_PACKAGE_RECOMMENDS ephost-plugin-cpu)
set(CPACK_DEBIAN_LIBEPHOST_DEV_PACKAGE_DEPENDS "libephost0 ${same_version}")
set(CPACK_DEBIAN_EPHOST_PACKAGE_DEPENDS "libephost0 ${same_version}")
set(CPACK_DEBIAN_EPHOST_PACKAGE_RECOMMENDS ephost-plugin-cpu)
set(CPACK_DEBIAN_PLUGIN_CPU_PACKAGE_ENHANCES libephost0)
set(CPACK_DEBIAN_PLUGIN_DNNL_PACKAGE_ENHANCES libephost0)
set(CPACK_DEBIAN_PLUGIN_DNNL_PACKAGE_RECOMMENDS ephost-plugin-cpu)
set(CPACK_DEBIAN_PLUGIN_IMAGE_PACKAGE_ENHANCES libephost0)
set(CPACK_DEBIAN_PLUGIN_IMAGE_PACKAGE_RECOMMENDS ephost-plugin-cpu)
set(CPACK_DEBIAN_PLUGIN_SDK_PACKAGE_ARCHITECTURE all)
# The extension is for one version of Python.
if(TARGET ephost_python)
  string(REPLACE "." ";" python_version ${EPHOST_PYTHON_VERSION})
  list(GET python_version 0 python_major)
  list(GET python_version 1 python_minor)
  math(EXPR python_next "${python_minor} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "libephost0 ${same_version}, python3 (>= ${EPHOST_PYTHON_VERSION}~), python3 (<< ${python_major}.${python_next}), \
python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS ephost-plugin-cpu)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-onnx)
  # They make the files of __pycache__, and remove them with the package.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/scripts/debian/python3-ephost/postinst
    ${PROJECT_SOURCE_DIR}/scripts/debian/python3-ephost/prerm)
endif()
foreach(component LIBEPHOST_DEV PLUGIN_SDK)
  set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS OFF)
endforeach()

install(CODE [[
  file(GLOB pages "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/man/man1/*.1")
  if(pages)
    execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()]] COMPONENT ephost)
include(CPack)
