# The CMake package of Debian's OpenJPEG needs its programs. Defines the imported target
# OpenJpeg::OpenJpeg.
file(GLOB folders /usr/include/openjpeg-2.*)
list(SORT folders ORDER DESCENDING)
find_path(OpenJpeg_INCLUDE_DIR openjpeg.h HINTS ${folders})
find_library(OpenJpeg_LIBRARY openjp2)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenJpeg REQUIRED_VARS OpenJpeg_LIBRARY OpenJpeg_INCLUDE_DIR)
if(OpenJpeg_FOUND AND NOT TARGET OpenJpeg::OpenJpeg)
  add_library(OpenJpeg::OpenJpeg UNKNOWN IMPORTED)
  set_target_properties(OpenJpeg::OpenJpeg PROPERTIES IMPORTED_LOCATION ${OpenJpeg_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OpenJpeg_INCLUDE_DIR})
endif()
