// Col2Im: adds the columns of a sliding window back into an image.
#include <algorithm>
#include <string>
#include <type_traits>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/windows/columns.h"

namespace ephost_cpu {
namespace {

class Col2Im final : public Kernel {
 public:
  explicit Col2Im(const NodeContext& context) : Kernel(context), attributes_(context.node()) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims input = dims_of(x);
    ColumnShape shape = {read_extents(*run.input(1), "image_shape"), {}};
    shape.window = attributes_.resolve(read_extents(*run.input(2), "block_shape"), shape.plane);
    if (input.size() != 3 || input[1] % shape.taps() != 0 || input[2] != shape.positions()) {
      fail("input " + to_string(input) + " does not hold " + std::to_string(shape.positions()) +
           " columns of " + std::to_string(shape.taps()) + " elements for each channel");
    }
    Dims out = {input[0], input[1] / shape.taps()};
    for (const int64_t extent : shape.plane) out.push_back(extent);
    if ((eph::type_bit(x.element_type) & kFloat) == 0) {
      // As unsigned numbers, since sums may wrap around.
      const eph_value& y = allocate_output(run, 0, x.element_type, out);
      return dispatch_size(element_size(x.element_type), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (!std::is_same_v<T, Bytes16>) {
          add_planes(shape, out[0] * out[1], data<const T>(x), data<T>(y));
        }
      });
    }
    dispatch_compute_type(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      T* y = arguments.output<T>(0, x.element_type, out);
      add_planes(shape, out[0] * out[1], arguments.input<T>(0), y);
      arguments.finish();
    });
  }

 private:
  static Dims read_extents(const eph_value& value, const char* name) {
    const Dims extents = read_ints(value);
    const auto is_bad = [](int64_t extent) { return extent < 1; };
    if (extents.empty() || std::any_of(extents.begin(), extents.end(), is_bad)) {
      fail(std::string(name) + " " + to_string(extents) + " is empty or has an extent below 1");
    }
    return extents;
  }

  template <class T>
  static void add_planes(const ColumnShape& shape, int64_t planes, const T* x, T* y) {
    const int64_t plane = element_count(shape.plane);
    const int64_t positions = shape.positions();
    const int64_t taps = shape.taps();
    const double cost = static_cast<double>(taps) * static_cast<double>(positions);
    parallel_for(planes, cost, [=, &shape](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        T* to = y + p * plane;
        std::fill_n(to, plane, T{0});
        add_columns(
            shape, [=](int64_t t) { return x + (p * taps + t) * positions; },
            [](int64_t) { return T{1}; }, to);
      }
    });
  }

  WindowAttributes attributes_;
};

constexpr uint64_t kColumnTypes = kFloat | kInts;

constexpr KernelEntry kCol2imKernels[] = {
    {"Col2Im", 18, kNewest, kThreeInputs, kInputTypes<kColumnTypes, kInt64, kInt64>, &make<Col2Im>},
};

}  // namespace

Table col2im_kernels() { return kCol2imKernels; }

}  // namespace ephost_cpu
