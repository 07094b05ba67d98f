// failing_library.h: a oneDNN that fails to run what a test chooses. This program's own
// dnnl_primitive_execute comes before the library's in the order of symbols, and calls it.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <functional>
#include <string>

namespace ephost::test {

// What is known about a primitive that is about to run.
struct Execution {
  dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
  std::string implementation;  // "brg:avx512_core"
};

// While it lives, every execution in the process for which `fails` returns true ends with
// dnnl_runtime_error without having run. One at a time.
class FailingLibrary {
 public:
  using Predicate = std::function<bool(const Execution&)>;
  explicit FailingLibrary(Predicate fails);
  ~FailingLibrary();
  FailingLibrary(const FailingLibrary&) = delete;
  FailingLibrary& operator=(const FailingLibrary&) = delete;

  [[nodiscard]] int failures() const { return failures_; }

  // Called by dnnl_primitive_execute; any thread.
  [[nodiscard]] bool fails(const Execution& execution);

 private:
  Predicate fails_;
  std::atomic<int> failures_ = 0;
};

}  // namespace ephost::test
