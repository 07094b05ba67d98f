#include "host/cli/measure/allocation_counter.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace ephost::cli {
namespace {

using StartFunction = void(const uintptr_t* ranges, size_t range_count);
using StopFunction = void(uint64_t* out_all, uint64_t* out_of_host);
using Paths = std::span<const std::filesystem::path>;

// A function of the preloaded library; null without it.
template <class Function>
Function* find_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

struct PluginCode {
  Paths plugins;
  std::vector<uintptr_t> ranges;  // begin and end of each segment
};

int note_plugin(struct dl_phdr_info* library, size_t /*size*/, void* context) {
  auto& code = *static_cast<PluginCode*>(context);
  const std::string_view name = library->dlpi_name == nullptr ? "" : library->dlpi_name;
  if (std::ranges::find(code.plugins, name) == code.plugins.end()) return 0;
  for (ElfW(Half) i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    code.ranges.insert(code.ranges.end(), {begin, begin + segment.p_memsz});
  }
  return 0;
}

}  // namespace

bool can_count_allocations() {
  return find_function<StartFunction>("ephost_start_counting_allocations") != nullptr;
}

void start_counting_allocations(Paths plugins) {
  static std::vector<uintptr_t> ranges;  // read until the counting stops
  PluginCode code{plugins, {}};
  ::dl_iterate_phdr(note_plugin, &code);
  ranges = std::move(code.ranges);
  if (auto* start = find_function<StartFunction>("ephost_start_counting_allocations")) {
    start(ranges.data(), ranges.size() / 2);
  }
}

AllocationCount stop_counting_allocations() {
  AllocationCount counted;
  if (auto* stop = find_function<StopFunction>("ephost_stop_counting_allocations")) {
    stop(&counted.all, &counted.by_host);
  }
  return counted;
}

}  // namespace ephost::cli
