// NonMaxSuppression: selects the boxes with the best scores among those that overlap.
#include <algorithm>
#include <optional>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

struct Box {
  float low_y, low_x, high_y, high_x;

  [[nodiscard]] float area() const { return (high_y - low_y) * (high_x - low_x); }
};

// Intersection over union; 0 for boxes without an area.
float overlap(const Box& a, const Box& b) {
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (!(height > 0) || !(width > 0)) return 0;
  const float shared = height * width;
  const float all = a.area() + b.area() - shared;
  return all > 0 ? shared / all : 0;
}

class NonMaxSuppression final : public Kernel {
 public:
  explicit NonMaxSuppression(const NodeContext& context)
      : Kernel(context), centered_(context.node().get_int("center_point_box", 0) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims boxes = dims_of(*run.input(0));
    const Dims scores = dims_of(*run.input(1));
    if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
        boxes[1] != scores[2]) {
      fail("boxes of shape " + to_string(boxes) + " do not fit scores of shape " +
           to_string(scores));
    }
    const int64_t count = boxes[1];
    const int64_t limit = std::clamp<int64_t>(optional_int(run, 2), 0, count);
    const float iou_limit = optional_float(run, 3).value_or(0);
    if (!(iou_limit >= 0 && iou_limit <= 1)) fail("iou_threshold is outside of 0..1");
    const std::optional<float> score_limit = optional_float(run, 4);

    const int64_t classes = scores[1];
    const int64_t capacity = checked_multiply(checked_multiply(scores[0], classes), limit);
    auto* selected = scratch<int64_t>(run, checked_multiply(capacity, 3));
    auto* candidates = scratch<int64_t>(run, count);
    int64_t found = 0;
    for (int64_t batch = 0; batch < scores[0] && limit > 0; ++batch) {
      const float* box_data = run.input_data<float>(0) + batch * count * 4;
      for (int64_t c = 0; c < classes; ++c) {
        const float* score = run.input_data<float>(1) + (batch * classes + c) * count;
        const auto is_worse = [score](int64_t a, int64_t b) {
          return score[a] != score[b] ? score[a] < score[b] : a > b;
        };
        // Candidates come off a heap, best first, since usually not all are needed.
        int64_t left = find_candidates(score, count, score_limit, candidates);
        std::make_heap(candidates, candidates + left, is_worse);
        const int64_t first = found;
        while (left > 0 && found - first < limit) {
          std::pop_heap(candidates, candidates + left, is_worse);
          const int64_t best = candidates[--left];
          const Box box = read(box_data, best);
          bool clear = true;
          for (int64_t s = first; clear && s < found; ++s) {
            clear = !(overlap(box, read(box_data, selected[s * 3 + 2])) > iou_limit);
          }
          if (!clear) continue;
          selected[found * 3] = batch;
          selected[found * 3 + 1] = c;
          selected[found * 3 + 2] = best;
          ++found;
        }
      }
    }
    std::copy_n(selected, found * 3,
                data<int64_t>(allocate_output(run, 0, EPH_ELEMENT_INT64, {found, 3})));
  }

 private:
  template <class T>
  static T* scratch(eph::Run& run, int64_t count) {
    const int64_t bytes = checked_multiply(std::max<int64_t>(count, 1), sizeof(T));
    return static_cast<T*>(run.scratch(static_cast<uint64_t>(bytes)));
  }

  // 0 if it is omitted.
  static int64_t optional_int(const eph::Run& run, uint32_t input) {
    return run.input(input) != nullptr ? read_int(*run.input(input)) : 0;
  }
  static std::optional<float> optional_float(const eph::Run& run, uint32_t input) {
    if (run.input(input) == nullptr) return std::nullopt;
    if (element_count(eph::shape_of(*run.input(input))) != 1) {
      fail("input " + std::to_string(input) + " is not a single number");
    }
    return *run.input_data<float>(input);
  }

  // The boxes whose score is above the limit. NaN is not a score.
  static int64_t find_candidates(const float* score, int64_t count,
                                 const std::optional<float>& limit, int64_t* candidates) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (limit ? score[i] > *limit : score[i] == score[i]) candidates[found++] = i;
    }
    return found;
  }

  [[nodiscard]] Box read(const float* boxes, int64_t index) const {
    const float* v = boxes + index * 4;
    if (centered_) {  // x and y of the centre, width, height
      return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
    }
    // Any two opposite corners.
    return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
  }

  bool centered_;
};

constexpr KernelEntry kNonMaxSuppressionKernels[] = {
    {"NonMaxSuppression", 10, kNewest, kTwoInputs,
     kInputTypes<kOnlyFloat, kOnlyFloat, kInt64, kOnlyFloat, kOnlyFloat>, &make<NonMaxSuppression>},
};

}  // namespace

Table non_max_suppression_kernels() { return kNonMaxSuppressionKernels; }

}  // namespace ephost_cpu
