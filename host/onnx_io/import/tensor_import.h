// Conversion of TensorProto to graph::Tensor. Payloads that were lifted or are in external files
// are borrowed; other data is small, or stored in typed fields, and converted to the canonical
// form. Internal to the importer; forward-declares the generated classes instead of including them.
#pragma once

#include <ephost/status.h>

#include <string>

#include "host/graph/types.h"
#include "host/onnx_io/import/external_data.h"
#include "host/onnx_io/wire/lift_payloads.h"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace ephost::onnx_io {

class TensorImporter {
 public:
  // `skeleton` and `external` must outlive the importer; `model_owner` keeps lifted payloads alive.
  TensorImporter(const Skeleton& skeleton, std::shared_ptr<const void> model_owner,
                 ExternalData& external)
      : skeleton_(skeleton), model_owner_(std::move(model_owner)), external_(external) {}

  // `what` names the tensor in messages, e.g. `initializer "w"`. Returns INVALID_GRAPH if it is
  // invalid.
  Result<graph::Tensor> tensor(const onnx::TensorProto& proto, const std::string& what);
  // The same, but its data may be unaligned; see `align_initializers`.
  Result<graph::Tensor> unaligned_tensor(const onnx::TensorProto& proto, const std::string& what);
  Result<graph::SparseTensor> sparse_tensor(const onnx::SparseTensorProto& proto,
                                            const std::string& what);

  // A lifted string attribute as a borrowed Blob; nothing if `content` was not lifted.
  [[nodiscard]] std::optional<graph::Blob> lifted(std::string_view content) const;

 private:
  Status read_payload(const onnx::TensorProto& proto, uint64_t needed, graph::Tensor& out_tensor);

  const Skeleton& skeleton_;
  std::shared_ptr<const void> model_owner_;
  ExternalData& external_;
};

// Kernels read elements in place, and a load through a misaligned pointer is undefined behaviour.
// Protobuf puts payloads at any offset, so misaligned data is copied.
void align_data(graph::Tensor& tensor);

}  // namespace ephost::onnx_io
