// Names of the files of the EP context cache. Text in, text out; nothing is looked up on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ephost::context {

// Where the context model of `model_path` goes by default: the extension of the file name, if there
// is one, is replaced by `_ctx.onnx`. Dots in folder names do not matter.
[[nodiscard]] std::filesystem::path context_model_path(const std::filesystem::path& model_path);

// The [model] of `[model]_[ep].bin` for the context model at `output_path`: its file name without
// `_ctx.onnx`, or without its extension if it does not end so. It comes from the output and not
// from the source model, so that two context models made of one model keep their binaries apart.
// The one pair of outputs that still shares it is `a.onnx` and `a_ctx.onnx`; the writer refuses to
// take a binary away from the other one.
[[nodiscard]] std::string context_model_stem(const std::filesystem::path& output_path);

// `[model]_[ep].bin` for the first payload of a provider, `[model]_[ep]_1.bin` for the second.
[[nodiscard]] std::string context_binary_name(std::string_view model_stem,
                                              std::string_view ep_short_name, uint32_t index);

// A binary that is being replaced stands under this name until the new context model is in place,
// so that whoever holds the old model (or finds it after a crash) finds its content: the name, a
// dot, and the content's checksum in hexadecimal digits.
[[nodiscard]] std::string superseded_name(std::string_view file_name,
                                          std::string_view checksum_hex);

// Whether `candidate` is a superseded_name of `file_name`, whatever the checksum.
[[nodiscard]] bool is_superseded_name(std::string_view candidate, std::string_view file_name);

}  // namespace ephost::context
