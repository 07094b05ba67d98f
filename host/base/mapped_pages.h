// Giving back the memory of mapped files, which can be read from the disk again.
#pragma once

#include <cstddef>
#include <span>

namespace ephost {

// Tells the system that it may take back the memory of those whole pages of `bytes` that belong to
// a MappedFile. The content stays readable, and is read from the file again where it must be. Bytes
// from elsewhere are left alone. Safe from any thread.
void release_pages(std::span<const std::byte> bytes);

// For MappedFile: what is mapped.
void add_mapping(std::span<const std::byte> bytes);
void remove_mapping(std::span<const std::byte> bytes) noexcept;

}  // namespace ephost
