# Plugins that are built from other headers than this host: those of the tags in frozen_tags.txt, which
# scripts/export_abi.sh writes, and those of a later version, which scripts/grow_abi.py makes.

# ephost_add_foreign_plugins(<name> <include folder> <folder of the plugins' sources>)
# Builds the example in C and the strict plugin in C++, and runs them under this host.
function(ephost_add_foreign_plugins name include sources)
  set(plugins ${CMAKE_CURRENT_BINARY_DIR}/foreign/${name})
  set(sdk ${PROJECT_SOURCE_DIR}/plugin_sdk/cmake)
  foreach(plugin minimal_provider.c strict_plugin.cc)
    get_filename_component(stem ${plugin} NAME_WE)
    set(target foreign_${stem}_${name})
    add_library(${target} MODULE ${sources}/${plugin})
    # Nothing of today's SDK: neither its headers nor its target.
    target_include_directories(${target} PRIVATE ${include})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${sdk}/plugin.map")
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${stem} LIBRARY_OUTPUT_DIRECTORY ${plugins}
      C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
      POSITION_INDEPENDENT_CODE ON C_STANDARD 11 CXX_STANDARD 17)
  endforeach()
  configure_file(${sources}/minimal.yaml ${plugins}/minimal.yaml COPYONLY)
  configure_file(${sources}/strict.yaml ${plugins}/strict.yaml COPYONLY)
  add_test(NAME Abi.foreign_plugins_run/${name}
    COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_frozen_plugins.py
            --ephost $<TARGET_FILE:ephost> --plugins ${plugins}
            --work ${CMAKE_CURRENT_BINARY_DIR}/foreign/work_${name})
  set_tests_properties(Abi.foreign_plugins_run/${name} PROPERTIES TIMEOUT 300
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endfunction()

# ephost_export_frozen(<plugin|api> <out_dir> <out_names>)
# `out_dir` gets a folder with one of that interface for each of `out_names`: a source archive carries it, else git
# writes it. Without the history, there is nothing to compare with.
function(ephost_export_frozen interface out_dir out_names)
  set(exported ${PROJECT_SOURCE_DIR}/frozen/${interface})
  if(NOT EXISTS ${exported})
    set(exported ${CMAKE_CURRENT_BINARY_DIR}/frozen)
  endif()
  set(list ${PROJECT_SOURCE_DIR}/tests/abi/frozen_tags.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} tags REGEX "^[^#]")
  set(names "")
  foreach(tag IN LISTS tags)
    if(NOT EXISTS ${exported}/${tag})
      execute_process(
        COMMAND ${PROJECT_SOURCE_DIR}/scripts/export_abi.sh ${interface} ${tag} ${exported}/${tag}
        RESULT_VARIABLE failed ERROR_QUIET)
    endif()
    if(EXISTS ${exported}/${tag})
      list(APPEND names ${tag})
    else()
      message(WARNING "The interface of ${tag} is not compared: this folder is not a clone that has the tag")
    endif()
  endforeach()
  set(${out_dir} ${exported} PARENT_SCOPE)
  set(${out_names} ${names} PARENT_SCOPE)
endfunction()

ephost_export_frozen(plugin frozen_dir frozen_names)
find_program(EPHOST_ABIDIFF abidiff)
foreach(name IN LISTS frozen_names)
  ephost_add_foreign_plugins(${name} ${frozen_dir}/${name}/include ${frozen_dir}/${name}/plugins)
  add_test(NAME Abi.layout_has_frozen_prefix/${name}
    COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/layout_prefix.py
            ${frozen_dir}/${name}/layout.golden ${CMAKE_CURRENT_SOURCE_DIR}/layout.golden)
  if(EPHOST_ABIDIFF)
    add_test(NAME Abi.abidiff/${name}
      COMMAND ${PROJECT_SOURCE_DIR}/scripts/check_abi.sh ${frozen_dir}/${name})
  endif()
endforeach()

# A later version: one more field in every record that has a size.
set(grown ${CMAKE_CURRENT_BINARY_DIR}/grown)
file(GLOB_RECURSE grown_from CONFIGURE_DEPENDS ${include_dir}/ephost/*.h ${include_dir}/ephost/*.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${grown_from} layout.golden ${PROJECT_SOURCE_DIR}/host/plugin/record_layout.h
  ${PROJECT_SOURCE_DIR}/host/plugin/slots.h
  ${PROJECT_SOURCE_DIR}/scripts/grow_abi.py strict_plugin.cc strict.yaml
  ${PROJECT_SOURCE_DIR}/plugin_sdk/examples/minimal_provider.c
  ${PROJECT_SOURCE_DIR}/plugin_sdk/examples/minimal.yaml)
execute_process(COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/scripts/grow_abi.py plugin ${grown}
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
configure_file(strict_plugin.cc ${grown}/plugins/strict_plugin.cc COPYONLY)
configure_file(strict.yaml ${grown}/plugins/strict.yaml COPYONLY)
foreach(file minimal_provider.c minimal.yaml)
  configure_file(${PROJECT_SOURCE_DIR}/plugin_sdk/examples/${file} ${grown}/plugins/${file} COPYONLY)
endforeach()
ephost_add_foreign_plugins(grown ${grown}/include ${grown}/plugins)

# A host that knows these fields takes today's plugins: its edge of the ABI, built from the grown
# headers, and the example, built from today's.
ephost_add_test(abi_grown_host_test
  SOURCES grown_host_test.cc ${PROJECT_SOURCE_DIR}/host/plugin/adopt.cc
          ${PROJECT_SOURCE_DIR}/host/plugin/negotiate.cc
  DEPENDS plugin LIBRARIES minimal_provider_object)
target_include_directories(abi_grown_host_test BEFORE PRIVATE ${grown} ${grown}/include)

# The scripts themselves, with what they must find.
add_test(NAME Abi.layout_prefix_works
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/layout_prefix_test.py)
set_tests_properties(Abi.layout_prefix_works PROPERTIES ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
add_test(NAME Abi.freezing_works
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/freezing_test.sh ${PROJECT_SOURCE_DIR} ${grown}/include
          ${CMAKE_CURRENT_BINARY_DIR}/api/grown/include)
