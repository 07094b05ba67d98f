// The files that are read or written while a session is created or a model is compiled, collected
// so that no input is overwritten (host/base/files/operation_files.h).
#pragma once

#include <ephost/status.h>

#include "host/base/files/operation_files.h"
#include "host/context/read/loader.h"
#include "host/graph/graph.h"
#include "host/manifest/choose.h"
#include "host/onnx_io/import/import.h"
#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/model/model_source.h"

namespace ephost::session {

// Files that the options name: those of the application, and the profile.
[[nodiscard]] Status add_option_files(const GivenOptions& options, const SessionConfig& config,
                                      OperationFiles& files);

// The model, its external data, and the binaries that its EPContext nodes refer to.
[[nodiscard]] Status add_model_files(const ModelSource& source, const graph::Model& model,
                                     const onnx_io::ImportReport& read,
                                     const context::LoadOptions& folders, OperationFiles& files);

// A plugin's manifest and library.
[[nodiscard]] Status add_plugin_files(const manifest::FoundPlugin& plugin, OperationFiles& files);

}  // namespace ephost::session
