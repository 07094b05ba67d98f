// ConvTransposeWithDynamicPads: ConvTranspose whose pads, which are cut off, are an input.
#include <algorithm>
#include <vector>

#include "plugins/cpu/core/nested_run.h"
#include "plugins/cpu/kernels/movement/strided_copy.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/part.h"

namespace ephost_cpu {
namespace {

// Inputs: X, W, pads before and after each spatial dimension, B.
class DynamicPads final : public Kernel {
 public:
  explicit DynamicPads(const NodeContext& context)
      : Kernel(context), conv_(make_part("ConvTranspose", 11, context, false)) {}

  std::unique_ptr<eph::State> create_state() override { return conv_->create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    NestedRun nested(run, {run.input(0), run.input(1), run.input(3)});
    eph::Run view = nested.view();
    conv_->compute(view, state);
    const Dims whole = dims_of(nested.output());
    const std::size_t spatial = whole.size() - 2;
    const Dims pads = run.input(2) != nullptr ? read_ints(*run.input(2)) : Dims(2 * spatial, 0);
    if (pads.size() != 2 * spatial) {
      fail("there are " + std::to_string(pads.size()) + " pads for " + std::to_string(spatial) +
           " spatial dimensions");
    }
    const Dims strides = dense_strides(whole);
    CopyPlan plan = {whole, strides, {}, 0, 0};
    for (std::size_t d = 0; d < spatial; ++d) {
      const int64_t begin = pads[d];
      const int64_t end = pads[d + spatial];
      if (begin < 0 || end < 0 || begin > whole[d + 2] || end > whole[d + 2] - begin) {
        fail("pads " + to_string(pads) + " are negative, or do not fit an output of shape " +
             to_string(whole) + " that is to be cut");
      }
      plan.extents[d + 2] -= begin + end;
      plan.from_offset += begin * strides[d + 2];
    }
    plan.to_strides = dense_strides(plan.extents);
    allocate_output(run, 0, nested.output().element_type, plan.extents);
    if (element_count(plan.extents) > 0) strided_copy(plan, nested.output(), run, 0);
  }

 private:
  std::unique_ptr<Kernel> conv_;
};

constexpr KernelEntry kDynamicPadsKernels[] = {
    {"ConvTransposeWithDynamicPads",
     1,
     1,
     {.required = 2, .same_type = 0b1011},
     kInputTypes<kFloat, kFloat, kInt64, kFloat>,
     &make<DynamicPads>,
     kMicrosoft},
};

std::string why_refused_pads(const NodeContext& context) {
  const std::string_view mode = context.node().get_string("auto_pad", "NOTSET");
  if (mode == "NOTSET") return {};
  return "auto_pad '" + std::string(mode) + "' is not supported: the pads are an input";
}

// The spatial extent `d` of the output without pads, of which `cut` elements are cut off.
infer::Extent spatial_extent(const eph::NodeView& node, std::size_t d, const infer::Extent& x,
                             const infer::Extent& window, int64_t cut) {
  if (!x.is_known() || !window.is_known() || x.count == 0) return {};
  const auto number = [&](const char* name, int64_t otherwise) {
    const eph::ArrayView<int64_t> numbers = node.get_ints(name);
    return d < numbers.size() ? numbers[d] : otherwise;
  };
  const int64_t steps = checked_multiply(number("strides", 1), x.count - 1);
  const int64_t reach = checked_multiply(number("dilations", 1), window.count - 1);
  const int64_t whole = checked_add(checked_add(steps, reach), number("output_padding", 0) + 1);
  if (cut > whole)
    infer::fail("pads cut off " + std::to_string(cut) + " of an extent of " +
                std::to_string(whole));
  return infer::known(whole - cut);
}

void infer_dynamic_pads(eph::Inference& node) {
  const infer::Shape x = infer::shape_of(node, 0);
  const infer::Shape w = infer::shape_of(node, 1);
  infer::Shape y;
  if (x && w) {
    if (x->size() < 3 || w->size() != x->size()) {
      infer::fail("X " + infer::to_text(*x) + " and W " + infer::to_text(*w) +
                  " need the same rank and a spatial dimension");
    }
    const int64_t groups = node.node().get_int("group", 1);
    y = infer::Extents(x->size());
    (*y)[0] = (*x)[0];
    (*y)[1] = infer::product((*w)[1], infer::known(std::max<int64_t>(groups, 0)));
    const std::size_t spatial = x->size() - 2;
    const eph_value* given = node.has_input(2) ? node.input(2).constant() : nullptr;
    const eph::ArrayView<int64_t> pads =
        given != nullptr ? eph::elements<int64_t>(*given) : eph::ArrayView<int64_t>();
    const bool are_pads_known = !node.has_input(2) || pads.size() == 2 * spatial;
    for (std::size_t d = 0; are_pads_known && d < spatial; ++d) {
      const int64_t cut = pads.empty() ? 0 : checked_add(pads[d], pads[d + spatial]);
      (*y)[d + 2] = spatial_extent(node.node(), d, (*x)[d + 2], (*w)[d + 2], cut);
    }
  }
  infer::set(node, 0, infer::type_of(node, 0), y);
}

}  // namespace

Table dynamic_pads_kernels() { return kDynamicPadsKernels; }

Refusals dynamic_pads_refusals() {
  static constexpr Refusal kRefusals[] = {{"ConvTransposeWithDynamicPads", &why_refused_pads}};
  return kRefusals;
}

Definitions define_dynamic_pads() {
  return {
      eph::Operator(kMicrosoft, "ConvTransposeWithDynamicPads", 1)
          .description("ConvTranspose whose pads are an input.")
          .input("X", "T", kAllFloats)
          .input("W", "T", kAllFloats)
          .input("Pads", "", kInt64, eph::kOptional, "before and after each spatial dimension")
          .input("B", "T", kAllFloats, eph::kOptional)
          .output("Y", "T", kAllFloats)
          .attribute("auto_pad", "NOTSET")
          .optional_attribute("dilations", EPH_ATTRIBUTE_INTS)
          .attribute("group", 1)
          .optional_attribute("kernel_shape", EPH_ATTRIBUTE_INTS)
          .optional_attribute("output_padding", EPH_ATTRIBUTE_INTS)
          .optional_attribute("strides", EPH_ATTRIBUTE_INTS)
          .infer(&infer_dynamic_pads),
  };
}

}  // namespace ephost_cpu
