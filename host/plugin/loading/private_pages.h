// Private copies of the pages of a loaded library, so that later changes of its file do not show.
// Called by loaded_files.h.
#pragma once

#include <ephost/status.h>

#include <cstdint>

namespace ephost::plugin {

// Copies every page that the system's loader has mapped from the file of the object whose first
// segment begins at `address`, so that no change of the file shows there any longer. The file must
// not change meanwhile, nor may code of the object run. The mappings keep the name of their file.
// FAIL where the system forbids it, or where nothing is loaded there.
[[nodiscard]] Status take_private_pages(uintptr_t address);

}  // namespace ephost::plugin
