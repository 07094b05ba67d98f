// The layer "validate": checks what the rules of the ABI say and the host cannot see otherwise. It
// hands out guarded memory, fills outputs with a pattern, and compares codes with messages. What it
// finds fails the call, with the number of the rule in ABI.md.
#pragma once

#include <memory>

#include "host/layers/layer.h"
#include "host/layers/validate/guarded_memory.h"

namespace ephost::layers {

struct ValidateOptions {
  Guard guard = Guard::kZones;
};

[[nodiscard]] std::shared_ptr<Layer> make_validate(ValidateOptions options);

}  // namespace ephost::layers
