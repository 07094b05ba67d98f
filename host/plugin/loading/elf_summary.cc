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

std::vector<Elf64_Phdr> read_segments(Bytes file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || !is_native_elf64(*header)) return {};
  std::vector<Elf64_Phdr> segments;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto offset = checked_add<uint64_t>(header->e_phoff, i * sizeof(Elf64_Phdr));
    const auto segment = offset ? read_at<Elf64_Phdr>(file, *offset) : std::nullopt;
    if (!segment) return {};
    segments.push_back(*segment);
  }
  return segments;
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

std::vector<std::string> needed_libraries(Bytes file, const std::vector<Elf64_Phdr>& segments) {
  const std::vector<Elf64_Dyn> dynamic = read_dynamic(file, segments);
  std::optional<uint64_t> names;
  for (const Elf64_Dyn& entry : dynamic) {
    if (entry.d_tag == DT_STRTAB) names = file_offset(segments, entry.d_un.d_ptr);
  }
  std::vector<std::string> needed;
  for (const Elf64_Dyn& entry : dynamic) {
    if (!names || entry.d_tag != DT_NEEDED) continue;
    const auto offset = checked_add<uint64_t>(*names, entry.d_un.d_val);
    if (offset) needed.push_back(text_at(file, *offset));
  }
  return needed;
}

// Linkers put the section headers last, behind what is not loaded, such as debug information.
uint64_t needed_size(Bytes file, const std::vector<Elf64_Phdr>& segments) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || segments.empty()) return 0;
  uint64_t end = 0;
  const auto extend = [&end](uint64_t offset, uint64_t size) {
    const auto stop = checked_add<uint64_t>(offset, size);
    end = std::max(end, stop.value_or(std::numeric_limits<uint64_t>::max()));
  };
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD) extend(segment.p_offset, segment.p_filesz);
  }
  if (end != 0) extend(header->e_shoff, uint64_t{header->e_shnum} * sizeof(Elf64_Shdr));
  return end;
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

ElfSummary summarize_elf(std::span<const std::byte> file) {
  const std::vector<Elf64_Phdr> segments = read_segments(file);
  return {needed_libraries(file, segments), needed_size(file, segments)};
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
