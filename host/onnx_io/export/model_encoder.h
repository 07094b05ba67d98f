// Encoder of graph::Model as a ModelProto, field by field in the order of the field numbers in
// onnx.proto. Internal to the exporter.
#pragma once

#include "host/graph/graph.h"
#include "host/onnx_io/export/external_layout.h"
#include "host/onnx_io/wire/message_writer.h"

namespace ephost::onnx_io {

// Encodes the fields of the model; `marks_inferred`: see ExportOptions::marks_inferred_types.
void encode_model(const graph::Model& model, const ExternalLayout& layout, bool marks_inferred,
                  MessageWriter& writer);

// ONNX captures values by name: returns INVALID_GRAPH if a subgraph has a value of its own whose
// name is that of a value that it captures.
[[nodiscard]] Status check_capture_names(const graph::Graph& graph);

}  // namespace ephost::onnx_io
