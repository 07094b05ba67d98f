#include "host/conformance/support/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "host/base/checked_math.h"

namespace ephost::conformance {
namespace {

using Bytes = std::span<const std::byte>;

template <class Record>
std::optional<Record> read_at(Bytes file, uint64_t offset) {
  if (!range_fits(offset, sizeof(Record), file.size())) return std::nullopt;
  Record record;
  std::memcpy(&record, file.data() + offset, sizeof(record));
  return record;
}

// The records of a part of the file, as far as it has them.
template <class Record>
std::vector<Record> read_table(Bytes file, uint64_t offset, uint64_t size) {
  std::vector<Record> records;
  for (uint64_t at = 0; at + sizeof(Record) <= size; at += sizeof(Record)) {
    const auto record = read_at<Record>(file, offset + at);
    if (!record) break;
    records.push_back(*record);
  }
  return records;
}

std::string text_at(Bytes file, const Elf64_Shdr& strings, uint64_t offset) {
  if (offset >= strings.sh_size || !range_fits(strings.sh_offset, strings.sh_size, file.size())) {
    return {};
  }
  const auto* const text = reinterpret_cast<const char*>(file.data() + strings.sh_offset + offset);
  return std::string(text, strnlen(text, strings.sh_size - offset));
}

bool is_exported(const Elf64_Sym& symbol) {
  const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned char visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && binding != STB_LOCAL &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

void read_symbols(Bytes file, const Elf64_Shdr& section, const Elf64_Shdr& strings, ElfFile& out) {
  for (const auto& symbol : read_table<Elf64_Sym>(file, section.sh_offset, section.sh_size)) {
    // Names of versions are symbols without a place.
    if (!is_exported(symbol) || symbol.st_shndx == SHN_ABS) continue;
    out.exported.push_back(
        {text_at(file, strings, symbol.st_name), ELF64_ST_BIND(symbol.st_info) == STB_GNU_UNIQUE});
  }
}

void read_dynamic(Bytes file, const Elf64_Shdr& section, const Elf64_Shdr& strings, ElfFile& out) {
  for (const auto& entry : read_table<Elf64_Dyn>(file, section.sh_offset, section.sh_size)) {
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
      out.search_path = text_at(file, strings, entry.d_un.d_val);
    }
    if (entry.d_tag == DT_TEXTREL) out.has_text_relocations = true;
    if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL) != 0) {
      out.has_text_relocations = true;
    }
    if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NODELETE) != 0) {
      out.is_never_unloaded = true;
    }
  }
}

}  // namespace

std::optional<ElfFile> read_elf(Bytes file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
    return std::nullopt;
  }
  ElfFile elf;
  const auto sections =
      read_table<Elf64_Shdr>(file, header->e_shoff, uint64_t{header->e_shnum} * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    if (section.sh_type == SHT_DYNSYM) read_symbols(file, section, strings, elf);
    if (section.sh_type == SHT_DYNAMIC) read_dynamic(file, section, strings, elf);
  }
  const auto segments =
      read_table<Elf64_Phdr>(file, header->e_phoff, uint64_t{header->e_phnum} * sizeof(Elf64_Phdr));
  elf.has_executable_stack = true;  // unless the file says otherwise
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_GNU_STACK) elf.has_executable_stack = (segment.p_flags & PF_X) != 0;
  }
  return elf;
}

}  // namespace ephost::conformance
