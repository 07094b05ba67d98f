// ScatterElements, the older Scatter, and ScatterND: a copy of the data with some elements replaced
// by, or combined with, updates.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/indices.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

enum class ScatterReduction { kNone, kAdd, kMultiply, kMax, kMin };

ScatterReduction parse_scatter_reduction(std::string_view name) {
  if (name == "none") return ScatterReduction::kNone;
  if (name == "add") return ScatterReduction::kAdd;
  if (name == "mul") return ScatterReduction::kMultiply;
  if (name == "max") return ScatterReduction::kMax;
  if (name == "min") return ScatterReduction::kMin;
  fail("attribute reduction '" + std::string(name) + "' is unknown");
}

// Integers wrap around; NaN wins over numbers.
template <class T>
T combine(ScatterReduction reduction, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    if (reduction == ScatterReduction::kAdd)
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    if (reduction == ScatterReduction::kMultiply) {
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    }
  } else {
    if (reduction == ScatterReduction::kAdd) return a + b;
    if (reduction == ScatterReduction::kMultiply) return a * b;
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return reduction == ScatterReduction::kMax ? std::max(a, b) : std::min(a, b);
}

template <class T>
struct PlainUpdate {
  using Stored = T;
  static T apply(ScatterReduction reduction, T a, T b) { return combine(reduction, a, b); }
};
template <int32_t type>
struct HalfUpdate {
  using Stored = uint16_t;
  static uint16_t apply(ScatterReduction reduction, uint16_t a, uint16_t b) {
    const float result = combine(reduction, widened(a), widened(b));
    uint16_t bits = 0;
    convert(&result, EPH_ELEMENT_FLOAT, &bits, type, 1);
    return bits;
  }
  static float widened(uint16_t bits) {
    float value = 0;
    convert(&bits, type, &value, EPH_ELEMENT_FLOAT, 1);
    return value;
  }
};
// Adding and the maximum are "or", multiplying and the minimum "and".
struct TruthUpdate {
  using Stored = uint8_t;
  static uint8_t apply(ScatterReduction reduction, uint8_t a, uint8_t b) {
    const bool either = reduction == ScatterReduction::kAdd || reduction == ScatterReduction::kMax;
    return (either ? a != 0 || b != 0 : a != 0 && b != 0) ? 1 : 0;
  }
};
template <class T>
struct ComplexUpdate {
  using Stored = std::complex<T>;
  static Stored apply(ScatterReduction reduction, Stored a, Stored b) {
    return reduction == ScatterReduction::kAdd ? a + b : a * b;
  }
};

// Calls f(Element{}) for the way in which elements of the type are combined.
template <class F>
void dispatch_update(int32_t type, ScatterReduction reduction, const F& f) {
  const bool ordered = reduction == ScatterReduction::kMax || reduction == ScatterReduction::kMin;
  switch (type) {
    case EPH_ELEMENT_FLOAT16:
      return f(HalfUpdate<EPH_ELEMENT_FLOAT16>{});
    case EPH_ELEMENT_BFLOAT16:
      return f(HalfUpdate<EPH_ELEMENT_BFLOAT16>{});
    case EPH_ELEMENT_BOOL:
      return f(TruthUpdate{});
    case EPH_ELEMENT_COMPLEX64:
    case EPH_ELEMENT_COMPLEX128:
      if (ordered) fail("complex numbers have no order, which reduction max and min need");
      return type == EPH_ELEMENT_COMPLEX64 ? f(ComplexUpdate<float>{}) : f(ComplexUpdate<double>{});
    default:
      dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
               uint64_t>(type, [&](auto tag) { f(PlainUpdate<typename decltype(tag)::type>{}); });
  }
}

class Scatter : public Kernel {
 protected:
  explicit Scatter(const NodeContext& context)
      : Kernel(context),
        reduction_(parse_scatter_reduction(context.node().get_string("reduction", "none"))) {
    const int32_t type = context.input_type(0);
    if (type != EPH_ELEMENT_UNDEFINED && type != EPH_ELEMENT_STRING) allow_inplace(0);
  }

  // Calls update(to, from, count) for runs of elements: `from` in the updates, `to` in the output.
  // `each` calls it for all of them, after it has checked all indices.
  template <class Each>
  void scatter(eph::Run& run, const Each& each) const {
    const int32_t type = run.input(0)->element_type;
    if (type == EPH_ELEMENT_STRING) return scatter_strings(run, each);
    if (reduction_ == ScatterReduction::kNone) {
      return dispatch_size(element_size(type), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* y = data<T>(*run.output(0));
        const T* updates = run.input_data<T>(2);
        each([=](int64_t to, int64_t from, int64_t count) {
          std::copy_n(updates + from, count, y + to);
        });
      });
    }
    dispatch_update(type, reduction_, [&](auto element) {
      using Element = decltype(element);
      using T = typename Element::Stored;
      T* y = data<T>(*run.output(0));
      const T* updates = run.input_data<T>(2);
      const ScatterReduction reduction = reduction_;
      each([=](int64_t to, int64_t from, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          y[to + i] = Element::apply(reduction, y[to + i], updates[from + i]);
        }
      });
    });
  }

 private:
  template <class Each>
  void scatter_strings(eph::Run& run, const Each& each) const {
    if (reduction_ != ScatterReduction::kNone)
      fail("strings can only be scattered with reduction none");
    const auto* updates = run.input_data<eph_string>(2);
    each([&](int64_t to, int64_t from, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        run.set_string(0, static_cast<uint64_t>(to + i), eph::view(updates[from + i]));
      }
    });
  }

  ScatterReduction reduction_;
};

class ScatterElements final : public Scatter {
 public:
  explicit ScatterElements(const NodeContext& context)
      : Scatter(context), axis_(context.node().get_int("axis", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims area = dims_of(*run.input(1));
    const std::size_t axis = normalize_axis(axis_, shape.size());
    check(shape, area, dims_of(*run.input(2)), axis);
    const int64_t count = element_count(area);
    const int64_t* indices = read_indices(run, *run.input(1), count);
    for (int64_t i = 0; i < count; ++i) (void)checked_index(indices[i], shape[axis]);
    copy_reshaped(run, x, 0, shape);
    if (count == 0) return;

    Dims strides = dense_strides(shape);
    const int64_t stride = strides[axis];
    strides[axis] = 0;
    scatter(run, [&](const auto& update) {
      Odometer<1> position(area, {strides});
      for (int64_t i = 0; i < count; ++i, position.next()) {
        const int64_t index = indices[i] < 0 ? indices[i] + shape[axis] : indices[i];
        update(position.offset(0) + index * stride, i, 1);
      }
    });
  }

 private:
  static void check(const Dims& shape, const Dims& area, const Dims& updates, std::size_t axis) {
    if (!(updates == area)) {
      fail("updates of shape " + to_string(updates) + " do not match indices of shape " +
           to_string(area));
    }
    bool fits = area.size() == shape.size();
    for (std::size_t d = 0; fits && d < area.size(); ++d) fits = d == axis || area[d] <= shape[d];
    if (!fits) {
      fail("indices of shape " + to_string(area) + " do not fit data of shape " + to_string(shape));
    }
  }

  int64_t axis_;
};

class ScatterNd final : public Scatter {
 public:
  explicit ScatterNd(const NodeContext& context) : Scatter(context) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims index_shape = dims_of(*run.input(1));
    check(shape, index_shape, dims_of(*run.input(2)));
    const auto depth = static_cast<std::size_t>(index_shape.back());
    const int64_t tuples = element_count(index_shape, 0, index_shape.size() - 1);
    const auto* indices = run.input_data<int64_t>(1);
    for (int64_t t = 0; t < tuples; ++t) {
      for (std::size_t d = 0; d < depth; ++d) (void)checked_index(*indices++, shape[d]);
    }
    copy_reshaped(run, x, 0, shape);
    const int64_t inner = element_count(shape, depth, shape.size());
    if (tuples == 0 || inner == 0) return;

    const Dims strides = dense_strides(shape);
    scatter(run, [&](const auto& update) {
      const auto* next = run.input_data<int64_t>(1);
      for (int64_t t = 0; t < tuples; ++t) {
        int64_t to = 0;
        for (std::size_t d = 0; d < depth; ++d, ++next) {
          to += (*next < 0 ? *next + shape[d] : *next) * strides[d];
        }
        update(to, t * inner, inner);
      }
    });
  }

 private:
  static void check(const Dims& shape, const Dims& index_shape, const Dims& updates) {
    const bool has_depth = !index_shape.empty() && index_shape.back() >= 0 &&
                           index_shape.back() <= static_cast<int64_t>(shape.size());
    if (shape.empty() || !has_depth) {
      fail("indices of shape " + to_string(index_shape) + " do not fit data of shape " +
           to_string(shape));
    }
    Dims expected = index_shape;
    expected.pop_back();
    for (auto d = static_cast<std::size_t>(index_shape.back()); d < shape.size(); ++d) {
      expected.push_back(shape[d]);
    }
    if (updates == expected) return;
    fail("updates have shape " + to_string(updates) + ", but indices of shape " +
         to_string(index_shape) + " and data of shape " + to_string(shape) + " need " +
         to_string(expected));
  }
};

constexpr Inputs kScatterInputs = {.required = 3, .same_type = 0b101};
constexpr auto& kScatterTypes = kInputTypes<kAny, kIndices, kAny>;
constexpr auto& kScatterNdTypes = kInputTypes<kAny, kInt64, kAny>;

constexpr KernelEntry kScatterKernels[] = {
    {"Scatter", 9, 9, kScatterInputs, kScatterTypes, &make<ScatterElements>},
    {"ScatterElements", 11, kNewest, kScatterInputs, kScatterTypes, &make<ScatterElements>},
    {"ScatterND", 11, kNewest, kScatterInputs, kScatterNdTypes, &make<ScatterNd>},
};

}  // namespace

Table scatter_kernels() { return kScatterKernels; }

}  // namespace ephost_cpu
