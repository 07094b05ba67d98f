#include "plugins/dnnl/executor/constants.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

#include "plugins/dnnl/executor/workspace_plan.h"
#include "plugins/dnnl/library/primitives.h"
#include "plugins/onednn/safe_reorder.h"

namespace ephost_dnnl {
namespace {

// Memory for the result of one reorder, between zones that must not be written.
class ReorderTarget {
 public:
  explicit ReorderTarget(uint64_t size) : size_(size) {
    memory_.reset(std::aligned_alloc(kBufferAlignment, total()), &std::free);
    if (memory_ == nullptr) throw std::bad_alloc();
    std::memset(memory_.get(), kZone, kZoneBytes);
    std::memset(data() + size, kZone, total() - kZoneBytes - size);
  }

  [[nodiscard]] unsigned char* data() const {
    return static_cast<unsigned char*>(memory_.get()) + kZoneBytes;
  }
  // The memory, once it is written. Throws dnnl::error if a zone has been.
  [[nodiscard]] std::shared_ptr<void> take() const {
    const auto is_zone = [](unsigned char byte) { return byte == kZone; };
    const unsigned char* const first = data();
    const unsigned char* const behind = first + size_;
    if (!std::all_of(first - kZoneBytes, first, is_zone) ||
        !std::all_of(behind, first - kZoneBytes + total(), is_zone)) {
      throw dnnl::error(dnnl_runtime_error, "a reorder of a constant writes beyond its memory");
    }
    return {memory_, data()};
  }

 private:
  static constexpr unsigned char kZone = 0xC7;
  static constexpr uint64_t kZoneBytes = 4 * kBufferAlignment;
  [[nodiscard]] uint64_t total() const { return aligned(size_) + 2 * kZoneBytes; }

  uint64_t size_;
  std::shared_ptr<void> memory_;
};

// Moves elements from one layout to another.
void convert(const void* source, const Descriptor& from_layout, void* target,
             const Descriptor& to_layout, const dnnl::engine& engine) {
  if (same_layout(from_layout, to_layout)) {
    std::memcpy(target, source, to_layout.get_size());
    return;
  }
  const auto safe = ephost_onednn::SafeReorder::plan(from_layout, to_layout);
  if (safe && !safe->needs_library()) return safe->run(source, target);
  dnnl::stream stream(engine);
  // The library takes no pointer to const; it only reads from this one.
  dnnl::memory from(from_layout, engine, const_cast<void*>(source));
  dnnl::memory to(to_layout, engine, target);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  if (safe) safe->run(source, target);
}

PackedConstant pack(TensorId tensor, const void* source, const Descriptor& stored,
                    const Descriptor& wanted, const dnnl::engine& engine) {
  PackedConstant packed;
  packed.tensor = tensor;
  packed.layout = descriptor_bytes(wanted);
  packed.size = wanted.get_size();
  packed.stored = stored;
  packed.wanted = wanted;
  const ReorderTarget target(packed.size);
  // Contexts contain all bytes, and the library leaves some behind the elements unwritten.
  if (packed.size > stored.get_size()) std::memset(target.data(), 0, packed.size);
  convert(source, stored, target.data(), wanted, engine);
  packed.owner = target.take();
  packed.data = packed.owner.get();
  return packed;
}

}  // namespace

int32_t QuantizedConstant::integer(std::size_t i) const {
  switch (type) {
    case EPH_ELEMENT_INT8:
      return static_cast<const int8_t*>(integers)[i];
    case EPH_ELEMENT_UINT8:
      return static_cast<const uint8_t*>(integers)[i];
    case EPH_ELEMENT_INT16:
      return static_cast<const int16_t*>(integers)[i];
    case EPH_ELEMENT_UINT16:
      return static_cast<const uint16_t*>(integers)[i];
    default:
      return static_cast<const int32_t*>(integers)[i];
  }
}

std::vector<float> QuantizedConstant::dequantized() const {
  std::vector<float> floats(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = scale_of(i);
    floats[i] = static_cast<float>(int64_t{integer(i)} - zero_points[at]) * scales[at];
  }
  return floats;
}

void ConstantPool::grow(TensorId tensor) {
  if (data_.size() > tensor) return;
  data_.resize(tensor + 1, nullptr);
  quantized_.resize(tensor + 1);
}

void ConstantPool::borrow(TensorId tensor, const void* data) {
  grow(tensor);
  data_[tensor] = data;
}

void ConstantPool::own(TensorId tensor, std::vector<float> data) {
  const auto kept = std::make_shared<const std::vector<float>>(std::move(data));
  owned_.push_back(kept);
  borrow(tensor, kept->data());
}

void ConstantPool::own(TensorId tensor, std::vector<int8_t> data) {
  const auto kept = std::make_shared<const std::vector<int8_t>>(std::move(data));
  owned_.push_back(kept);
  borrow(tensor, kept->data());
}

void ConstantPool::add(TensorId tensor, QuantizedConstant constant) {
  grow(tensor);
  quantized_[tensor] = std::make_shared<const QuantizedConstant>(std::move(constant));
}

const float* ConstantPool::data(TensorId tensor) const {
  if (data_[tensor] == nullptr) {
    const auto kept = std::make_shared<const std::vector<float>>(quantized_[tensor]->dequantized());
    owned_.push_back(kept);
    data_[tensor] = kept->data();
  }
  return static_cast<const float*>(data_[tensor]);
}

const QuantizedConstant* ConstantPool::quantized(TensorId tensor) const {
  return tensor < quantized_.size() ? quantized_[tensor].get() : nullptr;
}

void ConstantPool::renumber(const std::vector<bool>& live) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < live.size() && i < data_.size(); ++i) {
    if (!live[i]) continue;
    data_[kept] = data_[i];
    quantized_[kept++] = std::move(quantized_[i]);
  }
  data_.resize(kept);
  quantized_.resize(kept);
}

// Releasing smaller constants costs more than it saves.
constexpr uint64_t kWorthReleasing = uint64_t{1} << 16;

PackedConstant PackingSource::get(TensorId tensor, const Descriptor& stored,
                                  const Descriptor& wanted) {
  const void* source = pool_.bytes(tensor);
  uint64_t size = stored.get_size();
  std::vector<float> floats;  // only while they are packed
  if (source == nullptr) {
    const QuantizedConstant& quantized = *pool_.quantized(tensor);
    floats = quantized.dequantized();
    source = quantized.integers;
    size = quantized.byte_size;
  }
  PackedConstant packed =
      pack(tensor, floats.empty() ? source : floats.data(), stored, wanted, engine_);
  if (size >= kWorthReleasing) release_(source, size);
  return packed;
}

PackedConstant BorrowingSource::get(TensorId tensor, const Descriptor& stored,
                                    const Descriptor& wanted) {
  assert(stored == wanted);
  PackedConstant borrowed;
  borrowed.tensor = tensor;
  borrowed.layout = descriptor_bytes(wanted);
  borrowed.size = wanted.get_size();
  borrowed.data = pool_->data(tensor);
  borrowed.owner = pool_;
  borrowed.stored = stored;
  borrowed.wanted = wanted;
  return borrowed;
}

PackedConstant RestoringSource::get(TensorId tensor, const Descriptor& stored,
                                    const Descriptor& wanted) {
  if (next_ == constants_.size()) {
    throw LayoutMismatch("it holds " + std::to_string(constants_.size()) +
                         " packed constants, and more are needed");
  }
  PackedConstant found = constants_[next_++];
  if (found.tensor != tensor || found.layout != descriptor_bytes(wanted) ||
      found.size != wanted.get_size()) {
    throw LayoutMismatch("packed constant " + std::to_string(next_ - 1) +
                         " has another layout than the library chooses here");
  }
  found.stored = stored;
  found.wanted = wanted;
  return found;
}

void RestoringSource::finish() const {
  if (next_ != constants_.size()) {
    throw LayoutMismatch("it holds " + std::to_string(constants_.size()) +
                         " packed constants, and only " + std::to_string(next_) + " are needed");
  }
}

PackedConstant RepackingSource::get(TensorId tensor, const Descriptor& stored,
                                    const Descriptor& wanted) {
  const PackedConstant* known = nullptr;
  for (const PackedConstant& constant : constants_) {
    if (constant.tensor != tensor) continue;
    known = &constant;
    if (constant.stored == stored && constant.layout == descriptor_bytes(wanted)) return constant;
  }
  if (known == nullptr) {
    throw LayoutMismatch("tensor " + std::to_string(tensor) + " is not among the constants");
  }
  const ReorderTarget row_major(known->stored.get_size());
  // The library reads no layout that has sums.
  if (const auto moves = ephost_onednn::ElementMoves::plan(known->wanted, known->stored)) {
    moves->run(known->data, row_major.data());
  } else {
    convert(known->data, known->wanted, row_major.data(), known->stored, engine_);
  }
  return pack(tensor, row_major.take().get(), stored, wanted, engine_);
}

}  // namespace ephost_dnnl
