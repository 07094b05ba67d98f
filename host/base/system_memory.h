// The memory of the machine.
#pragma once

#include <cstdint>

namespace ephost {

// The size limit for what is not planned and grows as data or a plugin say, in bytes.
[[nodiscard]] uint64_t half_of_physical_memory();

}  // namespace ephost
