// Lets every float kernel take float16 and bfloat16: such inputs are converted to float before the
// kernel runs, and the outputs that the model has in these types are converted back. A kernel that
// lists one of the types itself gets it unconverted.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <memory>
#include <vector>

#include "plugins/cpu/core/dims.h"
#include "plugins/cpu/core/types.h"

namespace ephost_cpu {

struct KernelEntry;

// The element types that are allowed by a rule with this set.
[[nodiscard]] constexpr uint64_t widened(uint64_t types) {
  return (types & kOnlyFloat) != 0 ? types | kHalf : types;
}

// Whether an input of that type is converted for a kernel of that entry.
[[nodiscard]] bool widens(const KernelEntry& entry, std::size_t input, int32_t type);

// Constants in float, made once for each kernel.
class WidenedConstants {
 public:
  // The constant of input `input` in float; valid as long as this object.
  const eph_value& get(std::size_t input, const eph_value& constant);
  // Null if `get` was not called for it.
  [[nodiscard]] const eph_value* find(std::size_t input) const;

 private:
  struct Constant {
    std::size_t input;
    Dims shape;
    std::vector<float> elements;
    eph_value value;
  };
  std::vector<std::unique_ptr<Constant>> constants_;  // at addresses of their own
};

// The arguments of one call as a kernel of float sees them, in the scratch memory of the call.
class WidenedRun : private eph_run {
 public:
  // `constants` may be null.
  WidenedRun(eph::Run& outer, const KernelEntry& entry, const WidenedConstants* constants);

  [[nodiscard]] eph::Run view() { return eph::Run(this); }
  // Converts the outputs, after the kernel ran.
  void finish();

 private:
  struct Output {
    eph_value value;  // as the kernel sees it
    int32_t type;     // type to convert to; EPH_ELEMENT_UNDEFINED: none
  };

  static WidenedRun& self(eph_run* run) { return *static_cast<WidenedRun*>(run); }
  static int32_t do_allocate(eph_run* run, uint32_t index, int32_t element_type,
                             const int64_t* shape, uint32_t rank, eph_error* error) noexcept;
  static int32_t do_set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                               eph_error* error) noexcept;
  static void* do_scratch(eph_run* run, uint64_t size) noexcept;
  static int32_t do_is_cancelled(const eph_run* run) noexcept;
  static const eph_run_api kApi;

  void allocate(uint32_t index, int32_t element_type, eph::ArrayView<int64_t> shape);
  template <class T>
  T* array(uint32_t count);

  eph::Run& outer_;
  int32_t half_ = EPH_ELEMENT_UNDEFINED;  // type of the first input that is converted
  Output* outputs_;
};

}  // namespace ephost_cpu
