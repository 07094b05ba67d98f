// Verification of context models under the signature policy of a session, before any provider sees
// a byte of them. Called by what reads such models: the pipeline, the cache store, verification.
#pragma once

#include <ephost/status.h>
#include <ephost/types/environment.h>

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "host/context/read/loader.h"
#include "host/graph/graph.h"
#include "host/trust/verifier.h"

namespace ephost::session {

// The external files that a context model uses, with the bytes that were mapped for it, which are
// then used and no others: the payloads are opened here and added to `options.files`. A payload
// that cannot be read is left out; loading says why. Borrows from `options`.
[[nodiscard]] trust::ModelFiles open_model_files(const graph::Model& model,
                                                 context::LoadOptions& options);

// INVALID_GRAPH if others than root and this user may change the model or one of `options.files`
// (host/base/files/ownership.h), after its signature was compared and while its pages are in use.
[[nodiscard]] Status check_model_writers(const std::filesystem::path& file,
                                         const context::LoadOptions& options);

// INVALID_GRAPH if the policy is `require` and the signature beside `file` does not count, or
// something was revoked; under `warn`, a warning. So for a model that check_model_writers refuses.
// OK for a model without EPContext nodes. `content` is the model as it was read from `file`, which
// is empty for one from memory. An entry of the cache store has a `description`, which its
// signature covers besides its files.
[[nodiscard]] Status check_model_signature(const trust::Verifier& verifier, SignaturePolicy policy,
                                           const std::filesystem::path& file,
                                           std::span<const std::byte> content,
                                           const graph::Model& model, context::LoadOptions& options,
                                           std::string_view description = {});

}  // namespace ephost::session
