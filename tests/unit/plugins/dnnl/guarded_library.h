// guarded_library.h: a oneDNN whose primitives run in guarded memory: each argument lies next to
// pages without access, once before them and once behind them, and what a primitive touches beyond
// its arguments is noted. dnnl_primitive_execute of failing_library.cc leads here.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <functional>
#include <string>
#include <vector>

namespace ephost::test {

// Calls the library.
using Execute = std::function<dnnl_status_t(const_dnnl_primitive_t, dnnl_stream_t,
                                            const std::vector<dnnl_exec_arg_t>&)>;

// While it lives, every execution of its thread in which no other such object lives is guarded.
// Results are those of the guarded runs.
class GuardedLibrary {
 public:
  GuardedLibrary();
  ~GuardedLibrary();
  GuardedLibrary(const GuardedLibrary&) = delete;
  GuardedLibrary& operator=(const GuardedLibrary&) = delete;

  // "jit:avx2 writes 8 bytes behind argument 17", in order.
  [[nodiscard]] const std::vector<std::string>& touches() const { return touches_; }

  // The one of this thread, if any.
  [[nodiscard]] static GuardedLibrary* current();

  // Called by dnnl_primitive_execute.
  dnnl_status_t execute(const std::string& implementation, const_dnnl_primitive_t primitive,
                        dnnl_stream_t stream, const std::vector<dnnl_exec_arg_t>& arguments,
                        const Execute& library);

 private:
  std::vector<std::string> touches_;
};

}  // namespace ephost::test
