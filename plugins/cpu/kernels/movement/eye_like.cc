// EyeLike: ones on a diagonal of a matrix of the input's shape.
#include <algorithm>
#include <array>
#include <cstring>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

constexpr uint64_t kEyeTypes = kNumbers | kBool | kHalf;

class EyeLike final : public Kernel {
 public:
  explicit EyeLike(const NodeContext& context)
      : Kernel(context), diagonal_(context.node().get_int("k", 0)) {
    if (context.node().attribute("dtype") == nullptr) return;
    const int64_t type = context.node().get_int("dtype", EPH_ELEMENT_FLOAT);
    if (type < 0 || type > 63 || (kEyeTypes & eph::type_bit(static_cast<int32_t>(type))) == 0) {
      fail_unsupported("attribute dtype=" + std::to_string(type) + " is not supported");
    }
    type_ = static_cast<int32_t>(type);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() != 2) fail("the input " + to_string(shape) + " is not a matrix");
    const int32_t type = type_ != EPH_ELEMENT_UNDEFINED ? type_ : x.element_type;
    const eph_value& y = allocate_output(run, 0, type, shape);
    if (element_count(shape) == 0) return;
    const int64_t size = element_size(type);
    std::memset(y.data, 0, static_cast<std::size_t>(element_count(shape) * size));
    // A diagonal outside the matrix has no elements.
    if (diagonal_ <= -shape[0] || diagonal_ >= shape[1]) return;
    alignas(8) std::array<char, 8> one = {};
    const float value = 1;
    convert(&value, EPH_ELEMENT_FLOAT, one.data(), type, 1);
    char* out = data<char>(y);
    const int64_t last = std::min(shape[0], shape[1] - diagonal_);
    for (int64_t row = std::max<int64_t>(0, -diagonal_); row < last; ++row) {
      std::memcpy(out + (row * shape[1] + row + diagonal_) * size, one.data(),
                  static_cast<std::size_t>(size));
    }
  }

 private:
  int64_t diagonal_;
  int32_t type_ = EPH_ELEMENT_UNDEFINED;  // the input's
};

constexpr KernelEntry kEyeLikeKernels[] = {
    {"EyeLike", 9, kNewest, {}, kInputTypes<kEyeTypes>, &make<EyeLike>},
};

}  // namespace

Table eye_like_kernels() { return kEyeLikeKernels; }

}  // namespace ephost_cpu
