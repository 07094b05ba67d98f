// NonZero: the positions of the elements that are not zero, a column for each.
#include <complex>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

template <class T>
bool is_set(const T& element) {
  return element != T{0};
}
bool is_set(const eph_string& text) { return !eph::view(text).empty(); }

// The bits of a float16 or bfloat16, of which a zero sets none but the sign.
struct HalfBits {
  uint16_t bits;
};
bool is_set(const HalfBits& half) { return (half.bits & 0x7FFFU) != 0; }

class NonZero final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    if (x.element_type == EPH_ELEMENT_BOOL) return find<uint8_t>(run, x);
    if (x.element_type == EPH_ELEMENT_FLOAT16 || x.element_type == EPH_ELEMENT_BFLOAT16) {
      return find<HalfBits>(run, x);
    }
    if (x.element_type == EPH_ELEMENT_COMPLEX64) return find<std::complex<float>>(run, x);
    if (x.element_type == EPH_ELEMENT_COMPLEX128) return find<std::complex<double>>(run, x);
    if (x.element_type == EPH_ELEMENT_STRING) return find<eph_string>(run, x);
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
    for (int64_t i = 0; i < count; ++i) found += is_set(elements[i]) ? 1 : 0;
    const auto rank = static_cast<int64_t>(shape.size());
    const Dims positions = {rank, found};
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_INT64, positions);
    if (found == 0 || rank == 0) return;

    Odometer<1> position(shape, {dense_strides(shape)});
    int64_t column = 0;
    for (int64_t i = 0; i < count; ++i, position.next()) {
      if (!is_set(elements[i])) continue;
      for (int64_t d = 0; d < rank; ++d) {
        data<int64_t>(y)[d * found + column] = position.index(static_cast<std::size_t>(d));
      }
      ++column;
    }
  }
};

constexpr uint64_t kNonzeroTypes =
    kNumbers | kBool | kHalf | kString | kTypeSet<EPH_ELEMENT_COMPLEX64, EPH_ELEMENT_COMPLEX128>;

constexpr KernelEntry kNonzeroKernels[] = {
    {"NonZero", 9, kNewest, {}, kInputTypes<kNonzeroTypes>, &make<NonZero>},
};

}  // namespace

Table nonzero_kernels() { return kNonzeroKernels; }

}  // namespace ephost_cpu
