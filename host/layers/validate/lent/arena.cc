#include "host/layers/validate/lent/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace ephost::layers {
namespace {

constexpr size_t kArenaAlignment = 16;
constexpr size_t kLeastChunk = size_t{16} << 10;
constexpr size_t kMostChunk = size_t{1} << 20;
constexpr int kPoison = 0xDD;

}  // namespace

void Arena::Unmap::operator()(std::byte* mapping) const { ::munmap(mapping, size); }

void* Arena::allocate(size_t size) {
  if (size > SIZE_MAX / 4) throw std::bad_alloc();
  size = round_up(std::max<size_t>(size, 1), kArenaAlignment);
  if (chunks_.empty() || chunks_.back().size - used_ < size) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t total =
        round_up(std::max(size, std::clamp(bytes_, kLeastChunk, kMostChunk)), page);
    void* const mapped =
        ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    Chunk chunk;
    chunk.mapping = {static_cast<std::byte*>(mapped), Unmap{total}};
    chunk.size = total;
    chunks_.push_back(std::move(chunk));
    used_ = 0;
    bytes_ += total;
  }
  std::byte* const place = chunks_.back().mapping.get() + used_;
  used_ += size;
  return place;
}

void Arena::poison() noexcept {
  for (Chunk& chunk : chunks_) {
    if (guard_ == Guard::kPages && ::mprotect(chunk.mapping.get(), chunk.size, PROT_NONE) == 0) {
      ::madvise(chunk.mapping.get(), chunk.size, MADV_DONTNEED);
      chunk.range = NamedRange(chunk.mapping.get(), chunk.size, name_);
    } else {
      std::memset(chunk.mapping.get(), kPoison, chunk.size);
    }
  }
}

}  // namespace ephost::layers
