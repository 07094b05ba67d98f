#include "host/onnx_io/export/export.h"

#include <bit>
#include <cassert>
#include <limits>
#include <system_error>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/checks.h"
#include "host/onnx_io/export/external_layout.h"
#include "host/onnx_io/export/model_encoder.h"
#include "host/onnx_io/import/version_wrappers.h"
#include "host/onnx_io/wire/message_writer.h"

namespace ephost::onnx_io {
namespace {

constexpr uint64_t kMaxModelBytes = std::numeric_limits<int32_t>::max();
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;

Status check_external_name(const std::string& name) {
  const std::filesystem::path path(name);
  bool is_plain = path.is_relative() && path.has_filename() && name.find('\0') == name.npos;
  for (const std::filesystem::path& part : path) is_plain = is_plain && part != "..";
  if (is_plain) return Status::ok_status();
  return {StatusCode::kInvalidArgument,
          formatted("the external file's name is {}; "
                    "it must be a relative path without \"..\", as models may be moved",
                    quote(name))};
}

Status check_options(const ExportOptions& options) {
  if (options.external_file_name.empty()) return Status::ok_status();
  for (const uint64_t alignment : {options.large_alignment, options.small_alignment}) {
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
      return {StatusCode::kInvalidArgument,
              formatted(
                  "the alignment of external data is {}; it must be a power of two, at most 1 MiB",
                  alignment)};
    }
  }
  return check_external_name(options.external_file_name);
}

Status append_parts(AtomicFile& file, const EncodedFile& content) {
  for (const graph::Blob& part : content.parts) EPHOST_RETURN_IF_ERROR(file.append(part.bytes));
  return Status::ok_status();
}

}  // namespace

std::vector<std::byte> EncodedFile::to_bytes() const {
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (const graph::Blob& part : parts) {
    bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
  }
  return bytes;
}

Status EncodedFile::write(const std::filesystem::path& path) const {
  EPHOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  EPHOST_RETURN_IF_ERROR(append_parts(file, *this));
  return file.commit();
}

Status ExportedModel::write(const std::filesystem::path& path) const {
  if (!external) return model.write(path);
  const std::filesystem::path data_path = path.parent_path() / external_file_name;
  if (data_path.lexically_normal() == path.lexically_normal()) {
    return {StatusCode::kInvalidArgument,
            "the model and its external data would both be " + quote(path.string())};
  }
  EPHOST_ASSIGN_OR_RETURN(AtomicFile data_file, AtomicFile::create(data_path));
  EPHOST_ASSIGN_OR_RETURN(AtomicFile model_file, AtomicFile::create(path));
  EPHOST_RETURN_IF_ERROR(append_parts(data_file, *external));
  EPHOST_RETURN_IF_ERROR(append_parts(model_file, model));
  std::error_code failure;
  std::filesystem::remove(path, failure);
  if (failure) {
    return {StatusCode::kFail, formatted("cannot remove the old model {}: {}", quote(path.native()),
                                         failure.message())};
  }
  EPHOST_RETURN_IF_ERROR(data_file.commit());
  return model_file.commit();
}

Result<ExportedModel> export_model(const graph::Model& model, const ExportOptions& options) {
  assert(graph::check_graph(model.graph).ok());
  EPHOST_RETURN_IF_ERROR(check_options(options));
  EPHOST_RETURN_IF_ERROR(check_capture_names(model.graph));
  EPHOST_RETURN_IF_ERROR(check_versions(model.graph));
  ExportedModel result{.external_file_name = options.external_file_name};
  const bool is_external = !options.external_file_name.empty();
  EPHOST_ASSIGN_OR_RETURN(ExternalLayout layout, lay_out_initializers(model.graph, options));

  MessageWriter writer;
  encode_model(model, layout, options.marks_inferred_types, writer);
  result.model.size = writer.size();
  if (result.model.size > kMaxModelBytes) {
    return Status(StatusCode::kFail,
                  formatted("the model would have {} bytes, but an ONNX file holds at most 2 GiB{}",
                            result.model.size,
                            is_external ? " even without its weights"
                                        : "; name an external file for its initializers"));
  }
  writer.begin_writing();
  encode_model(model, layout, options.marks_inferred_types, writer);
  assert(writer.size() == result.model.size);
  result.model.parts = std::move(writer).take_parts();
  result.originals = std::move(layout.originals);
  if (layout.file.size > 0) result.external = std::move(layout.file);
  return result;
}

}  // namespace ephost::onnx_io
