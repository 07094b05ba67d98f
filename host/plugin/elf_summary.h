// What a library's file tells about dangers of loading it: a sanitizer's run-time that comes too
// late ends the process, and a truncated file faults inside of the loader. Everything else that can
// be wrong with a file the loader reports itself. Called by the registry before it loads.
//
// This is our own because a few structures of <elf.h> are all that is needed, for which libelf
// would add a library to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ephost::plugin {

struct ElfSummary {
  // The names of the libraries that the file asks for.
  std::vector<std::string> needed;
  // The size that the file must have for its segments.
  uint64_t needed_size = 0;
};

// Of an ELF file of 64 bit and this machine's byte order, whatever is wrong with it; all empty for
// any other file.
[[nodiscard]] ElfSummary summarize_elf(std::span<const std::byte> file);

// The EPH_BUILD_* bits of the sanitizers whose run-times are among these names.
[[nodiscard]] uint64_t sanitizers_of(std::span<const std::string> needed);

}  // namespace ephost::plugin
