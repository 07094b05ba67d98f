// Tensors in files, by extension: .pb (one TensorProto), .npy (NumPy), .raw and .bin (nothing but
// the elements, little-endian and row-major). For `run`, `bench` and `test`.
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

// How a tensor may be written: whether the extension is one that is known.
[[nodiscard]] bool is_value_file(const std::filesystem::path& path);
// Whether reading it needs a RawLayout.
[[nodiscard]] bool is_raw_file(const std::filesystem::path& path);

// INVALID_ARGUMENT for an unknown extension, and for a raw file without layout or of another size.
[[nodiscard]] Result<FileValue> read_value(const std::filesystem::path& path,
                                           const std::optional<RawLayout>& raw = std::nullopt);

// The extension of a file that can hold the value and is the easiest to read: .npy, or .pb where
// NumPy has no such type.
[[nodiscard]] std::string_view default_extension(const Value& value);

// Atomically; `name` goes into the file where its format has room for it.
[[nodiscard]] Status write_value(const std::filesystem::path& path, std::string_view name,
                                 const Value& value);

}  // namespace ephost::cli
