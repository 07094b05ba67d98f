#include "host/cli/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(EPHOST_COUNT_ALLOCATIONS) && defined(__GLIBC__)

#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace {

struct AddressRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Written while nothing is counted, read while something is.
std::vector<AddressRange> plugin_code;
std::atomic<bool> counting{false};
std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> host_allocations{0};
// The host runs a model on the thread that asks for it; other threads are a plugin's.
thread_local bool is_counting_thread = false;

bool is_plugin_code(const void* address) {
  const auto value = reinterpret_cast<uintptr_t>(address);
  return std::ranges::any_of(plugin_code, [value](const AddressRange& range) {
    return value >= range.begin && value < range.end;
  });
}

void count_slowly() {
  thread_local bool inside = false;
  if (inside) return;  // looking at the stack may allocate itself
  inside = true;
  std::array<void*, 64> frames{};
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (is_counting_thread && std::none_of(frames.begin(), frames.begin() + depth, is_plugin_code)) {
    host_allocations.fetch_add(1, std::memory_order_relaxed);
  }
  inside = false;
}

void count() noexcept {
  if (counting.load(std::memory_order_relaxed)) count_slowly();
}

using Paths = std::span<const std::filesystem::path>;

int note_plugin(struct dl_phdr_info* library, size_t /*size*/, void* context) {
  const Paths& plugins = *static_cast<const Paths*>(context);
  const std::string_view name = library->dlpi_name == nullptr ? "" : library->dlpi_name;
  if (std::ranges::find(plugins, name) == plugins.end()) return 0;
  for (ElfW(Half) i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    plugin_code.push_back({begin, begin + segment.p_memsz});
  }
  return 0;
}

}  // namespace

// The C library's own allocator under the names that it keeps for whoever replaces malloc. What is
// allocated here is freed by the C library's free, which stays in place.
extern "C" {
void* __libc_malloc(size_t size) noexcept;                      // NOLINT
void* __libc_calloc(size_t count, size_t size) noexcept;        // NOLINT
void* __libc_realloc(void* memory, size_t size) noexcept;       // NOLINT
void* __libc_memalign(size_t alignment, size_t size) noexcept;  // NOLINT

void* malloc(size_t size) noexcept {
  count();
  return __libc_malloc(size);
}

void* calloc(size_t number, size_t size) noexcept {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* memory, size_t size) noexcept {
  count();
  return __libc_realloc(memory, size);
}

void* memalign(size_t alignment, size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out_memory, size_t alignment, size_t size) noexcept {
  const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!power_of_two || alignment % sizeof(void*) != 0) return EINVAL;
  count();
  void* const memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *out_memory = memory;
  return 0;
}
}  // extern "C"

namespace ephost::cli {

void start_counting_allocations(std::span<const std::filesystem::path> plugins) {
  plugin_code.clear();
  ::dl_iterate_phdr(note_plugin, &plugins);
  // The first look at a stack loads a library.
  std::array<void*, 1> frame{};
  ::backtrace(frame.data(), 1);
  allocations = 0;
  host_allocations = 0;
  is_counting_thread = true;
  counting = true;
}

std::optional<AllocationCount> stop_counting_allocations() {
  counting = false;
  is_counting_thread = false;
  return AllocationCount{allocations.load(), host_allocations.load()};
}

}  // namespace ephost::cli

#else

namespace ephost::cli {

void start_counting_allocations(std::span<const std::filesystem::path> /*plugins*/) {}
std::optional<AllocationCount> stop_counting_allocations() { return std::nullopt; }

}  // namespace ephost::cli

#endif
