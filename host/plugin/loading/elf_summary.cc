#include "host/plugin/loading/elf_summary.h"

#include <elf.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "host/base/checked_math.h"

namespace ephost::plugin {
namespace {

using Bytes = std::span<const std::byte>;

// The record at an offset, or nothing if the file is too short for it.
template <class Record>
std::optional<Record> read_at(Bytes file, uint64_t offset) {
  if (!range_fits(offset, sizeof(Record), file.size())) return std::nullopt;
  Record record;
  std::memcpy(&record, file.data() + offset, sizeof(record));
  return record;
}

bool is_native_elf64(const Elf64_Ehdr& header) {
  constexpr unsigned char kOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == kOrder &&
         header.e_phentsize == sizeof(Elf64_Phdr);
}

std::optional<Elf64_Ehdr> read_header(Bytes file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  return header && is_native_elf64(*header) ? header : std::nullopt;
}

// `size` bytes of records, or nothing if the file is too short for them.
template <class Record>
std::vector<Record> read_table(Bytes file, uint64_t offset, uint64_t size) {
  if (!range_fits(offset, size, file.size())) return {};
  std::vector<Record> records(size / sizeof(Record));
  if (!records.empty()) {
    std::memcpy(records.data(), file.data() + offset, records.size() * sizeof(Record));
  }
  return records;
}

std::vector<Elf64_Phdr> read_segments(Bytes file, const Elf64_Ehdr& header) {
  return read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
}

// The offset in the file of the byte that is loaded at `address`.
std::optional<uint64_t> file_offset(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t inside = address - segment.p_vaddr;
    if (inside < segment.p_filesz) return checked_add<uint64_t>(segment.p_offset, inside);
  }
  return std::nullopt;
}

std::vector<Elf64_Dyn> read_dynamic(Bytes file, const std::vector<Elf64_Phdr>& segments) {
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = 0; range_fits(at, sizeof(Elf64_Dyn), segment.p_filesz);
         at += sizeof(Elf64_Dyn)) {
      const auto offset = checked_add<uint64_t>(segment.p_offset, at);
      const auto entry = offset ? read_at<Elf64_Dyn>(file, *offset) : std::nullopt;
      if (!entry || entry->d_tag == DT_NULL) return entries;
      entries.push_back(*entry);
    }
  }
  return entries;
}

// The terminated text at an offset; empty if it does not lie inside the file.
std::string text_at(Bytes file, uint64_t offset) {
  constexpr size_t kMaxName = 4096;
  if (offset >= file.size()) return {};
  const Bytes rest = file.subspan(offset, std::min<uint64_t>(file.size() - offset, kMaxName));
  const auto* text = reinterpret_cast<const char*>(rest.data());
  return std::string(text, strnlen(text, rest.size()));
}

void read_linkage(Bytes file, const std::vector<Elf64_Phdr>& segments, ElfSummary& summary) {
  const std::vector<Elf64_Dyn> dynamic = read_dynamic(file, segments);
  std::optional<uint64_t> names;
  for (const Elf64_Dyn& entry : dynamic) {
    if (entry.d_tag == DT_STRTAB) names = file_offset(segments, entry.d_un.d_ptr);
  }
  const auto name_at = [&](uint64_t place) {
    const auto offset = names ? checked_add<uint64_t>(*names, place) : std::nullopt;
    return offset ? text_at(file, *offset) : std::string();
  };
  for (const auto& [tag, value] : dynamic) {
    const uint64_t bits = value.d_val;
    if (tag == DT_NEEDED && names) summary.needed.push_back(name_at(bits));
    if (tag == DT_RPATH || tag == DT_RUNPATH) summary.search_path = name_at(bits);
    summary.has_text_relocations |= tag == DT_TEXTREL || (tag == DT_FLAGS && (bits & DF_TEXTREL));
    summary.is_never_unloaded |= tag == DT_FLAGS_1 && (bits & DF_1_NODELETE);
  }
}

bool has_executable_stack(const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_GNU_STACK) return (segment.p_flags & PF_X) != 0;
  }
  return true;  // unless the file says otherwise
}

// Linkers put the section headers last, behind what is not loaded, such as debug information.
uint64_t needed_size(const Elf64_Ehdr& header, const std::vector<Elf64_Phdr>& segments) {
  uint64_t end = 0;
  const auto extend = [&end](uint64_t offset, uint64_t size) {
    const auto stop = checked_add<uint64_t>(offset, size);
    end = std::max(end, stop.value_or(std::numeric_limits<uint64_t>::max()));
  };
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD) extend(segment.p_offset, segment.p_filesz);
  }
  if (end != 0) extend(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  return end;
}

// Names of versions are symbols without a place (SHN_ABS).
bool is_exported(const Elf64_Sym& symbol) {
  const unsigned char visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
         ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

// "libasan.so.8", or clang's "libclang_rt.asan-x86_64.so".
bool is_runtime(std::string_view name, std::string_view sanitizer) {
  for (const std::string_view prefix :
       {std::string_view("lib"), std::string_view("libclang_rt.")}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    if (rest.starts_with(sanitizer) && rest.size() > sanitizer.size() &&
        (rest[sanitizer.size()] == '.' || rest[sanitizer.size()] == '-')) {
      return true;
    }
  }
  return false;
}

}  // namespace

ElfSummary summarize_elf(Bytes file) {
  ElfSummary summary;
  const auto header = read_header(file);
  if (!header) return summary;
  const std::vector<Elf64_Phdr> segments = read_segments(file, *header);
  read_linkage(file, segments, summary);
  summary.needed_size = needed_size(*header, segments);
  summary.has_executable_stack = has_executable_stack(segments);
  return summary;
}

std::vector<ElfSymbol> exported_symbols(Bytes file) {
  std::vector<ElfSymbol> exported;
  const auto header = read_header(file);
  if (!header) return exported;
  const auto sections =
      read_table<Elf64_Shdr>(file, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const uint64_t names = sections[section.sh_link].sh_offset;
    for (const auto& symbol : read_table<Elf64_Sym>(file, section.sh_offset, section.sh_size)) {
      const auto name = checked_add<uint64_t>(names, symbol.st_name);
      if (!is_exported(symbol) || !name) continue;
      exported.push_back({text_at(file, *name), ELF64_ST_BIND(symbol.st_info) == STB_GNU_UNIQUE});
    }
  }
  return exported;
}

uint64_t sanitizers_of(std::span<const std::string> needed) {
  uint64_t flags = 0;
  for (const std::string& name : needed) {
    if (is_runtime(name, "asan")) flags |= EPH_BUILD_ADDRESS_SANITIZER;
    if (is_runtime(name, "tsan")) flags |= EPH_BUILD_THREAD_SANITIZER;
    if (is_runtime(name, "msan")) flags |= EPH_BUILD_MEMORY_SANITIZER;
  }
  return flags;
}

}  // namespace ephost::plugin
