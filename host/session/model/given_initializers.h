// The initializers that an application gives, in the form that the importer takes. Called by the
// model reader and for the key of the cache store.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/files/known_checksums.h"
#include "host/context/metadata.h"
#include "host/graph/types.h"
#include "host/onnx_io/overrides/initializers.h"
#include "host/session/config/given_options.h"

namespace ephost::session {

// SessionOptions::initializers. The tensors share the values' memory, or borrow it as the values
// do. INVALID_ARGUMENT for a value that is not a tensor.
[[nodiscard]] Result<onnx_io::GivenInitializers> given_initializers(const GivenOptions& options);

// A view of memory of the application, which has to outlive it. `where`, such as "in the model",
// names it in the report of a crash.
[[nodiscard]] graph::Blob lent_blob(std::span<const std::byte> bytes, const std::string& where);

// SessionOptions::files_in_memory by name, borrowed.
[[nodiscard]] std::map<std::string, graph::Blob> given_files(const GivenOptions& options);

// One sentence for each file in memory of which the model reads nothing; `read` are those of which
// it reads something.
[[nodiscard]] std::vector<std::string> describe_unread_files(const GivenOptions& options,
                                                             const std::set<std::string>& read);

// The checksum of a tensor's elements. CANCELLED or DEADLINE_EXCEEDED once cancellation is
// requested.
[[nodiscard]] Result<context::ContentChecksum> checksum_of_elements(
    const graph::Tensor& tensor, const KnownChecksums& known, const Cancellation& cancellation);

}  // namespace ephost::session
