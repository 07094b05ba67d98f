#include "host/layers/validate/lent/arena.h"

#include <algorithm>
#include <new>

namespace ephost::layers {
namespace {

constexpr size_t kArenaAlignment = 16;
constexpr size_t kLeastChunk = size_t{16} << 10;
constexpr size_t kMostChunk = size_t{1} << 20;
constexpr int kPoison = 0xDD;

}  // namespace

void* Arena::allocate(size_t size) {
  if (size > SIZE_MAX / 4) throw std::bad_alloc();
  size = round_up(std::max<size_t>(size, 1), kArenaAlignment);
  if (chunks_.empty() || chunks_.back().pages.size() - used_ < size) {
    MemoryPages pages(std::max(size, std::clamp(bytes_, kLeastChunk, kMostChunk)));
    chunks_.push_back({std::move(pages), {}});
    used_ = 0;
    bytes_ += chunks_.back().pages.size();
  }
  std::byte* const place = chunks_.back().pages.data() + used_;
  used_ += size;
  return place;
}

void Arena::poison() noexcept {
  for (Chunk& chunk : chunks_) {
    if (guard_ == Guard::kPages && chunk.pages.retire()) {
      chunk.range = NamedRange(chunk.pages.data(), chunk.pages.size(), name_);
    } else {
      std::memset(chunk.pages.data(), kPoison, chunk.pages.size());
    }
  }
}

}  // namespace ephost::layers
