#include "host/context/write/payload_sink.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"

namespace ephost::context {

namespace fs = std::filesystem;

using graph::Blob;

namespace {

// Providers may write single words; the file gets pieces of this size.
constexpr size_t kPendingBytes = size_t{256} << 10;

}  // namespace

Status GrowingBuffer::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const std::optional<size_t> needed = checked_add(size_, bytes.size());
  if (needed && *needed > capacity_) {
    const size_t doubled = checked_mul<size_t>(capacity_, 2).value_or(*needed);
    const size_t capacity = std::max({*needed, doubled, size_t{4096}});
    auto* grown = static_cast<std::byte*>(std::realloc(data_.get(), capacity));
    if (grown) {
      static_cast<void>(data_.release());
      data_.reset(grown);
      capacity_ = capacity;
    }
  }
  if (!needed || *needed > capacity_) {
    return Status(StatusCode::kOutOfMemory,
                  formatted("cannot allocate memory for more than {} bytes of context; "
                            "write payloads to files (embed mode 0)",
                            size_));
  }
  std::memcpy(data_.get() + size_, bytes.data(), bytes.size());
  size_ = *needed;
  return {};
}

Blob GrowingBuffer::take() && {
  const size_t size = std::exchange(size_, 0);
  capacity_ = 0;
  const std::shared_ptr<const void> owner(std::move(data_));
  return {.bytes = {static_cast<const std::byte*>(owner.get()), size}, .owner = owner};
}

Result<PayloadSink> PayloadSink::to_file(const fs::path& path, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path, file_system));
  PayloadSink sink(std::move(file));
  sink.pending_.reserve(kPendingBytes);
  return sink;
}

Status PayloadSink::append(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  hasher_.update(bytes);
  if (!file_) return memory_.append(bytes);
  if (bytes.size() > kPendingBytes - pending_.size()) EPHOST_RETURN_IF_ERROR(flush());
  if (bytes.size() >= kPendingBytes) return file_->append(bytes);
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  return {};
}

Status PayloadSink::append(std::span<const std::byte> bytes, const Cancellation& cancellation) {
  constexpr size_t kPiece = size_t{16} << 20;
  while (!bytes.empty()) {
    EPHOST_RETURN_IF_ERROR(cancellation.check());
    const std::span<const std::byte> piece = bytes.first(std::min(kPiece, bytes.size()));
    EPHOST_RETURN_IF_ERROR(append(piece));
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Status PayloadSink::flush() {
  if (!file_ || pending_.empty()) return {};
  EPHOST_RETURN_IF_ERROR(file_->append(pending_));
  pending_.clear();
  return {};
}

Result<Blob> PayloadSink::map(const FileSystem& file_system) const {
  if (!file_) return Blob{.bytes = memory_.bytes()};
  EPHOST_ASSIGN_OR_RETURN(MappedFile mapped,
                          MappedFile::open(file_->temporary_path(), file_system));
  const auto owner = std::make_shared<const MappedFile>(std::move(mapped));
  return Blob{.bytes = owner->bytes(), .owner = owner};
}

}  // namespace ephost::context
