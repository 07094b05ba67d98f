// The rounding mode of a thread, and whether it flushes denormals to zero. A plugin that changes
// these without restoring them changes the results of all later computations on the thread; a
// library linked with -ffast-math does so when it is loaded.
#pragma once

#include <cfenv>
#include <cstdint>

namespace ephost::plugin {

#if defined(__x86_64__)

class FloatingPointControl {
 public:
  // The control of the calling thread.
  static FloatingPointControl read() noexcept {
    FloatingPointControl control;
    control.vector_ = __builtin_ia32_stmxcsr() & ~kVectorFlags;
    __asm__ volatile("fnstcw %0" : "=m"(control.x87_));
    return control;
  }
  void restore() const noexcept {
    __builtin_ia32_ldmxcsr(vector_);
    __asm__ volatile("fldcw %0" : : "m"(x87_));
  }
  friend bool operator==(const FloatingPointControl&, const FloatingPointControl&) = default;

 private:
  static constexpr uint32_t kVectorFlags = 0x3f;  // exception flags, which any computation changes

  uint32_t vector_ = 0;
  uint16_t x87_ = 0;
};

#else

// On other machines, the rounding mode is all that standard C offers.
class FloatingPointControl {
 public:
  static FloatingPointControl read() noexcept {
    FloatingPointControl control;
    control.rounding_ = std::fegetround();
    return control;
  }
  void restore() const noexcept { std::fesetround(rounding_); }
  friend bool operator==(const FloatingPointControl&, const FloatingPointControl&) = default;

 private:
  int rounding_ = 0;
};

#endif

}  // namespace ephost::plugin
