#include "plugins/dnnl/executor/constants.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "plugins/dnnl/executor/workspace_plan.h"

namespace ephost_dnnl {
namespace {

std::shared_ptr<void> allocate(uint64_t size) {
  const uint64_t rounded = (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  void* memory = std::aligned_alloc(kBufferAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, &std::free};
}

// Moves elements from one layout to another.
void convert(const void* source, const Descriptor& from_layout, void* target,
             const Descriptor& to_layout, const dnnl::engine& engine) {
  if (same_layout(from_layout, to_layout)) {
    std::memcpy(target, source, to_layout.get_size());
    return;
  }
  dnnl::stream stream(engine);
  // The library takes no pointer to const; it only reads from this one.
  dnnl::memory from(from_layout, engine, const_cast<void*>(source));
  dnnl::memory to(to_layout, engine, target);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

PackedConstant pack(TensorId tensor, const void* source, const Descriptor& stored,
                    const Descriptor& wanted, const dnnl::engine& engine) {
  PackedConstant packed;
  packed.tensor = tensor;
  packed.layout = descriptor_bytes(wanted);
  packed.size = wanted.get_size();
  const std::shared_ptr<void> memory = allocate(packed.size);
  packed.owner = memory;
  packed.data = memory.get();
  packed.stored = stored;
  packed.wanted = wanted;
  convert(source, stored, memory.get(), wanted, engine);
  return packed;
}

}  // namespace

void ConstantPool::borrow(TensorId tensor, const float* data) {
  if (data_.size() <= tensor) data_.resize(tensor + 1, nullptr);
  data_[tensor] = data;
}

void ConstantPool::own(TensorId tensor, std::vector<float> data) {
  owned_.push_back(std::make_unique<std::vector<float>>(std::move(data)));
  borrow(tensor, owned_.back()->data());
}

void ConstantPool::renumber(const std::vector<bool>& live) {
  std::vector<const float*> kept;
  for (std::size_t i = 0; i < live.size() && i < data_.size(); ++i) {
    if (live[i]) kept.push_back(data_[i]);
  }
  data_ = std::move(kept);
}

// Releasing smaller constants costs more than it saves.
constexpr uint64_t kWorthReleasing = uint64_t{1} << 20;

PackedConstant PackingSource::get(TensorId tensor, const Descriptor& stored,
                                  const Descriptor& wanted) {
  const float* source = pool_.data(tensor);
  PackedConstant packed = pack(tensor, source, stored, wanted, engine_);
  if (stored.get_size() >= kWorthReleasing) release_(source, stored.get_size());
  return packed;
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
  const std::shared_ptr<void> row_major = allocate(known->stored.get_size());
  convert(known->data, known->wanted, row_major.get(), known->stored, engine_);
  return pack(tensor, row_major.get(), stored, wanted, engine_);
}

}  // namespace ephost_dnnl
