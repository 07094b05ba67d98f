// Where: picks elements of one of two tensors, all three operands broadcast.
#include <algorithm>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"

namespace ephost_cpu {
namespace {

// x and y are rows, or single elements.
template <bool kRowX, bool kRowY, class T>
CPU_SIMD void select_row(const uint8_t* condition, const T* x, const T* y, T* out, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    const T left = x[kRowX ? i : 0];
    const T right = y[kRowY ? i : 0];
    out[i] = condition[i] != 0 ? left : right;
  }
}

template <class T>
void copy_or_fill(const T* from, int64_t step, T* out, int64_t count) {
  if (step == 0) {
    std::fill_n(out, count, *from);
  } else if (from != out) {
    std::copy_n(from, count, out);
  }
}

class Where final : public Kernel {
 public:
  explicit Where(const NodeContext& context) : Kernel(context) {
    allow_inplace_if_equal(context, 1);
    allow_inplace_if_equal(context, 2);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims condition = dims_of(*run.input(0));
    const eph_value& x = *run.input(1);
    const Dims x_shape = dims_of(x);
    const Dims y_shape = dims_of(*run.input(2));
    const Dims shape = broadcast_shape(broadcast_shape(condition, x_shape), y_shape);
    const Broadcast<3> broadcast(shape, {condition, x_shape, y_shape});
    allocate_output(run, 0, x.element_type, shape);
    if (x.element_type == EPH_ELEMENT_STRING) return select_strings(run, broadcast);
    dispatch_size(element_size(x.element_type),
                  [&](auto tag) { select<typename decltype(tag)::type>(run, broadcast); });
  }

 private:
  template <class T>
  static void select(const eph::Run& run, const Broadcast<3>& broadcast) {
    const auto* condition = run.input_data<uint8_t>(0);
    const T* x = run.input_data<T>(1);
    const T* y = run.input_data<T>(2);
    T* out = static_cast<T*>(run.output(0)->data);
    broadcast.for_each_row(0.5, [=](int64_t at, const auto& from, const auto& step, int64_t count) {
      const uint8_t* c = condition + from[0];
      const T* left = x + from[1];
      const T* right = y + from[2];
      T* to = out + at;
      if (step[0] == 0) {
        const bool takes_x = *c != 0;
        copy_or_fill(takes_x ? left : right, step[takes_x ? 1 : 2], to, count);
      } else if (step[1] != 0) {
        step[2] != 0 ? select_row<true, true>(c, left, right, to, count)
                     : select_row<true, false>(c, left, right, to, count);
      } else {
        step[2] != 0 ? select_row<false, true>(c, left, right, to, count)
                     : select_row<false, false>(c, left, right, to, count);
      }
    });
  }

  static void select_strings(eph::Run& run, const Broadcast<3>& broadcast) {
    const auto* condition = run.input_data<uint8_t>(0);
    const auto* x = run.input_data<eph_string>(1);
    const auto* y = run.input_data<eph_string>(2);
    broadcast.for_each_row(0, [&](int64_t at, const auto& from, const auto& step, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const eph_string text = condition[from[0] + i * step[0]] != 0 ? x[from[1] + i * step[1]]
                                                                      : y[from[2] + i * step[2]];
        run.set_string(0, static_cast<uint64_t>(at + i), eph::view(text));
      }
    });
  }
};

constexpr KernelEntry kWhereKernels[] = {
    {"Where",
     9,
     kNewest,
     {.required = 3, .same_type = 0b110},
     kInputTypes<kBool, kAny, kAny>,
     &make<Where>},
};

}  // namespace

Table where_kernels() { return kWhereKernels; }

}  // namespace ephost_cpu
