#include "tests/support/tensor_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

namespace ephost::test {

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

AlignedBytes::AlignedBytes(std::size_t size) : size_(size) {
  constexpr std::size_t kAlignment = 64, kPage = 4096;
  const std::size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t pages = (rounded + kPage - 1) / kPage * kPage;
  void* mapped =
      mmap(nullptr, pages + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* end = static_cast<char*>(mapped) + pages;
  mprotect(end, kPage, PROT_NONE);
  memory_ = {end - rounded, [=](void*) { munmap(mapped, pages + kPage); }};
}

AlignedBytes::AlignedBytes(const std::string& bytes) : AlignedBytes(bytes.size()) {
  std::memcpy(memory_.get(), bytes.data(), bytes.size());
}

FloatTensor::FloatTensor(const Shape& shape)
    : FloatTensor(shape, std::vector<float>(element_count(shape), -777)) {}

FloatTensor::FloatTensor(Shape shape, const std::vector<float>& data)
    : shape_(std::make_shared<const Shape>(std::move(shape))), bytes_(data.size() * sizeof(float)) {
  if (!data.empty()) std::memcpy(bytes_.data(), data.data(), bytes_.size());
  value.data = bytes_.data();
  value.shape = shape_->data();
  value.byte_size = bytes_.size();
  value.rank = static_cast<uint32_t>(shape_->size());
  value.element_type = EPH_ELEMENT_FLOAT;
  value.kind = EPH_KIND_TENSOR;
}

std::vector<float> FloatTensor::values() const {
  const auto* first = static_cast<const float*>(bytes_.data());
  return {first, first + bytes_.size() / sizeof(float)};
}

}  // namespace ephost::test
