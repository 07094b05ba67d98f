// The layer "validate": checks what the rules of the ABI say and the host cannot see otherwise, of
// the plugin and of the host's own calls. What it finds fails the call, with the number of the rule
// in ABI.md, or is an error in the log where the call cannot fail.
#pragma once

#include <memory>

#include "host/layers/layer.h"
#include "host/layers/validate/runs/reference.h"
#include "host/layers/validate/validate_options.h"

namespace ephost::layers {

// Results are compared with those of the references, if there is a function that makes them.
[[nodiscard]] std::shared_ptr<Layer> make_validate(ValidateOptions options,
                                                   MakeReference make_reference = {});

}  // namespace ephost::layers
