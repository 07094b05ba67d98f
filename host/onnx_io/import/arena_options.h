// Options for protobuf arenas: larger blocks than by default, as graphs are large.
#pragma once

#include <google/protobuf/arena.h>

namespace ephost::onnx_io {

[[nodiscard]] inline google::protobuf::ArenaOptions arena_options() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = size_t{16} << 10;
  // Blocks of a size that malloc keeps when they are freed, for whatever is built from the message.
  // It returns larger blocks to the system, and all later allocations would fault in new pages.
  options.max_block_size = size_t{64} << 10;
  return options;
}

}  // namespace ephost::onnx_io
