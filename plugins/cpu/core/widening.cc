#include "plugins/cpu/core/widening.h"

#include <algorithm>

#include "plugins/cpu/core/refused_slots.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

bool is_half(int32_t type) { return (kHalf & eph::type_bit(type)) != 0; }

// Kernels that make sequences or maps list all of their types themselves.
constexpr char kNoHalves[] = "float16 and bfloat16 are not supported here";
using RefusedInWidened = RefusedSlots<kNoHalves>;

}  // namespace

bool widens(const KernelEntry& entry, std::size_t input, int32_t type) {
  if (!is_half(type)) return false;
  return std::any_of(entry.rules.begin(), entry.rules.end(), [&](const eph_type_rule& rule) {
    if ((rule.flags & EPH_RULE_OUTPUT) != 0) return false;
    const bool variadic = (rule.flags & EPH_RULE_VARIADIC) != 0;
    if (variadic ? input < rule.slot : input != rule.slot) return false;
    const uint64_t types = rule.element_types;
    return (types & eph::type_bit(type)) == 0 && (types & eph::type_bit(EPH_ELEMENT_FLOAT)) != 0;
  });
}

const eph_value& WidenedConstants::get(std::size_t input, const eph_value& constant) {
  if (const eph_value* known = find(input)) return *known;
  constants_.push_back(
      std::make_unique<Constant>(Constant{input, dims_of(constant), {}, constant}));
  Constant& made = *constants_.back();
  const int64_t count = element_count(made.shape);
  made.elements.resize(static_cast<std::size_t>(count));
  convert(constant.data, constant.element_type, made.elements.data(), EPH_ELEMENT_FLOAT, count);
  made.value.data = made.elements.data();
  made.value.shape = made.shape.data();
  made.value.byte_size = made.elements.size() * sizeof(float);
  made.value.element_type = EPH_ELEMENT_FLOAT;
  return made.value;
}

const eph_value* WidenedConstants::find(std::size_t input) const {
  const auto found = std::find_if(constants_.begin(), constants_.end(),
                                  [&](const auto& known) { return known->input == input; });
  return found == constants_.end() ? nullptr : &(*found)->value;
}

const eph_run_api WidenedRun::kApi = {sizeof(eph_run_api),
                                      &do_allocate,
                                      &do_set_string,
                                      &do_scratch,
                                      &do_is_cancelled,
                                      &RefusedInWidened::create_tensor,
                                      &RefusedInWidened::set_element,
                                      &RefusedInWidened::create_sequence,
                                      &RefusedInWidened::create_map,
                                      &RefusedInWidened::set_output};

template <class T>
T* WidenedRun::array(uint32_t count) {
  return static_cast<T*>(outer_.scratch(std::max<uint64_t>(1, count) * sizeof(T)));
}

WidenedRun::WidenedRun(eph::Run& outer, const KernelEntry& entry, const WidenedConstants* constants)
    : eph_run{}, outer_(outer) {
  struct_size = sizeof(eph_run);
  api = &kApi;
  input_count = outer.input_count();
  output_count = outer.output_count();
  workspace = outer.workspace();

  auto* values = array<eph_value>(input_count);
  auto** pointers = array<const eph_value*>(input_count);
  inputs = pointers;
  for (uint32_t i = 0; i < input_count; ++i) {
    const eph_value* input = outer.input(i);
    pointers[i] = input;
    if (input == nullptr || !widens(entry, i, input->element_type)) continue;
    if (half_ == EPH_ELEMENT_UNDEFINED) half_ = input->element_type;
    if (const eph_value* constant = constants != nullptr ? constants->find(i) : nullptr) {
      pointers[i] = constant;
      continue;
    }
    const int64_t count = element_count(eph::shape_of(*input));
    values[i] = *input;
    values[i].element_type = EPH_ELEMENT_FLOAT;
    values[i].byte_size = static_cast<uint64_t>(checked_multiply(count, sizeof(float)));
    values[i].data = outer.scratch(std::max<uint64_t>(1, values[i].byte_size));
    convert(input->data, input->element_type, values[i].data, EPH_ELEMENT_FLOAT, count);
    pointers[i] = &values[i];
  }

  outputs_ = array<Output>(output_count);
  auto** output_pointers = array<eph_value*>(output_count);
  outputs = output_pointers;
  for (uint32_t i = 0; i < output_count; ++i) {
    outputs_[i] = {};
    output_pointers[i] = outer.output(i) == nullptr ? nullptr : &outputs_[i].value;
  }
}

void WidenedRun::allocate(uint32_t index, int32_t element_type, eph::ArrayView<int64_t> shape) {
  Output& output = outputs_[index];
  const int32_t stated = outer_.output(index)->element_type;
  const int32_t wanted = stated == EPH_ELEMENT_UNDEFINED ? half_ : stated;
  const bool narrows = element_type == EPH_ELEMENT_FLOAT && is_half(wanted);
  output.value = outer_.allocate(index, shape, narrows ? wanted : element_type);
  output.type = narrows ? wanted : EPH_ELEMENT_UNDEFINED;
  if (!narrows) return;
  output.value.element_type = EPH_ELEMENT_FLOAT;
  output.value.byte_size =
      static_cast<uint64_t>(checked_multiply(element_count(shape), sizeof(float)));
  output.value.data = outer_.scratch(std::max<uint64_t>(1, output.value.byte_size));
}

void WidenedRun::finish() {
  for (uint32_t i = 0; i < output_count; ++i) {
    const Output& output = outputs_[i];
    if (outputs[i] == nullptr || output.type == EPH_ELEMENT_UNDEFINED) continue;
    const eph_value& to = *outer_.output(i);
    convert(output.value.data, EPH_ELEMENT_FLOAT, to.data, to.element_type,
            element_count(eph::shape_of(to)));
  }
}

int32_t WidenedRun::do_allocate(eph_run* run, uint32_t index, int32_t element_type,
                                const int64_t* shape, uint32_t rank, eph_error* error) noexcept {
  return eph::detail::guard(error, [&] { self(run).allocate(index, element_type, {shape, rank}); });
}

int32_t WidenedRun::do_set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                                  eph_error* error) noexcept {
  return eph::detail::guard(error,
                            [&] { self(run).outer_.set_string(index, element, eph::view(text)); });
}

void* WidenedRun::do_scratch(eph_run* run, uint64_t size) noexcept {
  try {
    return self(run).outer_.scratch(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int32_t WidenedRun::do_is_cancelled(const eph_run* run) noexcept {
  return static_cast<const WidenedRun*>(run)->outer_.is_cancelled() ? 1 : 0;
}

}  // namespace ephost_cpu
