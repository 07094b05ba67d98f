#include "tests/unit/plan/placement/placement_problems.h"

#include <algorithm>
#include <random>
#include <utility>

namespace ephost::plan::testing {

std::vector<Buffer> random_buffers(uint64_t seed, size_t count, uint32_t times, Lives lives) {
  std::mt19937_64 random(seed);
  std::vector<Buffer> buffers(count);
  for (Buffer& buffer : buffers) {
    const bool is_long = lives == Lives::kLong || (lives == Lives::kMixed && random() % 50 == 0);
    buffer.lower = static_cast<uint32_t>(random() % times);
    buffer.upper = buffer.lower + 1 + static_cast<uint32_t>(random() % (is_long ? times : 8));
    buffer.size = random() % 4 == 0 ? random() % 1'000'000 : random() % 5'000;
  }
  return buffers;
}

std::vector<Buffer> perfect_packing(uint64_t seed, uint64_t size, uint32_t times, uint32_t grain) {
  std::mt19937_64 random(seed);
  std::vector<Buffer> done;
  std::vector<Buffer> open = {{0, times, size}};
  while (!open.empty()) {
    const Buffer piece = open.back();
    open.pop_back();
    const bool is_small = piece.size < grain || piece.upper - piece.lower < grain;
    if (is_small || random() % 8 == 0) {
      done.push_back(piece);
    } else if (random() % 2 == 0) {
      const uint64_t part = 1 + random() % (piece.size - 1);
      open.push_back({piece.lower, piece.upper, part});
      open.push_back({piece.lower, piece.upper, piece.size - part});
    } else {
      const auto cut =
          static_cast<uint32_t>(piece.lower + 1 + random() % (piece.upper - piece.lower - 1));
      open.push_back({piece.lower, cut, piece.size});
      open.push_back({cut, piece.upper, piece.size});
    }
  }
  return done;
}

std::vector<Buffer> graph_like(uint64_t seed, uint32_t steps) {
  std::mt19937_64 random(seed);
  std::vector<Buffer> buffers;
  uint64_t extent = uint64_t{64} * 112 * 112;
  for (uint32_t step = 0; step < steps; ++step) {
    if (random() % 12 == 0) extent = random() % 3 == 0 ? extent * 2 : extent / 2;
    extent = std::clamp<uint64_t>(extent, 1 << 10, 1 << 20);
    const uint64_t size = 4 * extent * (1 + random() % 4);
    uint32_t life = 2 + static_cast<uint32_t>(random() % 2);
    if (random() % 10 == 0) life = 3 + static_cast<uint32_t>(random() % 12);
    if (random() % 40 == 0) life = 1 + static_cast<uint32_t>(random() % steps);
    buffers.push_back({step, std::min(step + life, steps + 1), size});
    if (random() % 5 == 0) buffers.push_back({step, step + 1, size / 2});
  }
  return buffers;
}

std::vector<Buffer> mirrored(std::vector<Buffer> buffers) {
  uint32_t end = 0;
  for (const Buffer& buffer : buffers) end = std::max(end, buffer.upper);
  for (Buffer& buffer : buffers) {
    buffer.lower = end - buffer.lower;
    buffer.upper = end - buffer.upper;
    std::swap(buffer.lower, buffer.upper);
  }
  return buffers;
}

std::vector<Buffer> shuffled(std::vector<Buffer> buffers, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = buffers.size(); i > 1; --i) std::swap(buffers[i - 1], buffers[random() % i]);
  return buffers;
}

}  // namespace ephost::plan::testing
