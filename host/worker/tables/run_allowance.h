// The memory that a worker may make the host take within one call of compute, for outputs and
// values whose sizes the worker sets.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <map>
#include <span>

namespace ephost::worker {

// Used by one thread. Each function fails, with FAIL, where the worker would have more than it may.
class RunAllowance {
 public:
  // `bytes`: 0 for half of the machine's memory.
  explicit RunAllowance(uint64_t bytes) : limit_(bytes) {}

  // A tensor of the output, in place of the one that it had. An invalid shape is left for others
  // to refuse.
  [[nodiscard]] Status take_output(uint32_t output, int32_t element_type,
                                   std::span<const int64_t> shape);
  [[nodiscard]] Status take_tensor(int32_t element_type, std::span<const int64_t> shape);
  // Anything else, such as the text of an element.
  [[nodiscard]] Status take(uint64_t bytes);

 private:
  uint64_t limit_;
  uint64_t used_ = 0;
  std::map<uint32_t, uint64_t> outputs_;
};

}  // namespace ephost::worker
