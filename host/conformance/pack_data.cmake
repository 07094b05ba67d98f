# cmake -DSOURCE=DIR -DTARGET=DIR -DLICENSE=FILE -P pack_data.cmake
# Copies the small ones of ONNX's backend tests from SOURCE to TARGET, with their license.
cmake_minimum_required(VERSION 3.25)
set(most_bytes 65536) # of one test; the few larger ones are four fifths of all bytes

file(REMOVE_RECURSE ${TARGET})
foreach(group node simple pytorch-converted pytorch-operator)
  file(GLOB tests LIST_DIRECTORIES true ${SOURCE}/${group}/*)
  foreach(test IN LISTS tests)
    file(GLOB_RECURSE files ${test}/*)
    set(bytes 0)
    foreach(file IN LISTS files)
      file(SIZE ${file} size)
      math(EXPR bytes "${bytes} + ${size}")
    endforeach()
    if(files AND bytes LESS_EQUAL most_bytes)
      file(COPY ${test} DESTINATION ${TARGET}/${group} NO_SOURCE_PERMISSIONS)
    endif()
  endforeach()
endforeach()
file(WRITE ${TARGET}/README "\
The small backend tests of ONNX (https://github.com/onnx/onnx), unchanged, which are under the Apache\n\
License 2.0. LICENSE lists the holders of the rights.\n")
if(EXISTS "${LICENSE}")
  file(COPY_FILE ${LICENSE} ${TARGET}/LICENSE)
endif()
