// Part: a kernel of ai.onnx that computes a part of a node of com.microsoft. It has the node's
// name, attributes and constants; types and shapes are those of each call.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

// Makes the kernel of that operator and version. The node has the attributes that it reads; its
// inputs have the node's indices, unless `has_constants` is false: then no input is constant.
[[nodiscard]] std::unique_ptr<Kernel> make_part(std::string_view op_type, int32_t version,
                                                const NodeContext& context, bool has_constants);
// The same with these attributes instead of the node's, and without constants.
[[nodiscard]] std::unique_ptr<Kernel> make_part_with(std::string_view op_type, int32_t version,
                                                     const NodeContext& context,
                                                     eph::ArrayView<eph_attribute> attributes);
// Another operator of com.microsoft, with the node's attributes and without constants.
[[nodiscard]] std::unique_ptr<Kernel> make_microsoft_part(const KernelEntry& entry,
                                                          const NodeContext& context);

// Between [batch, rows, columns] and [batch, columns, rows].
void transpose_planes(int32_t element_type, const void* from, int64_t batch, int64_t rows,
                      int64_t columns, void* to);

// [N, ..., C] as [N, C, ...], and back.
[[nodiscard]] Dims channels_to_front(const Dims& shape);
[[nodiscard]] Dims channels_to_back(const Dims& shape);

}  // namespace ephost_cpu
