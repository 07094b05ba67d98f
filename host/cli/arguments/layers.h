// Entries of a session that say which layers lie over its providers.
#pragma once

#include <ephost/session_options.h>

#include <string>
#include <vector>

namespace ephost::cli {

// Adds `named`, the layers of the command line, over all providers in place of what other entries
// say of all of them; nothing where there are none.
void add_layers(const std::vector<std::string>& named, SessionOptions& options);

// Puts the layer trace below the layers that the session has so far, over all providers and over
// each one that has layers of its own, unless it is among them.
void add_trace(SessionOptions& options);

}  // namespace ephost::cli
