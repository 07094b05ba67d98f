#include "host/onnx_io/tensor_file.h"

#include <onnx/onnx_pb.h>

#include <limits>
#include <map>
#include <utility>

#include "host/base/file.h"
#include "host/base/text.h"
#include "host/onnx_io/external_data.h"
#include "host/onnx_io/lift_payloads.h"
#include "host/onnx_io/tensor_import.h"

namespace ephost::onnx_io {
namespace {

// What protobuf can hold in one message.
constexpr uint64_t kMaxMessage = std::numeric_limits<int32_t>::max();

}  // namespace

Result<NamedTensor> read_tensor_file(const std::filesystem::path& path) {
  EPHOST_ASSIGN_OR_RETURN(const std::string content, read_file(path, kMaxMessage));
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(content.data(), static_cast<int>(content.size()))) {
    return Status(StatusCode::kInvalidProtobuf, quote(path.native()) +
                                                    " is no TensorProto; give a file of one ONNX "
                                                    "tensor");
  }
  // Nothing was lifted out of the message; the importer wants to know from where it could have
  // been.
  EPHOST_ASSIGN_OR_RETURN(const Skeleton skeleton, lift_payloads({}));
  const std::map<std::string, graph::Blob> no_buffers;
  ExternalData external(path.parent_path(), no_buffers);
  TensorImporter importer(skeleton, nullptr, external);
  EPHOST_ASSIGN_OR_RETURN(graph::Tensor tensor,
                          importer.tensor(proto, "the tensor in " + quote(path.native())));
  return NamedTensor{proto.name(), std::move(tensor)};
}

Status write_tensor_file(const std::filesystem::path& path, const NamedTensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(static_cast<int32_t>(tensor.tensor.type));
  for (const int64_t dim : tensor.tensor.shape) proto.add_dims(dim);
  if (tensor.tensor.strings != nullptr) {
    for (const std::string& text : *tensor.tensor.strings) proto.add_string_data(text);
  } else {
    const auto bytes = tensor.tensor.data.bytes;
    if (bytes.size() <= kMaxMessage) proto.set_raw_data(bytes.data(), bytes.size());
  }
  const bool lost = proto.raw_data().size() != tensor.tensor.data.bytes.size();
  if (lost || proto.ByteSizeLong() > kMaxMessage) {
    return Status(StatusCode::kFail, "the tensor for " + quote(path.native()) +
                                         " is over 2 GiB, more than a .pb file can hold; write "
                                         "it as .npy or .raw");
  }
  const std::string encoded = proto.SerializeAsString();
  return write_file_atomically(path, as_bytes(encoded));
}

}  // namespace ephost::onnx_io
