// Pad: constant, reflect and edge; negative pads cut away.
#include <algorithm>
#include <cstring>

#include "plugins/cpu/convert.h"
#include "plugins/cpu/odometer.h"
#include "plugins/cpu/registry.h"
#include "plugins/cpu/strided_copy.h"

namespace cpu {
namespace {

enum class PadMode { kConstant, kReflect, kEdge };

PadMode parse_mode(std::string_view mode) {
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "edge") return PadMode::kEdge;
  fail("attribute mode '" + std::string(mode) + "' is unknown");
}

// Where index `i` of a padded dimension comes from.
int64_t source_index(int64_t i, int64_t extent, PadMode mode) {
  if (mode == PadMode::kEdge) return std::clamp<int64_t>(i, 0, extent - 1);
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  i %= period;
  if (i < 0) i += period;
  return i < extent ? i : period - i;
}

class Pad final : public Kernel {
 public:
  explicit Pad(const NodeContext& context)
      : Kernel(context),
        mode_(parse_mode(context.node().get_string("mode", "constant"))),
        has_attributes_(context.version() < 11),
        attribute_pads_(context.node().get_ints("pads")),
        attribute_value_(context.node().get_float("value", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims pads = find_pads(run, shape.size());
    Dims out;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      out.push_back(checked_add(checked_add(shape[i], pads[i]), pads[i + shape.size()]));
      if (out[i] < 0) fail("pads " + to_string(pads) + " cut away more than " + to_string(shape));
      if (out[i] > 0 && shape[i] == 0 && mode_ != PadMode::kConstant) {
        fail("there is nothing to repeat along a dimension of extent 0");
      }
    }
    allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;
    if (mode_ == PadMode::kConstant) {
      fill(run, x, element_count(out));
      copy_inside(run, x, shape, pads, out);
    } else {
      repeat(run, x, shape, pads, out);
    }
  }

 private:
  [[nodiscard]] Dims find_pads(const eph::Run& run, std::size_t rank) const {
    const Dims pads = has_attributes_ ? attribute_pads_ : read_ints(*run.input(1));
    if (pads.size() != 2 * rank) {
      fail("pads " + to_string(pads) + " do not have two numbers for each dimension");
    }
    return pads;
  }

  void fill(eph::Run& run, const eph_value& x, int64_t count) const {
    const eph_value* given = has_attributes_ ? nullptr : run.input(2);
    if (given != nullptr && element_count(eph::shape_of(*given)) != 1) {
      fail("constant_value has shape " + to_string(eph::shape_of(*given)));
    }
    if (x.element_type == EPH_STRING_ELEMENT) {
      const std::string_view text =
          given != nullptr ? eph::view(*data<const eph_string>(*given)) : std::string_view();
      for (int64_t i = 0; i < count; ++i) run.set_string(0, static_cast<uint64_t>(i), text);
      return;
    }
    alignas(16) std::array<char, 16> zero_or_attribute = {};
    if (has_attributes_) {
      convert(&attribute_value_, EPH_FLOAT, zero_or_attribute.data(), x.element_type, 1);
    }
    const void* value = given != nullptr ? given->data : zero_or_attribute.data();
    dispatch_size(element_size(x.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(data<T>(*run.output(0)), count, *static_cast<const T*>(value));
    });
  }

  // The part of the input that no negative pad cuts away.
  static void copy_inside(eph::Run& run, const eph_value& x, const Dims& shape, const Dims& pads,
                          const Dims& out) {
    CopyPlan plan;
    plan.from_strides = dense_strides(shape);
    plan.to_strides = dense_strides(out);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const int64_t before = pads[i];
      const int64_t begin = std::max<int64_t>(0, -before);
      const int64_t end = std::min(shape[i], out[i] - before);
      if (end <= begin) return;
      plan.extents.push_back(end - begin);
      plan.from_offset += begin * plan.from_strides[i];
      plan.to_offset += (begin + before) * plan.to_strides[i];
    }
    strided_copy(plan, x, run, 0);
  }

  // Reads every output element from where the mode puts it.
  void repeat(eph::Run& run, const eph_value& x, const Dims& shape, const Dims& pads,
              const Dims& out) const {
    const Dims strides = dense_strides(shape);
    const int64_t count = element_count(out);
    const auto each = [&](const auto& copy) {
      Odometer<1> position(out, {dense_strides(out)});
      for (int64_t i = 0; i < count; ++i, position.next()) {
        int64_t from = 0;
        for (std::size_t d = 0; d < out.size(); ++d) {
          from += strides[d] * source_index(position.index(d) - pads[d], shape[d], mode_);
        }
        copy(i, from);
      }
    };
    if (x.element_type == EPH_STRING_ELEMENT) {
      each([&](int64_t to, int64_t from) {
        run.set_string(0, static_cast<uint64_t>(to), eph::view(data<const eph_string>(x)[from]));
      });
      return;
    }
    const auto size = static_cast<std::size_t>(element_size(x.element_type));
    const char* source = data<const char>(x);
    char* target = static_cast<char*>(run.output(0)->data);
    each([&](int64_t to, int64_t from) {
      std::memcpy(target + static_cast<std::size_t>(to) * size,
                  source + static_cast<std::size_t>(from) * size, size);
    });
  }

  PadMode mode_;
  bool has_attributes_;
  Dims attribute_pads_;
  float attribute_value_;
};

constexpr Inputs kInputs = {.required = 2, .same_type = 0b101};

constexpr KernelEntry kEntries[] = {
    {"Pad", 2, 2, {}, kInputTypes<kFloat>, &make<Pad>},
    {"Pad", 11, 13, kInputs, kInputTypes<kAny, kInt64, kAny>, &make<Pad>},
};

}  // namespace

Table pad_kernels() { return kEntries; }

}  // namespace cpu
