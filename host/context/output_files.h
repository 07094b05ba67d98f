// What may be written where: the checks of an output before anything is compiled, and who owns a
// file that is there already. For the writer.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "ephost/status.h"
#include "host/context/writer.h"

namespace ephost::context {

// The folder that all files go to; "." for a name without one.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& output_path);

// Whether anything is written beside, or as, the model.
[[nodiscard]] bool writes_files(const WriteOptions& options);

// As ContextWriter::create says.
[[nodiscard]] Status check_output(const WriteOptions& options);

// FAIL with the remedy if the model itself is to be a file, exists and must not be replaced. To be
// asked again right before publication.
[[nodiscard]] Status check_may_replace(const WriteOptions& options);

// FAIL if a binary of that name is there and belongs to the other context model that shares
// `context_model_stem`, or if it is there and nothing may be replaced by a model in memory.
[[nodiscard]] Status check_binary_name(const WriteOptions& options, const std::string& file_name);

// FAIL if the initializers' file is there, has other content than `sum`, and is not known to be of
// the context model that is being replaced: it may be the data of any model.
[[nodiscard]] Status check_initializers_file(const WriteOptions& options, const ContentSum& sum);

}  // namespace ephost::context
