// graph::Model as a ModelProto, field by field in the order of onnx.proto's numbers. Internal to
// the exporter.
#pragma once

#include "host/graph/graph.h"
#include "host/onnx_io/export/external_layout.h"
#include "host/onnx_io/wire/message_writer.h"

namespace ephost::onnx_io {

// Encodes the fields of the model.
void encode_model(const graph::Model& model, const ExternalLayout& layout, MessageWriter& writer);

// ONNX captures by name: INVALID_GRAPH if a subgraph has a value of its own under the name of one
// that it captures under another name.
[[nodiscard]] Status check_capture_names(const graph::Graph& graph);

}  // namespace ephost::onnx_io
