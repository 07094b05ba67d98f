// How protobuf's arenas take memory here: in larger pieces than by default, as graphs are large.
#pragma once

#include <google/protobuf/arena.h>

namespace ephost::onnx_io {

[[nodiscard]] inline google::protobuf::ArenaOptions arena_options() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = size_t{16} << 10;
  options.max_block_size = size_t{1} << 20;
  return options;
}

}  // namespace ephost::onnx_io
