// Values in files, by extension: .pb (one TensorProto, or SequenceProto, MapProto or OptionalProto
// as the model's type has it), and for tensors .npy (NumPy), .raw and .bin (nothing but the
// elements, little-endian and row-major). For `run`, `bench` and `test`.
#pragma once

#include <ephost/status.h>
#include <ephost/value.h>
#include <ephost/value_file.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::cli {

// Type and shape of a value, which a raw file does not have.
struct RawLayout {
  ElementType type = ElementType::kUndefined;
  std::vector<int64_t> shape;
};

// Whether the extension is that of a known format.
[[nodiscard]] bool is_value_file(const std::filesystem::path& path);
// Whether reading it needs a RawLayout.
[[nodiscard]] bool is_raw_file(const std::filesystem::path& path);

// INVALID_ARGUMENT for an unknown extension, and for a raw file without layout or of another size.
[[nodiscard]] Result<NamedValue> read_value(const std::filesystem::path& path,
                                            const std::optional<RawLayout>& raw = std::nullopt,
                                            const ValueForm& form = {});

// The extension of the most readable format that can hold the value: .npy, or .pb if it is not a
// tensor or NumPy lacks its type.
[[nodiscard]] std::string_view default_extension(const Value& value);

// Atomically; `name` goes into the file where its format has room for it. INVALID_ARGUMENT where
// the format cannot hold the value.
[[nodiscard]] Status write_value(const std::filesystem::path& path, std::string_view name,
                                 const Value& value, bool is_optional = false);

}  // namespace ephost::cli
