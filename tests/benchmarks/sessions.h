// Sessions and context models of the public API, with the plugins of the build.
#pragma once

#include <ephost/ephost.h>

#include <filesystem>

#include "tests/benchmarks/measurement.h"

namespace ephost::benchmarks {

// The CPU, dnnl and scripted providers of the build.
[[nodiscard]] const Environment& environment();

[[nodiscard]] Result<Sample> time_session(const std::filesystem::path& model,
                                          const SessionOptions& options);
// Options of compile_model with files.
[[nodiscard]] Result<Sample> time_generation(const SessionOptions& options,
                                             const ModelCompilationOptions& compilation);

}  // namespace ephost::benchmarks
