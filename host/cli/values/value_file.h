// Values in files, by extension: .pb (one TensorProto, or SequenceProto, MapProto or OptionalProto
// as the model's type has it), and for tensors .npy (NumPy), .raw and .bin (nothing but the
// elements, little-endian and row-major). For `run`, `bench` and `test`.
#pragma once

#include <ephost/status.h>
#include <ephost/value.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::cli {

struct FileValue {
  std::string name;  // as the file states it; may be empty
  Value value;
};

// What a raw file cannot say about itself.
struct RawLayout {
  ElementType type = ElementType::kUndefined;
  std::vector<int64_t> shape;
};

// What a .pb file does not say about itself; see ValueDescription.
struct ValueForm {
  ValueKind kind = ValueKind::kTensor;
  bool is_optional = false;
  ElementType element_type = ElementType::kUndefined;
};

// How a value may be written: whether the extension is one that is known.
[[nodiscard]] bool is_value_file(const std::filesystem::path& path);
// Whether reading it needs a RawLayout.
[[nodiscard]] bool is_raw_file(const std::filesystem::path& path);

// INVALID_ARGUMENT for an unknown extension, and for a raw file without layout or of another size.
[[nodiscard]] Result<FileValue> read_value(const std::filesystem::path& path,
                                           const std::optional<RawLayout>& raw = std::nullopt,
                                           const ValueForm& form = {});

// The extension of a file that can hold the value and is the easiest to read: .npy, or .pb where
// NumPy has no such type or it is no tensor.
[[nodiscard]] std::string_view default_extension(const Value& value);

// Atomically; `name` goes into the file where its format has room for it. INVALID_ARGUMENT where
// the format cannot hold the value.
[[nodiscard]] Status write_value(const std::filesystem::path& path, std::string_view name,
                                 const Value& value, bool is_optional = false);

}  // namespace ephost::cli
