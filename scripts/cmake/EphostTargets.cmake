# What every target of the tree shares: language level, warnings, sanitizers, assertions, and the
# helpers that declare a host module and a test.

option(EPHOST_WERROR "Treat warnings as errors" OFF)
option(EPHOST_ASSERTIONS "Keep assert() and the plan proofs in optimised builds" OFF)
set(EPHOST_SANITIZE "" CACHE STRING "Sanitizers for the whole tree, e.g. address,undefined or thread")

add_library(ephost_build_flags INTERFACE)
target_compile_features(ephost_build_flags INTERFACE cxx_std_20)
target_compile_options(ephost_build_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Woverloaded-virtual
  -Wno-missing-field-initializers $<$<BOOL:${EPHOST_WERROR}>:-Werror>)
# All symbols are bound at the start, into tables that are then read-only: safer, and no first call
# is slower than the ones after it.
target_link_options(ephost_build_flags INTERFACE LINKER:-z,relro,-z,now)

if(EPHOST_SANITIZE)
  add_compile_options(-fsanitize=${EPHOST_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${EPHOST_SANITIZE})
  if(EPHOST_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  # gcc 12 reports maybe-uninitialized and similar in its own headers under sanitizers.
  add_compile_options(
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized;-Wno-maybe-uninitialized>")
endif()

if(EPHOST_ASSERTIONS)
  string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()
# Line tables are enough to read a stack trace and halve the time to write and link objects.
string(REPLACE "-g" "-g1" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

# ephost_add_module(<name> SOURCES ... [DEPENDS module ...] [LIBRARIES private library ...])
# Declares host/<name> as the static target ephost_<name>. DEPENDS names the modules whose headers it
# may include; LIBRARIES are third-party ones that stay behind its own headers.
function(ephost_add_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(ephost_${name} STATIC ${arg_SOURCES})
  target_include_directories(ephost_${name} PUBLIC
    ${PROJECT_SOURCE_DIR} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/host/include>)
  set_target_properties(ephost_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  list(TRANSFORM arg_DEPENDS PREPEND ephost_)
  target_link_libraries(ephost_${name} PUBLIC ${arg_DEPENDS}
    PRIVATE ephost_build_flags ${arg_LIBRARIES})
endfunction()

# ephost_add_test(<name> SOURCES ... [DEPENDS module ...] [LIBRARIES ...] [DEFINITIONS ...])
# Declares a GoogleTest binary whose cases appear one by one in ctest.
function(ephost_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES;DEFINITIONS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  list(TRANSFORM arg_DEPENDS PREPEND ephost_)
  target_link_libraries(${name} PRIVATE
    ephost_build_flags ${arg_DEPENDS} ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()
