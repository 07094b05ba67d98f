# ephost_add_plugin(<name> SOURCES source ... [LIBRARIES library ...])
#
# Declares a plugin: a module library that exports eph_plugin_v1 and nothing else, has no undefined
# symbols, and can be unloaded (no GNU unique symbols). LIBRARIES are linked privately. The language
# level is C11 and C++17 unless the project or the target asks for a later one.
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
  if(NOT DEFINED CMAKE_C_STANDARD)
    set_target_properties(${name} PROPERTIES C_STANDARD 11)
  endif()
  if(NOT DEFINED CMAKE_CXX_STANDARD)
    set_target_properties(${name} PROPERTIES CXX_STANDARD 17)
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
    target_compile_options(${name} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
    target_link_options(${name} PRIVATE "LINKER:--version-script=${script}")
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${script})
    # A sanitizer's run-time library is found in the host, so its symbols stay undefined here.
    if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize" AND NOT EPHOST_SANITIZE)
      target_link_options(${name} PRIVATE "LINKER:--no-undefined")
    endif()
  endif()
endfunction()
