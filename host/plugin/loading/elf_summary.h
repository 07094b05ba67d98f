// What a library's file shows about the risks of loading it: a sanitizer runtime that is loaded too
// late ends the process, and a truncated file faults inside the loader. The loader itself reports
// everything else that can be wrong with a file. Called by the registry before it loads.
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
  // The names of the libraries that the file depends on.
  std::vector<std::string> needed;
  // The size in bytes that the file must have to contain its segments and its section headers.
  uint64_t needed_size = 0;
};

// Summarises a 64-bit ELF file in this machine's byte order, however damaged; empty for any other
// file.
[[nodiscard]] ElfSummary summarize_elf(std::span<const std::byte> file);

// The EPH_BUILD_* bits of the sanitizers whose runtimes are among these names.
[[nodiscard]] uint64_t sanitizers_of(std::span<const std::string> needed);

}  // namespace ephost::plugin
