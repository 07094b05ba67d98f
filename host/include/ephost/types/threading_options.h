// ThreadingOptions: the threads that the sessions of an environment share. As ONNX Runtime's
// OrtThreadingOptions.
#pragma once

#include <cstdint>
#include <string>

namespace ephost {

// A plain value. Sessions may set other numbers of threads; one that sets affinities or spinning
// has threads of its own (session.intra_op_thread_affinities, session.intra_op.allow_spinning).
struct ThreadingOptions {
  // The default of sessions; 0: one for each processor.
  uint32_t intra_op_num_threads = 0;
  uint32_t inter_op_num_threads = 0;
  // Which logical processors each thread but the calling one runs on; see
  // session.intra_op_thread_affinities. Empty: any.
  std::string intra_op_thread_affinities = {};
  // Whether idle threads wait actively for a few microseconds before they sleep.
  bool allow_spinning = true;
};

}  // namespace ephost
