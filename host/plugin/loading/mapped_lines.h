// The files that are mapped into the process, from /proc/self/maps.
#pragma once

#include <cstddef>
#include <string>

namespace ephost::plugin {

// Device and inode of the file that is mapped at `address`, as `maps`, the content of
// /proc/self/maps, gives them; empty if no line covers the address. Some file systems give other
// numbers there than `stat` returns for the same file.
[[nodiscard]] std::string file_mapped_at(const void* address, const std::string& maps);

// How many ranges of that file, as file_mapped_at names it, are mapped for more than reading. A
// loaded library has at least one, since its dynamic section is written to; a MappedFile has none.
[[nodiscard]] size_t count_loaded_ranges(const std::string& file, const std::string& maps);

}  // namespace ephost::plugin
