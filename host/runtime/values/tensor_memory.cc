#include "host/runtime/values/tensor_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/bridge/abi_text.h"
#include "host/graph/types.h"

namespace ephost::runtime {

namespace {

// Smaller values are copied in less time than a descriptor is passed.
constexpr uint64_t kMinShared = uint64_t{16} << 10;
constexpr uint64_t kPageSize = 4096;  // the smallest of any machine
// Each has a descriptor, of which processes often have no more than a thousand.
constexpr uint32_t kMaxShared = 256;
std::atomic<uint32_t> shared_count{0};

// Null where it cannot be had; the heap is the way out.
AlignedMemory allocate_shared(uint64_t bytes) {
  if (shared_count.load(std::memory_order_relaxed) >= kMaxShared) return nullptr;
  Result<SharedMemory> memory = SharedMemory::create("ephost-tensors", bytes, SharedAccess::kRead);
  if (!memory.ok()) return nullptr;
  shared_count.fetch_add(1, std::memory_order_relaxed);
  auto owned = std::make_unique<SharedMemory>(std::move(*memory));
  std::byte* const address = owned->bytes().data();
  return {address, AlignedFree{owned.release()}};
}

}  // namespace

void AlignedFree::operator()(std::byte* memory) const noexcept {
  if (shared == nullptr) return std::free(memory);
  delete shared;
  shared_count.fetch_sub(1, std::memory_order_relaxed);
}

AlignedMemory allocate_aligned(uint64_t bytes, uint64_t alignment, Sharing sharing) {
  if (sharing == Sharing::kWithWorkers && SharedMemoryUse::is_wanted() && bytes >= kMinShared &&
      alignment <= kPageSize) {
    if (AlignedMemory shared = allocate_shared(bytes)) return shared;
  }
  const uint64_t limit = std::numeric_limits<size_t>::max() - alignment;
  if (bytes > limit) return nullptr;
  const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  return AlignedMemory(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
}

Status out_of_memory(uint64_t bytes, std::string_view what) {
  return Status(StatusCode::kOutOfMemory,
                formatted("out of memory: {} needs {} bytes", what, bytes));
}

void* empty_tensor_memory() {
  alignas(kAlignment) static std::array<std::byte, kAlignment> memory = {};
  return memory.data();
}

Result<uint64_t> tensor_bytes(ElementType type, std::span<const int64_t> shape) {
  const auto bytes = type == ElementType::kString ? [&]() -> std::optional<uint64_t> {
    const auto count = graph::element_count(shape);
    return count ? checked_mul<uint64_t>(*count, sizeof(eph_string)) : std::nullopt;
  }()
      : graph::byte_size(type, shape);
  if (bytes) return *bytes;
  return Status(StatusCode::kInvalidArgument,
                formatted("a tensor of {} has no size: its type is unknown, an extent is negative, "
                          "or it is too large",
                          describe_tensor(type, shape)));
}

std::string describe_tensor(ElementType type, std::span<const int64_t> shape) {
  std::string text(graph::element_type_name(type));
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ',';
    text += graph::is_static_dim(shape[i]) ? std::to_string(shape[i]) : "?";
  }
  return text + ']';
}

StringTensor::StringTensor(std::vector<std::string> strings) : strings_(std::move(strings)) {
  views_.reserve(strings_.size());
  for (const std::string& text : strings_) views_.push_back(bridge::to_abi(text));
}

eph_string* StringTensor::reset(size_t count) {
  strings_.assign(count, std::string());
  views_.assign(count, eph_string{});
  return views_.data();
}

bool StringTensor::set(uint64_t element, eph_string text) {
  if (element >= strings_.size()) return false;
  strings_[element] = bridge::view(text);
  views_[element] = bridge::to_abi(strings_[element]);
  return true;
}

}  // namespace ephost::runtime
