// Context models of samples, taken apart and put together again.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {

// A context model with its payloads inside.
struct Compiled {
  std::string model;                            // its bytes
  std::map<std::string, std::string> payloads;  // by the name of their partition
  std::vector<std::pair<std::string, std::string>>
      compatibility;  // what the model declares for them
};

// Compiles for the session options. FAIL if the provider compiled nothing, or writes no context.
[[nodiscard]] Result<Compiled> compile(const Bench& bench, const std::string& model);

// The model with other payloads in the place of its own, and checksums that are right for them.
[[nodiscard]] Result<std::string> with_payloads(const std::string& context_model,
                                                const std::map<std::string, std::string>& payloads);
// The model with another compatibility text for all its payloads.
[[nodiscard]] Result<std::string> with_compatibility(const std::string& context_model,
                                                     const std::string& text);

// Samples that the provider compiles and writes contexts of; leaves the check out if there are
// none.
struct CompiledSample {
  Sample sample;
  Compiled compiled;
};
[[nodiscard]] std::vector<CompiledSample> need_compiled(const Bench& bench,
                                                        const SampleRequest& request,
                                                        Report& report);

}  // namespace ephost::conformance
