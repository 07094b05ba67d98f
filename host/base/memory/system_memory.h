// The memory of the machine, and what the process takes of it.
#pragma once

#include <cstdint>

namespace ephost {

// The size limit for what is not planned and grows as data or a plugin say, in bytes.
[[nodiscard]] uint64_t half_of_physical_memory();

// What was freed lies between what is in use; glibc returns it to the system when asked.
void return_freed_memory();

}  // namespace ephost
