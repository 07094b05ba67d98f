// A sink for content in pieces: it computes the checksum and stores the content in a temporary file
// or in memory, where it never exists twice. Used only by the writer.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/base/files/file.h"
#include "host/base/hash.h"
#include "host/context/metadata.h"
#include "host/graph/types.h"

namespace ephost::context {

// A buffer that grows at its end. Large buffers move by remapping (realloc), not by copying.
class GrowingBuffer {
 public:
  // OUT_OF_MEMORY if memory runs out.
  [[nodiscard]] Status append(std::span<const std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  // Gives up ownership of the bytes.
  [[nodiscard]] graph::Blob take() &&;

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };

  std::unique_ptr<std::byte[], Free> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

class PayloadSink {
 public:
  // Fails as AtomicFile::create does.
  static Result<PayloadSink> to_file(const std::filesystem::path& path,
                                     const FileSystem& file_system);
  static PayloadSink to_memory() { return PayloadSink(std::nullopt); }

  [[nodiscard]] Status append(std::span<const std::byte> bytes);
  // The same in pieces; CANCELLED or DEADLINE_EXCEEDED once cancellation is requested.
  [[nodiscard]] Status append(std::span<const std::byte> bytes, const Cancellation& cancellation);
  // To be called once, before any of the functions below.
  [[nodiscard]] Status flush();

  // Checksum of everything that was appended.
  [[nodiscard]] ContentChecksum checksum() const {
    return {.hash = hasher_.checksum(), .size = size_};
  }
  // The temporary file; only for a sink to a file.
  [[nodiscard]] AtomicFile& file() { return *file_; }
  // The content; only for a sink to memory.
  [[nodiscard]] graph::Blob take_memory() { return std::move(memory_).take(); }
  // The content, valid while the sink exists unchanged: a mapping of the temporary file, or
  // borrowed memory.
  [[nodiscard]] Result<graph::Blob> map(const FileSystem& file_system) const;

  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  explicit PayloadSink(std::optional<AtomicFile> file) : file_(std::move(file)) {}

  std::optional<AtomicFile> file_;
  std::vector<std::byte> pending_;  // small pieces on their way to the file
  GrowingBuffer memory_;
  ContentHasher hasher_;
  uint64_t size_ = 0;
};

}  // namespace ephost::context
