// How protobuf's arenas take memory here: in larger pieces than by default, as graphs are large.
#pragma once

#include <google/protobuf/arena.h>

namespace ephost::onnx_io {

[[nodiscard]] inline google::protobuf::ArenaOptions arena_options() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = size_t{16} << 10;
  // Blocks that malloc keeps when they are freed, for what is made of the message. It gives larger
  // ones back to the system, and all that comes after would touch new pages.
  options.max_block_size = size_t{64} << 10;
  return options;
}

}  // namespace ephost::onnx_io
