// WorkArea: cuts one piece of memory into aligned parts: the planned workspace where it is large
// enough, else scratch memory of the run. take_scratch: one array of scratch memory.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

// Scratch memory of the run for that many elements; never null.
template <class T>
T* take_scratch(eph::Run& run, int64_t count) {
  const int64_t bytes = checked_multiply(count, sizeof(T));
  return static_cast<T*>(run.scratch(static_cast<uint64_t>(bytes == 0 ? 1 : bytes)));
}

// First used without memory, to find out how much is needed; then with it. Both times the same
// parts are taken in the same order.
class WorkArea {
 public:
  WorkArea() = default;
  WorkArea(eph::Run& run, uint64_t bytes, uint64_t workspace_bytes) {
    if (bytes == 0) return;
    next_ = static_cast<char*>(bytes <= workspace_bytes ? run.workspace() : run.scratch(bytes));
  }

  // Memory for that many elements; null without memory.
  template <class T>
  T* take(int64_t count) {
    return static_cast<T*>(take_bytes(checked_multiply(count, sizeof(T))));
  }
  void* take_bytes(int64_t bytes) {
    const int64_t rounded = checked_add(bytes, 63) / 64 * 64;
    used_ = checked_add(used_, rounded);
    void* taken = next_;
    if (next_ != nullptr) next_ += rounded;
    return taken;
  }

  [[nodiscard]] uint64_t used() const { return static_cast<uint64_t>(used_); }

 private:
  char* next_ = nullptr;
  int64_t used_ = 0;
};

}  // namespace ephost_cpu
