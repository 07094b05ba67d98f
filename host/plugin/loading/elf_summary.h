// The ELF file of a library: what it needs, how it was linked, what it exports. A sanitizer runtime
// that is loaded too late ends the process, and a truncated file faults inside the loader, so the
// registry looks here before it loads; the loader itself reports everything else that can be wrong
// with a file. The conformance kit compares the rest with the rules for plugins.
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
  // The size in bytes that the file must have to contain its segments and its section headers; 0
  // for a file that is not an ELF file.
  uint64_t needed_size = 0;
  std::string search_path;  // of DT_RUNPATH or DT_RPATH; empty: none
  bool has_executable_stack = false;
  bool has_text_relocations = false;
  bool is_never_unloaded = false;  // DF_1_NODELETE
};

// Summarises a 64-bit ELF file in this machine's byte order, however damaged; empty for any other
// file.
[[nodiscard]] ElfSummary summarize_elf(std::span<const std::byte> file);

// A symbol that is defined in a file and visible to others.
struct ElfSymbol {
  std::string name;
  bool is_unique = false;  // GNU unique: keeps the library loaded
};

// The exported symbols of such a file, as far as its section headers lead to them.
[[nodiscard]] std::vector<ElfSymbol> exported_symbols(std::span<const std::byte> file);

// The EPH_BUILD_* bits of the sanitizers whose runtimes are among these names.
[[nodiscard]] uint64_t sanitizers_of(std::span<const std::string> needed);

}  // namespace ephost::plugin
