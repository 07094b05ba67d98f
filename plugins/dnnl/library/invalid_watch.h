// invalid_watch.h: notices on which of OpenMP's threads an operation on floats was invalid, as IEEE
// 754 has it: one that makes NaN of numbers, or one that compares NaN with something, which every
// maximum, minimum and ordered comparison does. The processor keeps that in a flag for each thread,
// at no cost.
//
// The library loses NaN where its code compares: Relu, Clip, Exp, Softmax, maximum pooling. NaN
// that is not compared is handed on. So if nothing was invalid, no NaN has been lost.
#pragma once

#include <cstdint>

namespace ephost_dnnl {

// For the work of the thread that makes it, and of its team with as many threads as OpenMP has for
// it at that time, until it is asked. Each of the two takes as long as a barrier.
class InvalidWatch {
 public:
  InvalidWatch();
  InvalidWatch(const InvalidWatch&) = delete;
  InvalidWatch& operator=(const InvalidWatch&) = delete;
  // The calling thread's flag is what it would be without the watch.
  ~InvalidWatch();

  // Whether something was invalid since. Also if that cannot be known, because a thread of the team
  // has been replaced by another: libgomp ends threads that a smaller team does not need.
  [[nodiscard]] bool has_seen_any() const;

 private:
  const uint64_t number_;
  const bool was_raised_;
};

}  // namespace ephost_dnnl
