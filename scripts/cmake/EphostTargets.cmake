# Shared by all targets of the tree: language level, warnings, sanitizers, assertions, and the helpers that declare a
# host module and a test.

option(EPHOST_WERROR "Treat warnings as errors" OFF)
set(EPHOST_LINKER AUTO CACHE STRING
  "The linker: `mold`, `lld`, AUTO for the first of them that is installed, or DEFAULT for the compiler's own")
option(EPHOST_CHECKED_CONTAINERS
  "Check the preconditions of the standard library; iterators too where no library stands between" OFF)
set(EPHOST_SANITIZE "" CACHE STRING "Sanitizers for the whole tree, e.g. address,undefined or thread")

add_library(ephost_build_flags INTERFACE)
target_compile_features(ephost_build_flags INTERFACE cxx_std_20)
target_compile_options(ephost_build_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Woverloaded-virtual
  -Wconversion -Wno-missing-field-initializers $<$<BOOL:${EPHOST_WERROR}>:-Werror>)
# All symbols are bound at load time, into tables that are read-only afterwards: this is safer, and the first call of a
# function is as fast as later ones.
target_link_options(ephost_build_flags INTERFACE LINKER:-z,relro,-z,now)

if(EPHOST_LINKER STREQUAL "AUTO")
  find_program(EPHOST_MOLD mold)
  find_program(EPHOST_LLD ld.lld)
  if(EPHOST_MOLD)
    add_link_options(-fuse-ld=mold)
  elseif(EPHOST_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
elseif(NOT EPHOST_LINKER STREQUAL "DEFAULT")
  add_link_options(-fuse-ld=${EPHOST_LINKER})
endif()

if(EPHOST_SANITIZE)
  add_compile_options(-fsanitize=${EPHOST_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${EPHOST_SANITIZE})
  if(EPHOST_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  # gcc 12 gives false reports of these kinds in its own headers under sanitizers.
  add_compile_options(
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized;-Wno-maybe-uninitialized>")
  if(EPHOST_SANITIZE MATCHES "thread")
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object>)
  endif()
endif()

# _GLIBCXX_ASSERTIONS changes no layout and applies to everything. _GLIBCXX_DEBUG changes the layout of containers: it
# can only be used for code that passes no containers to C++ libraries that were built without it (onnx, protobuf,
# yaml-cpp, spdlog). These are the plugins, which are called through a C interface and use oneDNN's, and the modules of
# this list, which are built a second time, with the programs of their unit tests.
set(EPHOST_CHECKED_MODULES "")
if(EPHOST_CHECKED_CONTAINERS)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  set(EPHOST_CHECKED_MODULES base graph optimize partition plan)
endif()

# ephost_check_containers(<target> <scope>) builds a target with _GLIBCXX_DEBUG if that is enabled; with scope PUBLIC
# also the targets that link it.
function(ephost_check_containers target scope)
  if(EPHOST_CHECKED_CONTAINERS)
    target_compile_definitions(${target} ${scope} _GLIBCXX_DEBUG)
  endif()
endfunction()

# EPHOST_MODULES: the modules of the host, from the lowest up; EPHOST_INCLUDES_<module>: those that it may include.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/modules.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/host/modules.txt lines REGEX "^[a-z_]+:")
set(EPHOST_MODULES "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([a-z_]+): *(.*)$" line "${line}")
  list(APPEND EPHOST_MODULES ${CMAKE_MATCH_1})
  string(REPLACE " " ";" EPHOST_INCLUDES_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# ephost_add_module(<name> SOURCES ... [DEPENDS module ...] [LIBRARIES library ...] [PUBLIC_LIBRARIES library ...])
# Declares host/<name> as the static target ephost_<name>, which links the modules that it may include. DEPENDS names
# others; LIBRARIES are third-party ones that stay behind its own headers, PUBLIC_LIBRARIES those that its headers
# include.
function(ephost_add_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES;PUBLIC_LIBRARIES" ${ARGN})
  ephost_add_module_variant(${name} "")
  if(name IN_LIST EPHOST_CHECKED_MODULES)
    list(TRANSFORM arg_LIBRARIES REPLACE "^spdlog::spdlog$" "spdlog::spdlog_header_only")
    ephost_add_module_variant(${name} _checked)
    ephost_check_containers(ephost_${name}_checked PUBLIC)
  endif()
endfunction()

macro(ephost_add_module_variant name suffix)
  set(target ephost_${name}${suffix})
  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/host/include>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(depends ${EPHOST_INCLUDES_${name}} ${arg_DEPENDS})
  list(TRANSFORM depends REPLACE "(.+)" "ephost_\\1${suffix}")
  target_link_libraries(${target}
    PUBLIC ${depends} ${arg_PUBLIC_LIBRARIES} PRIVATE ephost_build_flags ${arg_LIBRARIES})
endmacro()

# ephost_build_quickly(<target>) is for test code: it takes less time to run than to optimize, and nearly all of it
# includes GoogleTest's headers, which are precompiled once for all targets. The checks of UndefinedBehaviorSanitizer
# double the time that it takes to compile, and find more in what is tested.
function(ephost_build_quickly target)
  if(EPHOST_SANITIZE)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
  elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -Og)
  endif()
  # If _GLIBCXX_DEBUG applies to some targets only, their headers differ.
  if(TARGET ephost_test_headers AND NOT EPHOST_CHECKED_CONTAINERS)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
    if(NOT target STREQUAL "ephost_test_headers")
      target_precompile_headers(${target} REUSE_FROM ephost_test_headers)
    endif()
  endif()
endfunction()

# ephost_label_test(<target> <label>) lets `ctest -L <label>` run the tests of a binary, and the target
# tests_<label> build it.
function(ephost_label_test target label)
  set_property(TARGET ${target} APPEND PROPERTY EPHOST_LABELS ${label})
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${target})
endfunction()

# ephost_add_test(<name> [THREADED] [CHECKED] [SPINNING] [UNSANITIZED <filter>] [what ephost_test_sources takes])
# Declares a GoogleTest program whose cases appear one by one in ctest. Their label is the folder in tests/, e.g.
# `unit`; THREADED adds the label `threaded`, for programs with tests in which several threads take part. CHECKED
# programs link the checked variants of modules. SPINNING programs are about how threads of OpenMP wait, which
# scripts/run_ctest.sh decides for all others. Programs are few and large, as each links most of the host: the folders
# of a subject add their sources to one program. Sanitized programs start too slowly for a process by case: ctest runs a
# few shards of each, without the cases of the filter UNSANITIZED, which take minutes there and show nothing more; under
# ThreadSanitizer those of sources that mention threads, and all with `ctest -C long`.
function(ephost_add_test name)
  cmake_parse_arguments(arg "THREADED;CHECKED;SPINNING" "UNSANITIZED" "" ${ARGN})
  add_executable(${name})
  set_target_properties(${name} PROPERTIES EPHOST_CHECKED ${arg_CHECKED})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ephost_build_flags ephost_test_main)
  ephost_build_quickly(${name})
  ephost_test_sources(${name} ${arg_UNPARSED_ARGUMENTS})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" folder ${folder})
  ephost_label_test(${name} ${folder})
  if(arg_THREADED)
    ephost_label_test(${name} threaded)
  endif()
  # One label with both words, e.g. `unit-threaded`, which both find: gtest_discover_tests loses the
  # second label of a list.
  get_target_property(labels ${name} EPHOST_LABELS)
  list(JOIN labels "-" label)
  set(properties LABELS ${label})
  if(arg_SPINNING)
    list(APPEND properties ENVIRONMENT_MODIFICATION OMP_WAIT_POLICY=unset:)
  endif()
  if(EPHOST_SANITIZE STREQUAL "thread")
    set(threaded $<JOIN:$<TARGET_PROPERTY:${name},EPHOST_THREADED_SUITES>,:>)
    ephost_add_shards(${name}/threaded 3 "${threaded}" "${properties}" COMMAND ${name})
    ephost_add_shards(${name} 6 "-${arg_UNSANITIZED}" "${properties}" COMMAND ${name} CONFIGURATIONS long)
  elseif(EPHOST_SANITIZE)
    ephost_add_shards(${name} 6 "-${arg_UNSANITIZED}" "${properties}" COMMAND ${name})
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600 ${properties})
  endif()
endfunction()

# ephost_add_shards(<name> <count> <filter> <properties> COMMAND program [CONFIGURATIONS configuration])
# Runs the cases of a GoogleTest program in so many processes, beside each other.
function(ephost_add_shards name shards filter properties)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "COMMAND;CONFIGURATIONS" "")
  set(configurations)
  if(arg_CONFIGURATIONS)
    set(configurations CONFIGURATIONS ${arg_CONFIGURATIONS})
  endif()
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}/${shard}_of_${shards} ${configurations}
      COMMAND ${arg_COMMAND} --gtest_brief=1 "--gtest_filter=${filter}")
    set_tests_properties(${name}/${shard}_of_${shards} PROPERTIES TIMEOUT 1800 ${properties}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# Adds the suites of a source that mentions threads to those that always run under ThreadSanitizer; the others do with
# `ctest -C long`.
function(ephost_note_threads name source)
  get_filename_component(path ${source} ABSOLUTE)
  file(STRINGS ${path} mentions REGEX "std::j?thread|std::async|ThreadPool|run_async|num_threads" LIMIT_COUNT 1)
  if(NOT mentions)
    return()
  endif()
  file(STRINGS ${path} cases REGEX "^(TEST|TEST_F|TEST_P)\\(")
  list(TRANSFORM cases REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+).*" "*\\1.*")
  list(REMOVE_DUPLICATES cases)
  set_property(TARGET ${name} APPEND PROPERTY EPHOST_THREADED_SUITES ${cases})
endfunction()

# ephost_test_sources(<program> [SOURCES source ...] [DEPENDS module ...] [LIBRARIES library ...]
#                     [DEFINITIONS definition ...])
# Adds tests to a program of ephost_add_test, and what they need. DEFINITIONS apply to all of the program.
function(ephost_test_sources name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES;DEFINITIONS" ${ARGN})
  target_sources(${name} PRIVATE ${arg_SOURCES})
  if(EPHOST_SANITIZE STREQUAL "thread")
    foreach(source IN LISTS arg_SOURCES)
      ephost_note_threads(${name} ${source})
    endforeach()
  endif()
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  get_target_property(checked ${name} EPHOST_CHECKED)
  set(modules "")
  foreach(module IN LISTS arg_DEPENDS)
    if(checked AND TARGET ephost_${module}_checked)
      list(APPEND modules ephost_${module}_checked)
    else()
      list(APPEND modules ephost_${module})
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE ${modules} ${arg_LIBRARIES})
endfunction()
