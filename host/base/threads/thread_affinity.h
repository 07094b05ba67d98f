// The logical processors that the threads of a pool run on.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

// Logical processors, numbered from 0 as the system does, ascending. Empty: any.
using Processors = std::vector<uint32_t>;

// Reads ONNX Runtime's notation: one group for each thread, separated by `;`; a group has numbers
// and ranges such as "1-8", separated by `,`, where the first processor is 1. INVALID_ARGUMENT for
// anything else, and for more threads than a pool has.
[[nodiscard]] Result<std::vector<Processors>> parse_thread_affinities(std::string_view text);

// Removes the processors that the system does not let threads of this process run on; a thread that
// has none left may run on any. Returns a warning that names them, or nothing if there are none.
[[nodiscard]] std::string drop_unusable_processors(std::vector<Processors>& affinities);

// Lets the calling thread run on these only. False if the system refuses.
bool bind_this_thread(const Processors& processors);

}  // namespace ephost
