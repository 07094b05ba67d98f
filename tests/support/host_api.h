// Access to the state behind the objects of the C++ API. Programs of tests that use it link the
// host itself (ephost_api), not the shared library.
#pragma once

#include <ephost/ephost.h>

#include <filesystem>

#include "host/api/handles.h"
#include "host/session/creation/pipeline.h"

namespace ephost {

[[nodiscard]] inline session::EnvironmentState& inside(const Environment& environment) {
  return *environment.handle()->state;
}
[[nodiscard]] inline session::SessionState& inside(const Session& session) {
  return *session.handle()->state;
}
[[nodiscard]] inline const session::GivenOptions& inside(const SessionOptions& options) {
  return options.handle()->options;
}

// The stages of a session's creation up to one of them.
[[nodiscard]] inline Result<session::PreparedModel> prepare_inside(
    const Environment& environment, const std::filesystem::path& model,
    const SessionOptions& options, session::Stage until, const session::PipelineHooks& hooks = {}) {
  return session::prepare_model(inside(environment), {model, {}}, inside(options), until, hooks);
}

}  // namespace ephost
