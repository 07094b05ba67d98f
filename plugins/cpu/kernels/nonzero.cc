// NonZero: the positions of the elements that are not zero, a column for each.
#include "plugins/cpu/odometer.h"
#include "plugins/cpu/registry.h"

namespace cpu {
namespace {

class NonZero final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    if (x.element_type == EPH_BOOL) return find<uint8_t>(run, x);
    dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t>(x.element_type,
                       [&](auto tag) { find<typename decltype(tag)::type>(run, x); });
  }

 private:
  template <class T>
  static void find(eph::Run& run, const eph_value& x) {
    Dims shape = dims_of(x);
    const int64_t count = element_count(shape);
    const T* elements = data<const T>(x);
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += elements[i] != T{0} ? 1 : 0;
    const auto rank = static_cast<int64_t>(shape.size());
    const eph_value& y = allocate_output(run, 0, EPH_INT64, {rank, found});
    if (found == 0 || rank == 0) return;

    Odometer<1> position(shape, {dense_strides(shape)});
    int64_t column = 0;
    for (int64_t i = 0; i < count; ++i, position.next()) {
      if (elements[i] == T{0}) continue;
      for (int64_t d = 0; d < rank; ++d) {
        data<int64_t>(y)[d * found + column] = position.index(static_cast<std::size_t>(d));
      }
      ++column;
    }
  }
};

constexpr KernelEntry kEntries[] = {
    {"NonZero", 9, 13, {}, kInputTypes<kNumbers | kBool>, &make<NonZero>},
};

}  // namespace

Table nonzero_kernels() { return kEntries; }

}  // namespace cpu
