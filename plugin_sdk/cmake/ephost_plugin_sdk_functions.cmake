# ephost_add_plugin(<name> SOURCES source ... [LIBRARIES library ...])
#
# Declares a plugin: a module library that exports eph_plugin_v1 and nothing else, has no undefined
# symbols, and can be unloaded (no GNU unique symbols). LIBRARIES are linked privately.
set(EPHOST_PLUGIN_VERSION_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/plugin.map")

function(ephost_add_plugin name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "ephost_add_plugin(${name}): no SOURCES given")
  endif()
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ephost::plugin_sdk ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_compile_options(${name} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
    target_link_options(${name} PRIVATE "LINKER:--version-script=${EPHOST_PLUGIN_VERSION_SCRIPT}")
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${EPHOST_PLUGIN_VERSION_SCRIPT}")
    # A sanitizer's run-time library is found in the host, so its symbols stay undefined here.
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND NOT EPHOST_SANITIZE)
      target_link_options(${name} PRIVATE "LINKER:--no-undefined")
    endif()
  endif()
endfunction()
