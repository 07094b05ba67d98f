// What constant folding may use in all while a session is created, so that a small model cannot ask
// for any amount of memory and time. Both limits count what does not depend on the machine: which
// nodes are folded, and so what a cached compilation was made from, follows from the model and the
// limits alone. That is why there is no limit in seconds: time ends the creation of a session (see
// Cancellation) and never changes its result.
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
  // By how much all constants together may exceed the model's own, at any time.
  uint64_t max_bytes = uint64_t{1} << 30;
  // In units of fold_work.h: about one for each element that is read or written and for each
  // multiplication. The default is some seconds' worth on one core.
  uint64_t max_work = 10'000'000'000;
};

// The bytes that a constant holds.
[[nodiscard]] uint64_t stored_bytes(const graph::Tensor& tensor);

// What is left of the limits of one model. A plain value; lives as long as the model is optimized.
class FoldBudget {
 public:
  explicit FoldBudget(const FoldLimits& limits = {})
      : limits_(limits), work_left_(limits.max_work) {}

  // Counts the constants of a model, subgraphs and `Constant` nodes included. Constants that came
  // since the last count other than by `add`, as the bodies of functions bring some, are the
  // model's own.
  void recount(const graph::Graph& graph);
  // A constant came, or went. Constants that share their data are counted once.
  void add(const graph::Tensor& tensor);
  void remove(const graph::Tensor& tensor);
  // That `remove` would free; 0 for data that another constant shares.
  [[nodiscard]] uint64_t bytes_of(const graph::Tensor& tensor) const;
  // By which the constants may still grow.
  [[nodiscard]] uint64_t bytes_left() const;

  [[nodiscard]] uint64_t work_left() const { return work_left_; }
  // At most a tenth of all: kernels cannot be interrupted, and whoever cancels should not wait for
  // one of them for longer than about a second.
  [[nodiscard]] uint64_t work_left_for_a_node() const {
    return std::min(work_left_, limits_.max_work / 10);
  }
  // Takes what there is where that is less.
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
  uint64_t own_bytes_ = 0;                           // of the model
};

}  // namespace ephost::optimize
