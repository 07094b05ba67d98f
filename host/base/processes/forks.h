// Forks of this process.
#pragma once

#include <cstdint>

namespace ephost {

// How many forks lie between the process in which the program started and this one. What belongs to
// the parent of a process, such as its threads and children, was made under another number.
[[nodiscard]] uint32_t fork_generation() noexcept;

}  // namespace ephost
