// Checks of the outputs before anything is compiled: which files may be written, and what an
// existing file belongs to. Used by the writer.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "ephost/status.h"
#include "host/base/files/operation_files.h"
#include "host/context/metadata.h"
#include "host/context/write/writer.h"

namespace ephost::context {

// INVALID_ARGUMENT with this message.
[[nodiscard]] Status invalid_argument(std::string message);

// The folder of all output files; "." for a path without a folder.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& output_path);

// Whether the model or anything that belongs to it goes to a file.
[[nodiscard]] bool writes_files(const WriteOptions& options);

// Adds WriteOptions::files, the source model, the context model and its external initializers to
// `files`. INVALID_ARGUMENT where they conflict.
[[nodiscard]] Status add_output_files(const WriteOptions& options, OperationFiles& files);

// The checks that ContextWriter::create documents. Adds to `files` as add_output_files does.
[[nodiscard]] Status check_output(const WriteOptions& options, OperationFiles& files);

// FAIL with the remedy if the model goes to an existing file that must not be replaced, either
// because no file may be or because it is not a context model. Call it again right before
// publication.
[[nodiscard]] Status check_may_replace(const WriteOptions& options);

// FAIL if a binary of that name exists and belongs to the other context model with the same
// `context_model_stem`, or if it exists, the model goes to memory, and nothing may be replaced.
[[nodiscard]] Status check_binary_name(const WriteOptions& options, const std::string& file_name);

// FAIL if a file of that name exists beside the context model, differs from `checksum`, and is not
// known to belong to a context model that is being replaced: it could be anything. `models` are the
// paths of all context models that are published together. Call it right before publication.
[[nodiscard]] Status check_may_replace_file(const WriteOptions& options,
                                            std::span<const std::filesystem::path> models,
                                            const std::string& file_name,
                                            const ContentChecksum& checksum);

}  // namespace ephost::context
