// The options of the layer "validate".
#pragma once

#include <cstdint>

namespace ephost::layers {

enum class Guard {
  kZones,  // a pattern on both sides, which is compared afterwards
  kPages   // besides, pages without access on both sides, where reads and writes crash. The
           // memory lies next to the one behind, and in repetitions of a run to the one before
};

struct ValidateOptions {
  Guard guard = Guard::kZones;              // session.validate.guard
  uint32_t deadline_milliseconds = 60'000;  // session.validate.deadline; 0: calls may take any time
  // session.validate.abort_after: after how many deadlines the process ends, so that its crash
  // report shows all calls and a core dump all threads; 0: never
  uint32_t abort_after = 0;
};

}  // namespace ephost::layers
