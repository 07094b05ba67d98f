// Mappings of memory and files whose changes the other processes that map them see.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "host/base/files/file_descriptor.h"
#include "host/base/memory/shared_memory.h"

namespace ephost {

class SharedMapping {
 public:
  // Maps `size` bytes from `offset` of the file, at any address (`alignment` 1) or at a multiple of
  // `alignment`, a power of two and at least a page; there an offset within a page comes on top.
  // The message of a failure is the reason alone.
  static Result<SharedMapping> map(const FileDescriptor& descriptor, uint64_t offset, size_t size,
                                   SharedAccess access, size_t alignment = 1);

  SharedMapping() = default;
  SharedMapping(SharedMapping&& other) noexcept;
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  ~SharedMapping();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> pages_;
  std::span<std::byte> bytes_;
};

// Gives back what these whole pages of shared memory occupy; they read as zeros from then on.
void discard_shared(std::span<std::byte> pages) noexcept;

}  // namespace ephost
