// The budget of all constant folding while a session is created, so that a small model
// cannot demand unlimited memory and time. Both limits are independent of the machine: which nodes
// are folded, and so what a cached compilation was made from, depends on the model and the limits
// alone. That is why there is no limit in seconds: the load timeout (see Cancellation) fails the
// creation of a session and never changes its result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "host/graph/graph.h"

namespace ephost::optimize {

// The configuration entries that set the limits, for messages.
inline constexpr std::string_view kMaxFoldedBytesKey = "optimization.constant_folding_max_bytes";
inline constexpr std::string_view kMaxFoldingWorkKey = "optimization.constant_folding_max_work";

struct FoldLimits {
  // The number of bytes by which all constants together may exceed the model's own, at any time.
  uint64_t max_bytes = uint64_t{1} << 30;
  // In units of fold_work.h: about one for each element that is read or written and for each
  // multiplication. The default is a few seconds' worth on one core.
  uint64_t max_work = 10'000'000'000;
};

// The number of bytes that a constant holds.
[[nodiscard]] uint64_t stored_bytes(const graph::Tensor& tensor);

// The remaining budget of one model. A plain value; lives as long as the model is optimized.
class FoldBudget {
 public:
  explicit FoldBudget(const FoldLimits& limits = {})
      : limits_(limits), work_left_(limits.max_work) {}

  // Counts the constants of a model, including subgraphs and `Constant` nodes. Constants that
  // appeared since the last count other than by `add` (bodies of functions bring some) count as the
  // model's own.
  void recount(const graph::Graph& graph);
  // Records that a constant was added or removed. Constants that share their data count once.
  void add(const graph::Tensor& tensor);
  void remove(const graph::Tensor& tensor);
  // The bytes that `remove` would free; 0 for data that another constant shares.
  [[nodiscard]] uint64_t bytes_of(const graph::Tensor& tensor) const;
  // The number of bytes by which the constants may still grow.
  [[nodiscard]] uint64_t bytes_left() const;

  [[nodiscard]] uint64_t work_left() const { return work_left_; }
  // At most a tenth of the total: kernels cannot be interrupted, and a caller that cancels should
  // not wait for one of them for longer than about a second.
  [[nodiscard]] uint64_t work_left_for_a_node() const {
    return std::min(work_left_, limits_.max_work / 10);
  }
  // Takes the remainder if that is less.
  void spend(uint64_t work) { work_left_ -= work < work_left_ ? work : work_left_; }

  [[nodiscard]] const FoldLimits& limits() const { return limits_; }

 private:
  struct Buffer {
    uint64_t bytes = 0;
    uint64_t uses = 0;
  };
  void add_all(const graph::Graph& graph);

  FoldLimits limits_;
  uint64_t work_left_;
  std::unordered_map<const void*, Buffer> buffers_;  // by address
  uint64_t bytes_ = 0;                               // of `buffers_`
  uint64_t own_bytes_ = 0;                           // of the model's own constants
};

}  // namespace ephost::optimize
