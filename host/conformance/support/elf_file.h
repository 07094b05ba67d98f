// What the file of a library shows about how it was linked. plugin/elf_summary.h has what the host
// itself looks at.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ephost::conformance {

struct ElfFile {
  struct Symbol {
    std::string name;
    bool is_unique = false;  // GNU unique: keeps the library loaded
  };
  std::vector<Symbol> exported;  // defined and visible to other files
  std::string search_path;       // of DT_RUNPATH or DT_RPATH; empty: none
  bool has_executable_stack = false;
  bool has_text_relocations = false;
  bool is_never_unloaded = false;  // DF_1_NODELETE
};

// Nothing for a file that is not a complete 64-bit ELF file.
[[nodiscard]] std::optional<ElfFile> read_elf(std::span<const std::byte> file);

}  // namespace ephost::conformance
