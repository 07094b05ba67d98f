#include "host/plugin/loading/elf_object.h"

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "host/base/files/file.h"

namespace ephost::plugin {
namespace {

constexpr Elf64_Half kSegments = 3;
constexpr size_t kDynamicOffset = sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr);

// Identification, machine and flags are those of the running program.
Result<Elf64_Ehdr> file_header() {
  EPHOST_ASSIGN_OR_RETURN(InputFile program, InputFile::open("/proc/self/exe"));
  Elf64_Ehdr own = {};
  EPHOST_ASSIGN_OR_RETURN(const size_t size,
                          program.read(std::as_writable_bytes(std::span(&own, 1))));
  if (size != sizeof(own) || std::memcmp(own.e_ident, ELFMAG, SELFMAG) != 0 ||
      own.e_ident[EI_CLASS] != ELFCLASS64) {
    return Status(StatusCode::kFail, "this program is not a 64-bit ELF file");
  }
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, own.e_ident, sizeof(header.e_ident));
  header.e_type = ET_DYN;
  header.e_machine = own.e_machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_flags = own.e_flags;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = kSegments;
  return header;
}

Elf64_Phdr segment(Elf64_Word type, size_t offset, size_t size, size_t alignment) {
  Elf64_Phdr segment = {};
  segment.p_type = type;
  segment.p_flags = PF_R | PF_W;
  segment.p_offset = segment.p_vaddr = segment.p_paddr = offset;
  segment.p_filesz = segment.p_memsz = size;
  segment.p_align = alignment;
  return segment;
}

Elf64_Dyn dynamic_entry(Elf64_Sxword tag, uint64_t value) {
  Elf64_Dyn entry = {};
  entry.d_tag = tag;
  entry.d_un.d_val = value;
  return entry;
}

template <class Record>
void append(const Record& record, std::string& out_bytes) {
  out_bytes.append(reinterpret_cast<const char*>(&record), sizeof(record));
}

}  // namespace

Result<std::string> make_elf_object(std::span<const std::string> needed) {
  EPHOST_ASSIGN_OR_RETURN(const Elf64_Ehdr header, file_header());
  std::string names(1, '\0');
  std::vector<Elf64_Dyn> dynamic;
  for (const std::string& name : needed) {
    dynamic.push_back(dynamic_entry(DT_NEEDED, names.size()));
    names.append(name).push_back('\0');
  }
  constexpr size_t kFurtherEntries = 5;
  const size_t dynamic_size = (needed.size() + kFurtherEntries) * sizeof(Elf64_Dyn);
  const size_t symbols = kDynamicOffset + dynamic_size;
  const size_t name_table = symbols + sizeof(Elf64_Sym);
  const std::array<Elf64_Dyn, kFurtherEntries> further = {
      dynamic_entry(DT_STRTAB, name_table), dynamic_entry(DT_STRSZ, names.size()),
      dynamic_entry(DT_SYMTAB, symbols), dynamic_entry(DT_SYMENT, sizeof(Elf64_Sym)),
      dynamic_entry(DT_NULL, 0)};
  dynamic.insert(dynamic.end(), further.begin(), further.end());

  constexpr size_t kLargestPage = 65536;
  std::string object;
  append(header, object);
  append(segment(PT_LOAD, 0, name_table + names.size(), kLargestPage), object);
  append(segment(PT_DYNAMIC, kDynamicOffset, dynamic_size, alignof(Elf64_Dyn)), object);
  // Without it, the loader would make the stacks of all threads executable.
  append(segment(PT_GNU_STACK, 0, 0, 1), object);
  for (const Elf64_Dyn& entry : dynamic) append(entry, object);
  append(Elf64_Sym{}, object);
  return object + names;
}

}  // namespace ephost::plugin
