// Takes content in pieces and keeps it in a temporary file, or in memory without ever holding it
// twice; checksums it on the way. Used by the writer only.
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

// Bytes that grow at the end. Large blocks move by remapping (realloc), not by copying.
class GrowingBuffer {
 public:
  // FAIL if there is no memory.
  [[nodiscard]] Status append(std::span<const std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  // Hands the bytes over.
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
  // Errors as of AtomicFile::create.
  static Result<PayloadSink> to_file(const std::filesystem::path& path,
                                     const FileSystem& file_system);
  static PayloadSink to_memory() { return PayloadSink(std::nullopt); }

  [[nodiscard]] Status append(std::span<const std::byte> bytes);
  // The same in pieces; MODEL_LOAD_CANCELED once that is requested.
  [[nodiscard]] Status append(std::span<const std::byte> bytes, const Cancellation& cancellation);
  // Call it once, before the functions below.
  [[nodiscard]] Status flush();

  // Of all that was appended.
  [[nodiscard]] ContentChecksum checksum() const {
    return {.hash = hasher_.checksum(), .size = size_};
  }
  // The temporary file; only of a sink to a file.
  [[nodiscard]] AtomicFile& file() { return *file_; }
  // The content; only of a sink to memory.
  [[nodiscard]] graph::Blob take_memory() { return std::move(memory_).take(); }
  // The content as long as it stays where it is: the temporary file mapped, or borrowed memory.
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
