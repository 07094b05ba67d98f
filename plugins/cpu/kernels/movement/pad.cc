// Pad: constant, reflect, edge and wrap; negative pads crop.
#include <algorithm>
#include <cstring>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/padding.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

PadMode parse_pad_mode(std::string_view mode) {
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "wrap") return PadMode::kWrap;
  fail("attribute mode '" + std::string(mode) + "' is unknown");
}

// Where index `i` of a padded dimension comes from.
int64_t source_index(int64_t i, int64_t extent, PadMode mode) {
  if (mode == PadMode::kEdge) return std::clamp<int64_t>(i, 0, extent - 1);
  if (mode == PadMode::kWrap) return i % extent < 0 ? i % extent + extent : i % extent;
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
        mode_(parse_pad_mode(context.node().get_string("mode", "constant"))),
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
      if (out[i] < 0) fail("pads " + to_string(pads) + " crop more than " + to_string(shape));
      if (out[i] > 0 && shape[i] == 0 && mode_ != PadMode::kConstant) {
        fail("there is nothing to repeat along a dimension of extent 0");
      }
    }
    if (mode_ == PadMode::kConstant) {
      Dims before;
      for (std::size_t i = 0; i < shape.size(); ++i) before.push_back(pads[i]);
      alignas(16) std::array<char, 16> from_attribute = {};
      pad_with(run, before, out, value(run, x.element_type, from_attribute.data()));
      return;
    }
    allocate_output(run, 0, x.element_type, out);
    if (element_count(out) > 0) repeat(run, x, shape, pads, out);
  }

 private:
  // Two numbers for each dimension, also where only some axes are padded.
  [[nodiscard]] Dims find_pads(const eph::Run& run, std::size_t rank) const {
    const Dims given = has_attributes_ ? attribute_pads_ : read_ints(*run.input(1));
    const eph_value* axes_input = has_attributes_ ? nullptr : run.input(3);
    const std::size_t count = axes_input != nullptr ? read_ints(*axes_input).size() : rank;
    if (given.size() != 2 * count) {
      fail("pads " + to_string(given) + " do not have two numbers for each of " +
           std::to_string(count) + " axes");
    }
    if (axes_input == nullptr) return given;
    const Dims axes = read_ints(*axes_input);
    Dims pads(2 * rank, 0);
    std::array<bool, kMaxRank> seen = {};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t axis = normalize_axis(axes[i], rank);
      if (seen[axis]) fail("axis " + std::to_string(axes[i]) + " is given twice");
      seen[axis] = true;
      pads[axis] = given[i];
      pads[axis + rank] = given[i + count];
    }
    return pads;
  }

  // Null for zero; `from_attribute` has room for an element.
  const void* value(const eph::Run& run, int32_t type, void* from_attribute) const {
    if (has_attributes_) {
      convert(&attribute_value_, EPH_ELEMENT_FLOAT, from_attribute, type, 1);
      return from_attribute;
    }
    const eph_value* given = run.input(2);
    if (given == nullptr) return nullptr;
    if (element_count(eph::shape_of(*given)) != 1) {
      fail("constant_value has shape " + to_string(eph::shape_of(*given)));
    }
    return given->data;
  }

  // Reads every output element from the position that the mode gives.
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
    if (x.element_type == EPH_ELEMENT_STRING) {
      each([&](int64_t to, int64_t from) {
        run.set_string(0, static_cast<uint64_t>(to), eph::view(data<const eph_string>(x)[from]));
      });
      return;
    }
    const char* source = data<const char>(x);
    char* target = static_cast<char*>(run.output(0)->data);
    if (is_packed(x.element_type)) {
      const int64_t given = element_count(shape);
      auto* elements = static_cast<uint8_t*>(run.scratch(static_cast<uint64_t>(given)));
      auto* repeated = static_cast<uint8_t*>(run.scratch(static_cast<uint64_t>(count)));
      unpack_elements(x.element_type, data<const uint8_t>(x), elements, given);
      each([&](int64_t to, int64_t from) { repeated[to] = elements[from]; });
      return pack_elements(x.element_type, repeated, reinterpret_cast<uint8_t*>(target), count);
    }
    const auto size = static_cast<std::size_t>(element_size(x.element_type));
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

constexpr Inputs kPadInputs = {.required = 2, .same_type = 0b101};

constexpr KernelEntry kPadKernels[] = {
    {"Pad", 2, 2, {}, kInputTypes<kFloat>, &make<Pad>},
    {"Pad", 11, kNewest, kPadInputs, kInputTypes<kAnyWidth, kInt64, kAnyWidth, kIndices>,
     &make<Pad>},
};

}  // namespace

Table pad_kernels() { return kPadKernels; }

}  // namespace ephost_cpu
