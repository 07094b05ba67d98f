#include "host/optimize/quantization_nodes.h"

namespace ephost::optimize {

bool is_quantization(const graph::Node& node) {
  return (node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear") &&
         (node.domain.empty() || node.domain == "com.microsoft");
}

}  // namespace ephost::optimize
