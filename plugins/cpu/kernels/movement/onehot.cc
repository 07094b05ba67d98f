// OneHot: one of two values at the index's position, the other one elsewhere.
#include <algorithm>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

class OneHot final : public Kernel {
 public:
  explicit OneHot(const NodeContext& context)
      : Kernel(context), axis_(context.node().get_int("axis", -1)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& indices = *run.input(0);
    const eph_value& values = *run.input(2);
    if (element_count(eph::shape_of(values)) != 2) fail("values must be two: off and on");
    Dims out = dims_of(indices);
    if (out.size() == kMaxRank) fail_unsupported("indices of rank " + std::to_string(kMaxRank));
    const std::size_t axis = normalize_axis(axis_, out.size() + 1);
    const int64_t count = element_count(out);
    const int64_t depth = read_depth(*run.input(1));
    const int64_t outer = element_count(out, 0, axis);
    const int64_t inner = element_count(out, axis, out.size());
    out.insert(axis, depth);
    allocate_output(run, 0, values.element_type, out);
    if (element_count(out) == 0) return;

    void* copy = run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(int64_t))));
    convert(indices.data, indices.element_type, copy, EPH_ELEMENT_INT64, count);
    const auto* positions = static_cast<const int64_t*>(copy);
    const auto each = [&](const auto& set) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t index = positions[i] < 0 ? positions[i] + depth : positions[i];
        if (index < 0 || index >= depth) continue;
        set((i / inner * depth + index) * inner + i % inner);
      }
    };
    write(run, values, outer * depth * inner, each);
  }

 private:
  static int64_t read_depth(const eph_value& value) {
    if (element_count(eph::shape_of(value)) != 1) fail("depth must be a scalar");
    int64_t depth = 0;
    convert(value.data, value.element_type, &depth, EPH_ELEMENT_INT64, 1);
    if (depth < 0) fail("depth " + std::to_string(depth) + " is negative");
    return depth;
  }

  template <class Each>
  static void write(eph::Run& run, const eph_value& values, int64_t total, const Each& each) {
    if (values.element_type == EPH_ELEMENT_STRING) {
      const auto* texts = data<const eph_string>(values);
      for (int64_t i = 0; i < total; ++i) {
        run.set_string(0, static_cast<uint64_t>(i), eph::view(texts[0]));
      }
      each([&](int64_t at) { run.set_string(0, static_cast<uint64_t>(at), eph::view(texts[1])); });
      return;
    }
    dispatch_size(element_size(values.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* off_on = data<const T>(values);
      T* y = data<T>(*run.output(0));
      std::fill_n(y, total, off_on[0]);
      each([&](int64_t at) { y[at] = off_on[1]; });
    });
  }

  int64_t axis_;
};

constexpr KernelEntry kOnehotKernels[] = {
    {"OneHot", 9, kNewest, kThreeInputs, kInputTypes<kNumbers, kNumbers, kAny>, &make<OneHot>},
};

}  // namespace

Table onehot_kernels() { return kOnehotKernels; }

}  // namespace ephost_cpu
