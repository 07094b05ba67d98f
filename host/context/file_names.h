// File names of the EP context cache (SPECIFICATION.md, "File names"). Pure functions of text;
// nothing here looks at the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ephost::context {

// Default path of the context model made from `model_path`: the extension of the file name, if it
// has one, is replaced by `_ctx.onnx`. Dots in folder names do not count.
[[nodiscard]] std::filesystem::path context_model_path(const std::filesystem::path& model_path);

// The [model] in `[model]_[ep].bin` for the context model at `output_path`: its file name without
// `_ctx.onnx`, or without its extension if it ends differently. It is derived from the output, not
// from the source model, so that two context models of one source have separate binaries. Only
// `a.onnx` and `a_ctx.onnx` still share a stem; the writer refuses to overwrite a binary that
// belongs to the other one.
[[nodiscard]] std::string context_model_stem(const std::filesystem::path& output_path);

// `[model]_[ep].bin` for index 0, `[model]_[ep]_1.bin` for index 1, and so on.
[[nodiscard]] std::string context_binary_name(std::string_view model_stem,
                                              std::string_view ep_short_name, uint32_t index);

// Superseded name of a file: its name, a dot, and the checksum of its content in hexadecimal
// digits. A file that is being replaced keeps this name until the new context model is in place, so
// that a reader of the old model, also after a crash, still finds the content.
[[nodiscard]] std::string superseded_name(std::string_view file_name,
                                          std::string_view checksum_hex);

// Whether `candidate` is a superseded name of `file_name` with any checksum.
[[nodiscard]] bool is_superseded_name(std::string_view candidate, std::string_view file_name);

}  // namespace ephost::context
