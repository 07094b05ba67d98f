// failing_library.h: a oneDNN that fails to run what a test chooses, or touches memory beyond an
// argument when it does. This program's own dnnl_primitive_execute comes before the library's in
// the order of symbols, and calls it.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace ephost::test {

// What is known about a primitive that is about to run.
struct Execution {
  dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
  std::string implementation;  // "brg:avx512_core"
  bool has_post_ops = false;
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

// While it lives, every execution for which `strays` returns true also accesses `distance` bytes
// from the first byte of its output, and of these from its end where that is not negative. One at a
// time, in a host that runs nothing meanwhile but trials.
class StrayingLibrary {
 public:
  using Predicate = std::function<bool(const Execution&)>;
  StrayingLibrary(Predicate strays, int64_t distance, bool writes);
  ~StrayingLibrary();
  StrayingLibrary(const StrayingLibrary&) = delete;
  StrayingLibrary& operator=(const StrayingLibrary&) = delete;

  [[nodiscard]] int accesses() const { return accesses_; }

  // Called by dnnl_primitive_execute; any thread.
  void stray(const Execution& execution, const_dnnl_memory_t output);

 private:
  Predicate strays_;
  int64_t distance_;
  bool writes_;
  std::atomic<int> accesses_ = 0;
};

}  // namespace ephost::test
