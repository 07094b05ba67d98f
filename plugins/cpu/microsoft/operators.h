// The operators of domain com.microsoft, version 1, that this plugin defines, as ONNX Runtime's
// documentation of contributed operators describes them. Each file of this folder has the
// definitions and the kernels of a family; operators.cc puts the families together.
#pragma once

#include <cstddef>
#include <ephost/sdk/operators.hpp>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

using Definitions = std::vector<eph::Operator>;

// Why the kernel does not take a node whose types fit it, e.g. "g_idx is not supported"; empty if
// it does.
struct Refusal {
  std::string_view op_type;
  std::string (*why)(const NodeContext& context);
};
using Refusals = std::span<const Refusal>;

struct MicrosoftFamily {
  Table (*kernels)();
  Definitions (*define)();
  Refusals (*refusals)();  // null: none of its kernels refuses a node
};

[[nodiscard]] std::span<const MicrosoftFamily> microsoft_families();

// All definitions; constant.
[[nodiscard]] const eph::Operators& microsoft_operators();

// Why the kernel refuses the node; empty if it does not, or if the node is of another domain.
[[nodiscard]] std::string microsoft_refusal(const NodeContext& context);

// Throws INVALID_GRAPH unless the node has these inputs: for those behind one that may be omitted.
void require_inputs(const NodeContext& context, std::initializer_list<std::size_t> inputs);

// Why the kernel that fits the node refuses it; empty if it takes it, or if no kernel fits.
[[nodiscard]] std::string why_refused(const eph::GraphView& graph, uint32_t node,
                                      const Settings& settings);

// The entry of an operator of ai.onnx, for kernels that compute a part of another operator.
[[nodiscard]] const KernelEntry& onnx_entry(std::string_view op_type, int32_t version);

}  // namespace ephost_cpu
