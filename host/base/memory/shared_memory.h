// Memory that other processes can map: for what providers in worker processes read without a copy,
// and where they write. The process keeps a table of such memory, so that the descriptor behind an
// address can be found. Nothing here depends on workers.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "host/base/files/file_descriptor.h"

namespace ephost {

// What a process that gets the descriptor can do with the memory.
enum class SharedAccess {
  kRead,       // it can never write, however it opens the descriptor again
  kReadWrite,  // it can write at any time, also while this process reads
};

// A range of addresses with the descriptor behind it. Constant after it was made; safe from any
// thread.
struct SharedRegion {
  uint64_t id = 0;  // unique in the process, never 0, never used again
  std::span<std::byte> bytes;
  FileDescriptor descriptor;  // to pass on: opened for reading only if `access` is kRead
  uint64_t offset = 0;        // of the first byte in the file
  SharedAccess access = SharedAccess::kRead;
};
using SharedRegionPtr = std::shared_ptr<const SharedRegion>;

struct SharedPlace {
  SharedRegionPtr region;
  uint64_t offset = 0;  // from the region's first byte
};

// The regions of this process.
class SharedRegions {
 public:
  // Takes a range over, which must not overlap another region; the memory stays the caller's.
  static SharedRegionPtr add(std::span<std::byte> bytes, FileDescriptor descriptor, uint64_t offset,
                             SharedAccess access);
  // Forgets a region, before its memory is unmapped. The descriptor stays usable through pointers
  // to the region.
  static void remove(const SharedRegionPtr& region);

  // The region in which all of `bytes` lie; a MappedFile becomes one when it is first looked for
  // (host/base/files/mapped_pages.h). Takes a shared lock and costs some tens of nanoseconds;
  // keep the answer for as long as `generation` is the same.
  [[nodiscard]] static std::optional<SharedPlace> find(std::span<const std::byte> bytes);
  // Changes whenever a region is added or removed.
  [[nodiscard]] static uint64_t generation() noexcept {
    return current_generation.load(std::memory_order_acquire);
  }

 private:
  friend class SharedMemory;
  static SharedRegionPtr add_region(std::span<std::byte> bytes, FileDescriptor descriptor,
                                    uint64_t offset, SharedAccess access, bool is_written);
  static void adopt_copies();

  static std::atomic<uint64_t> current_generation;
};

// While any of these lives, there are other processes in this process's service, and memory that is
// kept for long and passed to providers should be shared. Safe from any thread.
class SharedMemoryUse {
 public:
  SharedMemoryUse() noexcept { user_count.fetch_add(1, std::memory_order_relaxed); }
  SharedMemoryUse(const SharedMemoryUse&) = delete;
  SharedMemoryUse& operator=(const SharedMemoryUse&) = delete;
  ~SharedMemoryUse() { user_count.fetch_sub(1, std::memory_order_relaxed); }

  [[nodiscard]] static bool is_wanted() noexcept {
    return user_count.load(std::memory_order_relaxed) != 0;
  }

 private:
  static std::atomic<uint64_t> user_count;
};

// Anonymous memory (a memfd), mapped here for reading and writing, zero at first, and one region.
// Its size is fixed: no process can shrink it, so reading it is safe. Moving keeps the address.
//
// A process that is forked from this one gets a copy of its own of memory that others only read, as
// it does of all other memory; the copy is not a region there. So a fork takes the time of a copy.
class SharedMemory {
 public:
  // `name` shows up in /proc/PID/maps. `size` is not 0 and is rounded up to whole pages. Returns
  // FAIL when memory or descriptors run out.
  static Result<SharedMemory> create(std::string_view name, size_t size, SharedAccess access);

  SharedMemory() = default;  // holds nothing
  SharedMemory(SharedMemory&& other) noexcept = default;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] std::span<std::byte> bytes() const;
  [[nodiscard]] const SharedRegionPtr& region() const { return region_; }

 private:
  SharedRegionPtr region_;
};

// Maps `size` bytes of a descriptor that came from another process, for reading. FAIL unless it is
// memory of at least that size whose size and content cannot change any more (sealed against
// shrinking and writing).
class SealedMapping {
 public:
  static Result<SealedMapping> map(const FileDescriptor& descriptor, size_t size);
  // Copies `bytes` into new sealed memory, to be passed on.
  static Result<FileDescriptor> seal(std::string_view name, std::span<const std::byte> bytes);

  SealedMapping() = default;
  SealedMapping(SealedMapping&& other) noexcept;
  SealedMapping& operator=(SealedMapping&& other) noexcept;
  ~SealedMapping();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace ephost
