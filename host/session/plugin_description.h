// A manifest as the public API describes it.
#pragma once

#include <ephost/environment.h>

#include "host/manifest/search.h"

namespace ephost::session {

[[nodiscard]] InstalledPlugin describe_plugin(const manifest::FoundPlugin& found);

}  // namespace ephost::session
