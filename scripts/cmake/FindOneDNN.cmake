# Finds oneDNN, defines the target DNNL::dnnl and sets OneDNN_VERSION. Debian's own package file asks for
# the OpenCL headers as well, which nothing here needs.
find_path(OneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)
set(OneDNN_VERSION)
if(OneDNN_INCLUDE_DIR)
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS ${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h line REGEX "define DNNL_VERSION_${part} ")
    string(REGEX REPLACE ".* " "" number "${line}")
    list(APPEND OneDNN_VERSION ${number})
  endforeach()
endif()
list(JOIN OneDNN_VERSION . OneDNN_VERSION)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR VERSION_VAR OneDNN_VERSION)

if(OneDNN_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES
    IMPORTED_LOCATION "${OneDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}")
endif()
