#include "host/runtime/shape_contradictions.h"

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

Status refuse_value(const Program& program, graph::ValueId id, const std::string& what,
                    const std::function<bool(const graph::ValueType&)>& admits) {
  const graph::Value& value = program.graph().values[id];
  const graph::ValueType* const declared = program.declared_output(id);
  if (declared != nullptr && !admits(*declared)) {
    return Status(
        StatusCode::kInvalidGraph,
        formatted("output {} came out as {}, the model declares it as {}; correct the "
                  "model's output",
                  quote(value.name), what, graph::to_string(*declared, program.symbols())));
  }
  Status reason(
      StatusCode::kInvalidGraph,
      formatted("value {} came out as {}, and not as {}, which was inferred or is "
                "declared inside the model",
                quote(value.name), what, graph::to_string(value.type, program.symbols())));
  if (program.contradictions() != nullptr) program.contradictions()->add(value.name, reason);
  return reason;
}

}  // namespace ephost::runtime
