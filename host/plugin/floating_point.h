// How a thread rounds and whether it flushes small numbers to zero. A plugin that changes this and
// does not restore it changes the results of everybody who computes on the thread afterwards; a
// library that was linked with -ffast-math does so when it is loaded.
#pragma once

#include <cfenv>
#include <cstdint>

namespace ephost::plugin {

#if defined(__x86_64__)

class FloatingPointControl {
 public:
  // Of the calling thread.
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
  static constexpr uint32_t kVectorFlags = 0x3f;  // what was raised, which everybody changes

  uint32_t vector_ = 0;
  uint16_t x87_ = 0;
};

#else

// The rounding mode is what C knows of elsewhere.
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
