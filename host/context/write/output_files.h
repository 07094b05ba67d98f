// What may be written where: the checks of an output before anything is compiled, and who owns a
// file that is there already. For the writer.
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

// The folder that all files go to; "." for a name without one.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& output_path);

// Whether anything is written beside, or as, the model.
[[nodiscard]] bool writes_files(const WriteOptions& options);

// Adds WriteOptions::files, the source model, the context model and its external initializers to
// `files`. INVALID_ARGUMENT where they conflict.
[[nodiscard]] Status add_output_files(const WriteOptions& options, OperationFiles& files);

// As ContextWriter::create says. The function above adds to `files`.
[[nodiscard]] Status check_output(const WriteOptions& options, OperationFiles& files);

// FAIL with the remedy if the model itself is to be a file, exists and must not be replaced:
// because nothing may be, or because what is there is no context model. To be asked again right
// before publication.
[[nodiscard]] Status check_may_replace(const WriteOptions& options);

// FAIL if a binary of that name is there and belongs to the other context model that shares
// `context_model_stem`, or if it is there and nothing may be replaced by a model in memory.
[[nodiscard]] Status check_binary_name(const WriteOptions& options, const std::string& file_name);

// FAIL if a file of that name stands beside the context model, has other content than `checksum`,
// and is not known to be of a context model that is being replaced: anything may be in it. `models`
// are the paths of all the context models that are published together. To be asked right before
// publication.
[[nodiscard]] Status check_may_replace_file(const WriteOptions& options,
                                            std::span<const std::filesystem::path> models,
                                            const std::string& file_name,
                                            const ContentChecksum& checksum);

}  // namespace ephost::context
