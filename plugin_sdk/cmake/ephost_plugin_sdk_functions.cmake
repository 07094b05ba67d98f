# ephost_add_plugin(<name> SOURCES source ... [LIBRARIES library ...]
#                   [MANIFEST manifest ... [DESTINATION folder] [COMPONENT component]])
#
# Declares a plugin: a module library that exports eph_plugin_v1 and nothing else, has no undefined
# symbols, and can be unloaded (no GNU unique symbols). LIBRARIES are linked privately. The language
# level is C11 and C++17 unless the project or the target asks for a later one.
#
# MANIFEST names the plugin's manifests. In the build tree they are copied beside the library. The
# install step puts library and manifests where hosts look for them: the library into
# ${EPHOST_PLUGIN_LIBDIR}/ephost/plugins and the manifests into ${CMAKE_INSTALL_DATADIR}/ephost/plugins,
# or both into DESTINATION. It writes the SHA-256 of the installed library into the `sha256` of the
# installed manifests, for the platform that was built for; digests of other platforms stay.
#
# EPHOST_PLUGIN_LIBDIR is the folder for libraries of the host that the SDK was released with, such
# as lib/x86_64-linux-gnu.
function(ephost_add_plugin name)
  cmake_parse_arguments(arg "" "DESTINATION;COMPONENT" "SOURCES;LIBRARIES;MANIFEST" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ephost_add_plugin(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "ephost_add_plugin(${name}): no SOURCES given")
  endif()
  if(NOT arg_MANIFEST AND (arg_DESTINATION OR arg_COMPONENT))
    message(FATAL_ERROR "ephost_add_plugin(${name}): DESTINATION and COMPONENT need a MANIFEST")
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
  if(arg_MANIFEST)
    ephost_install_plugin(${name} "${arg_MANIFEST}" "${arg_DESTINATION}" "${arg_COMPONENT}")
  endif()
endfunction()

# What ephost_add_plugin does for MANIFEST.
function(ephost_install_plugin name manifests destination component)
  include(GNUInstallDirs)
  set(manifest_destination ${destination})
  if(NOT destination)
    if(NOT EPHOST_PLUGIN_LIBDIR)
      set(EPHOST_PLUGIN_LIBDIR ${CMAKE_INSTALL_LIBDIR})
    endif()
    set(destination ${EPHOST_PLUGIN_LIBDIR}/ephost/plugins)
    set(manifest_destination ${CMAKE_INSTALL_DATADIR}/ephost/plugins)
  endif()
  if(component)
    set(component COMPONENT ${component})
  endif()
  string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" platform)
  string(REGEX REPLACE "-(amd64|x64)$" "-x86_64" platform "${platform}")
  string(REGEX REPLACE "-arm64$" "-aarch64" platform "${platform}")
  install(TARGETS ${name} LIBRARY DESTINATION ${destination} ${component})
  foreach(manifest IN LISTS manifests)
    get_filename_component(manifest "${manifest}" ABSOLUTE)
    get_filename_component(file "${manifest}" NAME)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E copy_if_different "${manifest}" "$<TARGET_FILE_DIR:${name}>"
      VERBATIM)
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${manifest}")
    # After the library, which the install step may strip or change the search path of.
    install(CODE "
      set(platform \"${platform}\")
      set(manifest \"${manifest}\")
      set(library \"$<TARGET_FILE_NAME:${name}>\")
      set(library_folder \"${destination}\")
      set(folder \"${manifest_destination}\")
      include(\"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ephost_install_manifest.cmake\")"
      ${component})
  endforeach()
endfunction()
