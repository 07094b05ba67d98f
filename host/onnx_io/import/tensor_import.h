// TensorProto to graph::Tensor. Payloads that were lifted or lie in external files are borrowed;
// the rest is small, or stored in typed fields, and converted to the canonical form. Internal to
// the importer; names the generated classes without including them.
#pragma once

#include <string>

#include "ephost/status.h"
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

  // `what` names the tensor in messages, e.g. `initializer "w"`. INVALID_GRAPH if it makes no
  // sense.
  Result<graph::Tensor> tensor(const onnx::TensorProto& proto, const std::string& what);
  // The same, but its data may lie at any address; see `align_initializers`.
  Result<graph::Tensor> unaligned_tensor(const onnx::TensorProto& proto, const std::string& what);
  Result<graph::SparseTensor> sparse_tensor(const onnx::SparseTensorProto& proto,
                                            const std::string& what);

  // A lifted string attribute as a borrow; nothing if `content` was not lifted.
  [[nodiscard]] std::optional<graph::Blob> lifted(std::string_view content) const;

 private:
  Status read_payload(const onnx::TensorProto& proto, uint64_t needed, graph::Tensor& out_tensor);

  const Skeleton& skeleton_;
  std::shared_ptr<const void> model_owner_;
  ExternalData& external_;
};

// Kernels read elements in place, and a load through a misaligned pointer is undefined; protobuf
// puts payloads at any offset, so data that fell badly is moved.
void align_data(graph::Tensor& tensor);

}  // namespace ephost::onnx_io
