#include "host/cli/values/value_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/values/elements.h"
#include "host/cli/values/npy.h"

namespace ephost::cli {
namespace {

enum class FileKind { kUnknown, kMessage, kNumpy, kRaw };

FileKind kind_of(const std::filesystem::path& path) {
  const std::string extension = ascii_lower(path.extension().native());
  if (extension == ".pb") return FileKind::kMessage;
  if (extension == ".npy") return FileKind::kNumpy;
  if (extension == ".raw" || extension == ".bin") return FileKind::kRaw;
  return FileKind::kUnknown;
}

Status unknown_extension(const std::filesystem::path& path) {
  return Status(StatusCode::kInvalidArgument,
                formatted("the extension of {} is not a tensor format; use .pb, .npy, .raw or .bin",
                          quote(path.native())));
}

// A bool that is neither 0 nor 1 is undefined in C++.
void normalize_bools(Value& value) {
  if (value.element_type() != ElementType::kBool) return;
  for (std::byte& element : value.mutable_bytes()) {
    if (element != std::byte{0}) element = std::byte{1};
  }
}

Result<NamedValue> read_numpy(const std::filesystem::path& path) {
  EPHOST_ASSIGN_OR_RETURN(const std::string content, read_file(path));
  EPHOST_ASSIGN_OR_RETURN(Value value, decode_npy(content, path.native()));
  return NamedValue{"", std::move(value)};
}

Result<NamedValue> read_raw(const std::filesystem::path& path,
                            const std::optional<RawLayout>& layout) {
  if (!layout) {
    return Status(StatusCode::kInvalidArgument,
                  quote(path.native()) + " is raw, and its type and shape are not known; use .pb");
  }
  EPHOST_ASSIGN_OR_RETURN(Value value, Value::allocate(layout->type, layout->shape));
  EPHOST_ASSIGN_OR_RETURN(const std::string content, read_file(path));
  const auto bytes = value.mutable_bytes();
  if (content.size() != bytes.size() || layout->type == ElementType::kString) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted(
            "{} has {} bytes, and {} needs {}; give a file of that size, or the right --shape",
            quote(path.native()), content.size(), type_text(value), bytes.size()));
  }
  if (!content.empty()) std::memcpy(bytes.data(), content.data(), content.size());
  return NamedValue{"", std::move(value)};
}

Result<NamedValue> read_by_kind(const std::filesystem::path& path,
                                const std::optional<RawLayout>& raw, const ValueForm& form) {
  switch (kind_of(path)) {
    case FileKind::kMessage:
      return read_value_file(path, form);
    case FileKind::kNumpy:
      return read_numpy(path);
    case FileKind::kRaw:
      return read_raw(path, raw);
    case FileKind::kUnknown:
      break;
  }
  return unknown_extension(path);
}

}  // namespace

bool is_value_file(const std::filesystem::path& path) {
  return kind_of(path) != FileKind::kUnknown;
}

bool is_raw_file(const std::filesystem::path& path) { return kind_of(path) == FileKind::kRaw; }

std::string_view default_extension(const Value& value) {
  const bool is_tensor = value.kind() == ValueKind::kTensor;
  return is_tensor && is_numpy_type(value.element_type()) ? ".npy" : ".pb";
}

Result<NamedValue> read_value(const std::filesystem::path& path,
                              const std::optional<RawLayout>& raw, const ValueForm& form) {
  EPHOST_ASSIGN_OR_RETURN(NamedValue read, read_by_kind(path, raw, form));
  normalize_bools(read.value);
  return read;
}

Status write_value(const std::filesystem::path& path, std::string_view name, const Value& value,
                   bool is_optional) {
  const FileKind kind = kind_of(path);
  const bool is_array = kind == FileKind::kNumpy || kind == FileKind::kRaw;
  if (is_array && value.kind() != ValueKind::kTensor) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} is {}, and {} can hold a tensor only; write it as .pb", quote(name),
                            type_text(value), quote(path.native())));
  }
  switch (kind) {
    case FileKind::kMessage:
      return write_value_file(path, {std::string(name), value}, is_optional);
    case FileKind::kNumpy: {
      EPHOST_ASSIGN_OR_RETURN(const std::string content, encode_npy(value));
      return write_file_atomically(path, as_bytes(content));
    }
    case FileKind::kRaw:
      if (value.element_type() == ElementType::kString) {
        return Status(StatusCode::kInvalidArgument,
                      formatted("strings have no raw form; write {} as .pb", quote(name)));
      }
      return write_file_atomically(path, value.bytes());
    case FileKind::kUnknown:
      break;
  }
  return unknown_extension(path);
}

}  // namespace ephost::cli
