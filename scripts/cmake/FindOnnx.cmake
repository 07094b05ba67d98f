# Finds onnx and defines the targets ONNX::onnx and ONNX::onnx_proto. Its package file names them so since version 1.17,
# and before `onnx` and `onnx_proto`.
find_package(ONNX QUIET CONFIG)
foreach(target onnx onnx_proto)
  if(TARGET ${target} AND NOT TARGET ONNX::${target})
    add_library(ONNX::${target} ALIAS ${target})
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Onnx REQUIRED_VARS ONNX_DIR ONNX_VERSION VERSION_VAR ONNX_VERSION)
