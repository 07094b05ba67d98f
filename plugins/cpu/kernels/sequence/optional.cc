// Optionals: Optional, OptionalHasElement, OptionalGetElement.
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

// Optional without an input makes an empty optional.
class Optional final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value* x = run.input(0);
    const bool is_empty = x == nullptr || x->kind == EPH_KIND_NONE;
    run.set_output(0, is_empty ? nullptr : x);
  }
};

class OptionalHasElement final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value* x = run.input(0);
    const bool has_element = x != nullptr && x->kind != EPH_KIND_NONE;
    *data<uint8_t>(allocate_output(run, 0, EPH_ELEMENT_BOOL, {})) = has_element ? 1 : 0;
  }
};

class OptionalGetElement final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    if (run.input(0)->kind == EPH_KIND_NONE) fail("the optional has no element");
    run.set_output(0, run.input(0));
  }
};

constexpr SlotRule kContent = {EPH_RULE_TENSOR | EPH_RULE_SEQUENCE, kAny};
constexpr SlotRule kContentOut = {kContent.flags | EPH_RULE_OUTPUT, kAny};
constexpr SlotRule kOptional = {EPH_RULE_OPTIONAL, kAny};
constexpr SlotRule kOptionalOut = {EPH_RULE_OPTIONAL | EPH_RULE_OUTPUT, kAny};
constexpr SlotRule kEither = {kContent.flags | EPH_RULE_OPTIONAL, kAny};

constexpr KernelEntry kOptionalKernels[] = {
    {"Optional", 15, 15, kNoInputs, kSlotRules<kContent, kOptionalOut>, &make<Optional>},
    {"OptionalHasElement", 15, 15, {}, kSlotRules<kOptional>, &make<OptionalHasElement>},
    {"OptionalHasElement", 18, 18, kNoInputs, kSlotRules<kEither>, &make<OptionalHasElement>},
    {"OptionalGetElement",
     15,
     15,
     {},
     kSlotRules<kOptional, kContentOut>,
     &make<OptionalGetElement>},
    {"OptionalGetElement", 18, 18, {}, kSlotRules<kEither, kContentOut>, &make<OptionalGetElement>},
};

}  // namespace

Table optional_kernels() { return kOptionalKernels; }

}  // namespace ephost_cpu
