// NestedRun: a call of one kernel from within another one's, on tensors of the caller's choice. Its
// output lies in scratch memory of the outer call, or its outputs are those of that call.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <initializer_list>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

// A dense tensor in memory of the caller; `shape` is borrowed.
[[nodiscard]] eph_value make_tensor_view(const void* data, const Dims& shape, int32_t element_type);

struct OuterOutputs {};

class NestedRun : private eph_run {
 public:
  // The inputs, null for an omitted one, are borrowed. There is one output, a tensor of any type
  // except string.
  NestedRun(eph::Run& outer, std::initializer_list<const eph_value*> arguments);
  // The outputs are those of the outer call.
  NestedRun(eph::Run& outer, std::initializer_list<const eph_value*> arguments, OuterOutputs);

  [[nodiscard]] eph::Run view() { return eph::Run(this); }
  // After the call, unless the outputs are the outer ones.
  [[nodiscard]] const eph_value& output() const { return output_; }

 private:
  static NestedRun& self(eph_run* run) { return *static_cast<NestedRun*>(run); }
  static int32_t do_allocate(eph_run* run, uint32_t index, int32_t element_type,
                             const int64_t* shape, uint32_t rank, eph_error* error) noexcept;
  static void* do_scratch(eph_run* run, uint64_t size) noexcept;
  static int32_t do_is_cancelled(const eph_run* run) noexcept;
  static const eph_run_api kApi;

  eph::Run& outer_;
  Dims shape_;
  eph_value output_ = {};
  eph_value* output_pointer_ = &output_;
  bool has_outer_outputs_ = false;
};

}  // namespace ephost_cpu
