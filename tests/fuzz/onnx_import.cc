// Any bytes through ONNX import, with shape inference; what is accepted must be a graph that can be
// written and read again.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "host/graph/checks.h"
#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/import.h"

namespace {

void expect_ok(const ephost::Status& status, const char* what) {
  if (status.ok()) return;
  std::cerr << what << ": " << status.to_string() << "\n";
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ephost;
  const graph::Blob bytes{.bytes = std::as_bytes(std::span(data, size))};
  onnx_io::ImportReport report;
  const Result<graph::Model> model = onnx_io::import_model(bytes, {}, &report);
  if (!model.ok()) return 0;
  expect_ok(graph::check_graph(model->graph), "an imported graph is refused");
  const Result<onnx_io::ExportedModel> exported = onnx_io::export_model(*model);
  expect_ok(exported.status(), "an imported model cannot be exported");
  const graph::Blob encoded = graph::make_blob(exported->model.to_bytes());
  expect_ok(onnx_io::import_model(encoded, {.infer_shapes = false}).status(),
            "an exported model cannot be imported");
  return 0;
}
