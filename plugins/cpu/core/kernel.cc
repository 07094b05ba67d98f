#include "plugins/cpu/core/kernel.h"

#include <cstring>
#include <new>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {

int32_t NodeContext::input_type(std::size_t i) const {
  const int32_t type = type_of(node_.input(i));
  return widens(entry_, i, type) ? int32_t{EPH_ELEMENT_FLOAT} : type;
}

const eph_value* NodeContext::constant(std::size_t i) const {
  const eph_value* constant = graph_.constant_input(node_, i);
  if (constant == nullptr || !widens(entry_, i, constant->element_type)) return constant;
  if (!widened_constants_) widened_constants_ = std::make_unique<WidenedConstants>();
  return &widened_constants_->get(i, *constant);
}

bool NodeContext::holds_tensor(std::size_t input) const {
  if (!has_input(input)) return true;
  const int32_t kind = graph_.value(node_.input(input)).kind();
  return kind == EPH_KIND_TENSOR || kind == EPH_KIND_NONE;
}

std::optional<int64_t> NodeContext::fixed_element_size(std::size_t input) const {
  const int32_t type = input_type(input);
  if ((kFixedSize & eph::type_bit(type)) == 0) return std::nullopt;
  return element_size(type);
}

std::optional<eph::ArrayView<int64_t>> NodeContext::static_extents(uint32_t value) const {
  if (value == EPH_NONE) return std::nullopt;
  const eph::ValueView view = graph_.value(value);
  if (!view.has_static_shape() || view.shape().size() > kMaxRank) return std::nullopt;
  return view.shape();
}

std::optional<Dims> NodeContext::input_shape(std::size_t i) const {
  const auto extents = input_extents(i);
  return extents ? std::optional(Dims(*extents)) : std::nullopt;
}

std::string label(std::string_view op_type, std::string_view name) {
  return std::string(op_type) + " node '" + std::string(name) + "'";
}

Kernel::Kernel(const NodeContext& context)
    : name_(context.node().name()), entry_(context.entry()), threads_(context.settings().threads) {}

void Kernel::allow_inplace_if_equal(const NodeContext& context, uint32_t input) {
  const auto from = context.input_extents(input);
  const auto to = context.output_extents(0);
  if (from && to && is_equal(*from, *to)) allow_inplace(input);
}

// Inputs without a rule are tensors; an optional may be its content, or nothing.
void Kernel::check_kinds(const eph::Run& run) const {
  for (uint32_t i = 0; i < run.input_count(); ++i) {
    const eph_value* input = run.input(i);
    if (input == nullptr) continue;
    uint32_t flags = 0;
    for (const eph_type_rule& rule : entry_.rules) {
      const bool variadic = (rule.flags & EPH_RULE_VARIADIC) != 0;
      const bool applies =
          (rule.flags & EPH_RULE_OUTPUT) == 0 && (rule.slot == i || (variadic && rule.slot < i));
      if (applies) flags = rule.flags & kKindFlags;
    }
    if (flags == 0) flags = EPH_RULE_TENSOR;
    const bool optional = (flags & EPH_RULE_OPTIONAL) != 0;
    const bool fits = input->kind == EPH_KIND_TENSOR ? optional || (flags & EPH_RULE_TENSOR) != 0
                      : input->kind == EPH_KIND_SEQUENCE
                          ? optional || (flags & EPH_RULE_SEQUENCE) != 0
                      : input->kind == EPH_KIND_MAP ? (flags & EPH_RULE_MAP) != 0
                                                    : optional;
    if (!fits || input->memory != 0) {
      fail("input " + std::to_string(i) + " is of a kind that the operator does not take");
    }
  }
}

void Kernel::check_arguments(const eph::Run& run) const {
  for (uint32_t i = 0; i < entry_.inputs.required; ++i) {
    if (run.input(i) == nullptr) fail("input " + std::to_string(i) + " is missing");
  }
  check_kinds(run);
  for (const eph_type_rule& rule : entry_.rules) {
    if ((rule.flags & EPH_RULE_OUTPUT) != 0) continue;
    const uint32_t end = (rule.flags & EPH_RULE_VARIADIC) != 0 ? run.input_count() : rule.slot + 1;
    for (uint32_t i = rule.slot; i < end; ++i) {
      const eph_value* input = run.input(i);
      if (input == nullptr) continue;
      const bool is_open =
          input->kind != EPH_KIND_TENSOR && input->element_type == EPH_ELEMENT_UNDEFINED;
      if (!is_open && (widened(rule.element_types) & eph::type_bit(input->element_type)) == 0) {
        fail_unsupported("input " + std::to_string(i) + " has element type " +
                         type_name(input->element_type));
      }
    }
  }
  const eph_value* first = nullptr;
  for (uint32_t i = 0; i < run.input_count(); ++i) {
    const eph_value* input = run.input(i);
    if (input == nullptr || (entry_.inputs.same_type >> std::min(i, 31U) & 1) == 0) continue;
    if (first == nullptr) first = input;
    if (input->element_type != first->element_type) {
      fail("inputs of types " + type_name(first->element_type) + " and " +
           type_name(input->element_type) + " are incompatible");
    }
  }
}

bool Kernel::has_halves_to_widen(const eph::Run& run) const {
  for (uint32_t i = 0; i < run.input_count(); ++i) {
    const eph_value* input = run.input(i);
    const bool is_tensor = input != nullptr && input->kind == EPH_KIND_TENSOR;
    if (is_tensor && widens(entry_, i, input->element_type)) return true;
  }
  return false;
}

void Kernel::compute(eph::Run& run, eph::State* state) {
  const ThreadScope scope(threads_);
  try {
    check_arguments(run);
    bool wanted = false;
    for (uint32_t i = 0; i < run.output_count(); ++i) wanted = wanted || run.output(i) != nullptr;
    if (!wanted) return;
    if (!has_halves_to_widen(run)) return this->run(run, state);
    WidenedRun in_float(run, entry_, widened_constants_.get());
    eph::Run view = in_float.view();
    this->run(view, state);
    in_float.finish();
  } catch (const eph::Failure& failure) {
    throw eph::Failure(failure.code(), with_label(label(entry_.op_type, name_), failure.what()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    throw eph::Failure(EPH_FAIL, with_label(label(entry_.op_type, name_), exception.what()));
  }
}

void Kernel::describe(eph_computation_info& info) {
  info.workspace_bytes = workspace_bytes_;
  info.may_inplace = inplace_.data();
  info.may_inplace_count = inplace_.size();
  info.must_share = must_share_.data();
  info.must_share_count = must_share_.size();
  info.aliases = aliases_.data();
  info.alias_count = aliases_.size();
  info.input_parts = input_parts_.data();
  info.input_part_count = input_parts_.size();
  info.output_parts = output_parts_.data();
  info.output_part_count = output_parts_.size();
}

eph_value& allocate_output(eph::Run& run, uint32_t i, int32_t element_type, const Dims& shape) {
  if (run.output(i) == nullptr) fail("output " + std::to_string(i) + " is left out");
  eph_value& value = run.allocate(i, shape, element_type);
  if (value.element_type != element_type) {
    throw eph::Failure(EPH_INVALID_GRAPH, "output " + std::to_string(i) + " is declared as " +
                                              type_name(value.element_type) + " but is " +
                                              type_name(element_type));
  }
  return value;
}

void copy_reshaped(eph::Run& run, const eph_value& from, uint32_t i, const Dims& shape) {
  const eph_value& to = allocate_output(run, i, from.element_type, shape);
  if (to.data == from.data) return;
  const int64_t count = element_count(shape);
  if (count == 0) return;
  if (from.element_type == EPH_ELEMENT_STRING) {
    for (int64_t e = 0; e < count; ++e) {
      run.set_string(i, static_cast<uint64_t>(e), eph::view(data<const eph_string>(from)[e]));
    }
    return;
  }
  const auto bytes = static_cast<std::size_t>(storage_size(from.element_type, count));
  std::memcpy(to.data, from.data, bytes);
}

eph_value& make_copy(eph::Run& run, const eph_value& from, const Dims& shape) {
  eph_value& to = run.make_tensor(shape, from.element_type);
  const int64_t count = element_count(shape);
  if (from.element_type == EPH_ELEMENT_STRING) {
    for (int64_t e = 0; e < count; ++e) {
      run.set_element(to, static_cast<uint64_t>(e), eph::view(data<const eph_string>(from)[e]));
    }
  } else if (count > 0) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(to.byte_size));
  }
  return to;
}

Dims read_ints(const eph_value& value) {
  if (value.rank > 1) {
    fail("a list of numbers has rank " + std::to_string(value.rank) + ", expected 1");
  }
  const int64_t count = element_count(eph::shape_of(value));
  Dims numbers;
  dispatch<int64_t, int32_t>(value.element_type, [&](auto tag) {
    const auto* elements = data<const typename decltype(tag)::type>(value);
    for (int64_t i = 0; i < count; ++i) numbers.push_back(elements[i]);
  });
  return numbers;
}

int64_t read_int(const eph_value& value) {
  if (element_count(eph::shape_of(value)) != 1) {
    fail("expected a single number, found shape " + to_string(eph::shape_of(value)));
  }
  int64_t number = 0;
  dispatch<int64_t, int32_t>(value.element_type, [&](auto tag) {
    number = *data<const typename decltype(tag)::type>(value);
  });
  return number;
}

std::string with_label(const std::string& label, const char* message) {
  const std::string text = message;
  return text.rfind(label, 0) == 0 ? text : label + ": " + text;
}

}  // namespace ephost_cpu
