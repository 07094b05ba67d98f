// Fallbacks: what replaced a partition that its provider could not handle.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <string>

namespace ephost {

// Nodes that a provider failed to compile, or to load, and that the next providers got. The
// configuration entry `session.disable_ep_fallback` makes such a failure an error instead.
//
// Or a provider that the session does without because its worker ended (session.on_crash): without
// a partition, and with 0 nodes.
struct Fallback {
  std::string provider;
  std::string partition;  // its name; empty: the kernel of a single node
  uint64_t nodes = 0;
  Status reason;
};

}  // namespace ephost
