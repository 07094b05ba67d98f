#include "plugins/cpu/core/nested_run.h"

#include <algorithm>

#include "plugins/cpu/core/refused_slots.h"
#include "plugins/cpu/core/types.h"

namespace ephost_cpu {
namespace {

// Kernels of tensors of numbers call none of these.
constexpr char kOnlyNumbers[] = "only tensors of numbers are supported here";
using RefusedInNested = RefusedSlots<kOnlyNumbers>;

}  // namespace

const eph_run_api NestedRun::kApi = {sizeof(eph_run_api),
                                     &do_allocate,
                                     &RefusedInNested::set_string,
                                     &do_scratch,
                                     &do_is_cancelled,
                                     &RefusedInNested::create_tensor,
                                     &RefusedInNested::set_element,
                                     &RefusedInNested::create_sequence,
                                     &RefusedInNested::create_map,
                                     &RefusedInNested::set_output};

eph_value make_tensor_view(const void* data, const Dims& shape, int32_t element_type) {
  eph_value value = {};
  value.data = const_cast<void*>(data);
  value.shape = shape.data();
  value.byte_size = static_cast<uint64_t>(storage_size(element_type, element_count(shape)));
  value.rank = static_cast<uint32_t>(shape.size());
  value.element_type = element_type;
  value.kind = EPH_KIND_TENSOR;
  return value;
}

NestedRun::NestedRun(eph::Run& outer, std::initializer_list<const eph_value*> arguments)
    : eph_run{}, outer_(outer) {
  struct_size = sizeof(eph_run);
  api = &kApi;
  input_count = static_cast<uint32_t>(arguments.size());
  auto** pointers = static_cast<const eph_value**>(
      outer.scratch(std::max<std::size_t>(1, arguments.size()) * sizeof(const eph_value*)));
  std::copy(arguments.begin(), arguments.end(), pointers);
  inputs = pointers;
  output_count = 1;
  outputs = &output_pointer_;
  workspace = outer.workspace();
  run_id = outer.id();
}

NestedRun::NestedRun(eph::Run& outer, std::initializer_list<const eph_value*> arguments,
                     OuterOutputs)
    : NestedRun(outer, arguments) {
  has_outer_outputs_ = true;
  output_count = outer.output_count();
  auto** pointers = static_cast<eph_value**>(
      outer.scratch(std::max<std::size_t>(1, output_count) * sizeof(eph_value*)));
  for (uint32_t i = 0; i < output_count; ++i) pointers[i] = outer.output(i);
  outputs = pointers;
}

int32_t NestedRun::do_allocate(eph_run* run, uint32_t index, int32_t element_type,
                               const int64_t* shape, uint32_t rank, eph_error* error) noexcept {
  return eph::detail::guard(error, [&] {
    NestedRun& nested = self(run);
    if (nested.has_outer_outputs_) {
      nested.outer_.allocate(index, eph::ArrayView<int64_t>(shape, rank), element_type);
      return;
    }
    nested.shape_ = Dims(eph::ArrayView<int64_t>(shape, rank));
    nested.output_ = make_tensor_view(nullptr, nested.shape_, element_type);
    nested.output_.data = nested.outer_.scratch(std::max<uint64_t>(1, nested.output_.byte_size));
  });
}

void* NestedRun::do_scratch(eph_run* run, uint64_t size) noexcept {
  try {
    return self(run).outer_.scratch(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int32_t NestedRun::do_is_cancelled(const eph_run* run) noexcept {
  return static_cast<const NestedRun*>(run)->outer_.is_cancelled() ? 1 : 0;
}

}  // namespace ephost_cpu
