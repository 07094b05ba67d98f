// A writer of the smallest shared object that the system's loader accepts: no code, no data, and a
// list of the objects that it depends on. Called by guarded_load.h; elf_summary.h reads such files.
#pragma once

#include <ephost/status.h>

#include <span>
#include <string>

namespace ephost::plugin {

// A 64-bit ELF shared object for the machine of this process, which depends on `needed`: paths with
// a '/', in the order in which the loader maps them. FAIL where /proc/self/exe cannot be read, from
// which the machine is known.
[[nodiscard]] Result<std::string> make_elf_object(std::span<const std::string> needed);

}  // namespace ephost::plugin
