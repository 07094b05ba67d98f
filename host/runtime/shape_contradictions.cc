#include "host/runtime/shape_contradictions.h"

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

Status refuse_value(const Program& program, graph::ValueId id, const std::string& what,
                    const std::function<bool(const graph::ValueType&)>& admits) {
  const graph::Value& value = program.graph().values[id];
  const bool is_declared = value.declared != nullptr && !admits(*value.declared);
  const std::string stated =
      graph::to_string(is_declared ? *value.declared : value.type, program.symbols());
  if (is_declared && value.is_graph_output && !program.is_body()) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("output {} came out as {}, the model declares it as {}; correct the "
                            "model's output",
                            quote(value.name), what, stated));
  }
  Status reason(
      StatusCode::kInvalidGraph,
      is_declared
          ? formatted("value {} came out as {}, but the model declares it as {} inside the graph",
                      quote(value.name), what, stated)
          : formatted("value {} came out as {}, but {} was inferred for it", quote(value.name),
                      what, stated));
  if (program.contradictions() != nullptr) program.contradictions()->add(value.name, reason);
  return reason;
}

}  // namespace ephost::runtime
