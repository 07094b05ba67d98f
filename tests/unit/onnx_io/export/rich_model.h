// A model that sets every field that the exporter can write, for the tests of the exporter.
#pragma once

#include "host/graph/graph.h"

namespace ephost::onnx_io::testing {

[[nodiscard]] graph::Model rich_model();

}  // namespace ephost::onnx_io::testing
