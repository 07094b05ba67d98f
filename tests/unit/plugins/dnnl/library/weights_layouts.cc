#include "tests/unit/plugins/dnnl/library/weights_layouts.h"

#include <algorithm>
#include <numeric>

namespace ephost_dnnl::weights_layouts {

using Tag = dnnl::memory::format_tag;

const dnnl::engine& engine() {
  static const dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}

std::vector<Descriptor> padded_layouts(ElementType type) {
  const auto data_type =
      type == ElementType::kF32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::s8;
  std::vector<Descriptor> layouts;
  for (const int64_t outputs : {1, 5, 16, 33, 100}) {
    for (const int64_t inputs : {1, 3, 17, 64}) {
      for (const Tag tag : {Tag::BA16a64b, Tag::AB16b64a, Tag::BA16a16b}) {
        layouts.emplace_back(Dims{inputs, outputs}, data_type, tag);
      }
      for (const Tag tag : {Tag::Acdb16a, Tag::ABcd16b16a, Tag::Acdb32a, Tag::ABcd8b8a}) {
        layouts.emplace_back(Dims{outputs, inputs, 3, 2}, data_type, tag);
      }
    }
  }
  return layouts;
}

std::vector<Descriptor> plain_layouts(const Dims& dims, ElementType type) {
  Dims permutation(dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::vector<Descriptor> layouts;
  do {
    layouts.push_back(row_major_after(dims, permutation, type));
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  return layouts;
}

std::vector<unsigned char> random_bytes(std::size_t size, std::mt19937& random) {
  std::vector<unsigned char> bytes(size);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

std::vector<unsigned char> read_by_library(const std::vector<unsigned char>& bytes,
                                           const Descriptor& layout, const Descriptor& plain) {
  std::vector<unsigned char> source = bytes;
  std::vector<unsigned char> read(plain.get_size());
  dnnl::memory from(layout, engine(), source.data());
  dnnl::memory to(plain, engine(), read.data());
  dnnl::stream stream(engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return read;
}

}  // namespace ephost_dnnl::weights_layouts
