// Unique: the different elements of a tensor, or its different slices along an axis. Slices are
// ordered by their first element that differs; NaN comes last and is taken as equal to itself.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/element_mover.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

// Negative, zero or positive.
template <class T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, eph_string>) {
    return eph::view(a).compare(eph::view(b));
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return int{std::isnan(a)} - int{std::isnan(b)};
    }
    return int{a > b} - int{a < b};
  }
}

// The type of an element in the tensor, and the one that it is compared as.
template <class T>
struct PlainOrder {
  using Stored = T;
  static int order(const T& a, const T& b) { return compare(a, b); }
};
struct HalfOrder {
  using Stored = uint16_t;
  static int order(uint16_t a, uint16_t b) { return compare(half_to_float(a), half_to_float(b)); }
};
struct BrainHalfOrder {
  using Stored = uint16_t;
  static int order(uint16_t a, uint16_t b) { return compare(widened(a), widened(b)); }
  static float widened(uint16_t bits) {
    float value = 0;
    convert(&bits, EPH_ELEMENT_BFLOAT16, &value, EPH_ELEMENT_FLOAT, 1);
    return value;
  }
};
struct TruthOrder {
  using Stored = uint8_t;
  static int order(uint8_t a, uint8_t b) { return int{a != 0} - int{b != 0}; }
};
template <class T>
struct ComplexOrder {
  struct Stored {
    T real, imaginary;
  };
  static int order(const Stored& a, const Stored& b) {
    const int real = compare(a.real, b.real);
    return real != 0 ? real : compare(a.imaginary, b.imaginary);
  }
};

// Calls f(Element{}) for the way in which elements of the type are compared.
template <class F>
void dispatch_order(int32_t type, const F& f) {
  switch (type) {
    case EPH_ELEMENT_FLOAT16:
      return f(HalfOrder{});
    case EPH_ELEMENT_BFLOAT16:
      return f(BrainHalfOrder{});
    case EPH_ELEMENT_BOOL:
      return f(TruthOrder{});
    case EPH_ELEMENT_COMPLEX64:
      return f(ComplexOrder<float>{});
    case EPH_ELEMENT_COMPLEX128:
      return f(ComplexOrder<double>{});
    case EPH_ELEMENT_STRING:
      return f(PlainOrder<eph_string>{});
    default:
      dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
               uint64_t>(type, [&](auto tag) { f(PlainOrder<typename decltype(tag)::type>{}); });
  }
}

// The slices along an axis: slice i has the `inner` elements at (o * count + i) * inner for each o.
struct Slices {
  int64_t outer = 1, count = 0, inner = 1;
};

// Lists in scratch memory, each with as many entries as there are slices.
struct SliceGroups {
  int64_t count = 0;
  int64_t* slices;    // sorted; equal ones are neighbours, in the order of the input
  int64_t* group_of;  // by slice
  int64_t* first;     // by group: its first slice
  int64_t* size;      // by group
};

class Unique final : public Kernel {
 public:
  explicit Unique(const NodeContext& context)
      : Kernel(context), sorted_(context.node().get_int("sorted", 1) != 0) {
    if (context.node().attribute("axis") != nullptr) axis_ = context.node().get_int("axis", 0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    std::size_t axis = 0;
    Slices slices = {1, element_count(shape), 1};
    if (axis_) {
      axis = normalize_axis(*axis_, shape.size());
      slices = {element_count(shape, 0, axis), shape[axis],
                element_count(shape, axis + 1, shape.size())};
    }
    const SliceGroups groups = find_groups(run, x, slices);
    Dims out = {groups.count};
    if (axis_) {
      out = shape;
      out[axis] = groups.count;
    }
    if (run.output(0) != nullptr) {
      allocate_output(run, 0, x.element_type, out);
      if (element_count(out) > 0) copy_firsts(run, slices, groups);
    }
    write(run, 1, groups.first, groups.count);
    write(run, 2, groups.group_of, slices.count);
    write(run, 3, groups.size, groups.count);
  }

 private:
  [[nodiscard]] SliceGroups find_groups(eph::Run& run, const eph_value& x,
                                        const Slices& slices) const {
    const uint64_t bytes =
        static_cast<uint64_t>(checked_multiply(slices.count, 4 * sizeof(int64_t)));
    auto* lists = static_cast<int64_t*>(run.scratch(std::max<uint64_t>(bytes, 1)));
    SliceGroups groups;
    groups.slices = lists;
    groups.group_of = lists + slices.count;
    groups.first = lists + 2 * slices.count;
    groups.size = lists + 3 * slices.count;
    std::iota(groups.slices, groups.slices + slices.count, int64_t{0});
    dispatch_order(x.element_type, [&](auto element) {
      group(element, static_cast<const typename decltype(element)::Stored*>(x.data), slices,
            groups);
    });
    if (!sorted_) order_by_first(groups, slices.count);
    return groups;
  }

  template <class Element, class T>
  static void group(Element, const T* x, const Slices& slices, SliceGroups& groups) {
    const auto order = [&](int64_t a, int64_t b) {
      for (int64_t o = 0; o < slices.outer; ++o) {
        const T* left = x + (o * slices.count + a) * slices.inner;
        const T* right = x + (o * slices.count + b) * slices.inner;
        for (int64_t i = 0; i < slices.inner; ++i) {
          const int result = Element::order(left[i], right[i]);
          if (result != 0) return result;
        }
      }
      return 0;
    };
    std::sort(groups.slices, groups.slices + slices.count, [&](int64_t a, int64_t b) {
      const int result = order(a, b);
      return result != 0 ? result < 0 : a < b;
    });
    for (int64_t i = 0; i < slices.count; ++i) {
      const int64_t slice = groups.slices[i];
      if (i == 0 || order(groups.slices[i - 1], slice) != 0) {
        groups.first[groups.count] = slice;
        groups.size[groups.count++] = 0;
      }
      groups.group_of[slice] = groups.count - 1;
      ++groups.size[groups.count - 1];
    }
  }

  // Renumbers the groups; `slices` is no longer needed, and holds the new numbers meanwhile.
  static void order_by_first(const SliceGroups& groups, int64_t slice_count) {
    int64_t* place = groups.slices;
    int64_t next = 0;
    for (int64_t slice = 0; slice < slice_count; ++slice) {
      const int64_t group = groups.group_of[slice];
      if (groups.first[group] == slice) place[group] = next++;
    }
    for (int64_t slice = 0; slice < slice_count; ++slice) {
      groups.group_of[slice] = place[groups.group_of[slice]];
    }
    std::fill_n(groups.size, groups.count, 0);
    for (int64_t slice = slice_count; slice-- > 0;) {
      groups.first[groups.group_of[slice]] = slice;
      ++groups.size[groups.group_of[slice]];
    }
  }

  static void copy_firsts(eph::Run& run, const Slices& slices, const SliceGroups& groups) {
    ElementMover mover(run);
    for (int64_t o = 0; o < slices.outer; ++o) {
      for (int64_t g = 0; g < groups.count; ++g) {
        mover.copy((o * groups.count + g) * slices.inner,
                   (o * slices.count + groups.first[g]) * slices.inner, slices.inner);
      }
    }
  }

  static void write(eph::Run& run, uint32_t output, const int64_t* list, int64_t count) {
    if (output >= run.output_count() || run.output(output) == nullptr) return;
    std::copy_n(list, count,
                data<int64_t>(allocate_output(run, output, EPH_ELEMENT_INT64, {count})));
  }

  std::optional<int64_t> axis_;
  bool sorted_;
};

constexpr uint64_t kUniqueTypes =
    kNumbers | kHalf | kBool | kString | kTypeSet<EPH_ELEMENT_COMPLEX64, EPH_ELEMENT_COMPLEX128>;

constexpr KernelEntry kUniqueKernels[] = {
    {"Unique", 11, kNewest, {}, kInputTypes<kUniqueTypes>, &make<Unique>},
};

}  // namespace

Table unique_kernels() { return kUniqueKernels; }

}  // namespace ephost_cpu
