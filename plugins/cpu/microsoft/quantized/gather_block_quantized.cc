// GatherBlockQuantized: Gather from a tensor of 4 or 8 bits with a scale for each block, in float.
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/indices.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

struct BlockAttributes {
  int64_t bits, block, gather_axis, quantize_axis;

  explicit BlockAttributes(const eph::NodeView& node)
      : bits(node.get_int("bits", 4)),
        block(node.get_int("block_size", 128)),
        gather_axis(node.get_int("gather_axis", 0)),
        quantize_axis(node.get_int("quantize_axis", 1)) {}

  // What is wrong with them for data of that type; empty if nothing is.
  [[nodiscard]] std::string check() const {
    if (bits != 4 && bits != 8) return "bits=" + std::to_string(bits) + " is neither 4 nor 8";
    if (block < 16 || (block & (block - 1)) != 0) {
      return "block_size=" + std::to_string(block) + " is not a power of 2 of at least 16";
    }
    return {};
  }
};

// How many numbers a byte of the tensor holds: bytes may hold two of 4 bits, without its type
// saying so.
int64_t numbers_in_byte(int32_t type, int64_t bits) {
  return type == EPH_ELEMENT_UINT8 && bits == 4 ? 2 : 1;
}

// The numbers of a tensor of bytes, or of packed or split halves of bytes. Rows of the last
// dimension begin at a byte if halves are not the tensor's own elements.
class Codes {
 public:
  Codes(const eph_value& value, int64_t bits, int64_t row)
      : bytes_(data<const uint8_t>(value)),
        type_(value.element_type),
        halves_(is_packed(type_) || numbers_in_byte(type_, bits) == 2),
        row_(is_packed(type_) ? 0 : row) {}

  // Number `i`, counted without what fills up the last byte of a row.
  [[nodiscard]] int32_t at(int64_t i) const {
    if (!halves_) return bytes_[i];
    if (row_ > 0) i = i / row_ * ((row_ + 1) / 2 * 2) + i % row_;
    const int32_t code = bytes_[i / 2] >> (i % 2 * 4) & 15;
    return type_ == EPH_ELEMENT_INT4 && code > 7 ? code - 16 : code;
  }

 private:
  const uint8_t* bytes_;
  int32_t type_;
  bool halves_;
  int64_t row_;
};

// Inputs: data, indices, scales, zero points, which may be omitted.
class GatherBlockQuantized final : public Kernel {
 public:
  explicit GatherBlockQuantized(const NodeContext& context)
      : Kernel(context), attributes_(context.node()) {
    if (const std::string wrong = attributes_.check(); !wrong.empty()) fail("attribute " + wrong);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& codes = *run.input(0);
    Dims shape = dims_of(codes);
    if (shape.empty()) fail("data is a single number");
    const int64_t in_byte = numbers_in_byte(codes.element_type, attributes_.bits);
    shape[shape.size() - 1] = checked_multiply(shape.back(), in_byte);
    const std::size_t axis = normalize_axis(attributes_.gather_axis, shape.size());
    const std::size_t quantized = normalize_axis(attributes_.quantize_axis, shape.size());
    if (codes.element_type == EPH_ELEMENT_UINT8 && axis == shape.size() - 1 && in_byte == 2) {
      fail("data of bytes cannot be gathered along the dimension whose numbers share bytes");
    }
    const Blocks blocks = check_scales(run, shape, quantized);
    const Dims index_shape = dims_of(*run.input(1));
    Dims out;
    for (std::size_t d = 0; d < axis; ++d) out.push_back(shape[d]);
    for (const int64_t extent : index_shape) out.push_back(extent);
    for (std::size_t d = axis + 1; d < shape.size(); ++d) out.push_back(shape[d]);
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, out));
    if (element_count(out) == 0) return;

    const int64_t count = element_count(index_shape);
    const int64_t* indices = read_indices(run, *run.input(1), count);
    for (int64_t i = 0; i < count; ++i) (void)checked_index(indices[i], shape[axis]);
    const int64_t extent = shape[axis];
    const int64_t inner = element_count(shape, axis + 1, shape.size());
    const Numbers numbers = read_numbers(run, shape.back(), blocks);
    const int64_t rows = element_count(shape, 0, axis) * count;
    parallel_for(rows, static_cast<double>(2 * inner), [=](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t index = checked_index(indices[row % count], extent);
        const int64_t first = (row / count * extent + index) * inner;
        for (int64_t i = 0; i < inner; ++i) y[row * inner + i] = numbers.at(first + i);
      }
    });
  }

 private:
  // The quantised dimension: where its blocks and their scales lie.
  struct Blocks {
    int64_t extent, count, block, inner;

    [[nodiscard]] int64_t scale_of(int64_t element) const {
      const int64_t outer = element / inner / extent;
      const int64_t index = element / inner % extent;
      return (outer * count + index / block) * inner + element % inner;
    }
  };

  struct Numbers {
    Codes codes, zeros;
    bool has_zeros;
    int32_t zero;  // without zero points
    const float* scales;
    Blocks blocks;

    [[nodiscard]] float at(int64_t element) const {
      const int64_t scale = blocks.scale_of(element);
      const int32_t zero_point = has_zeros ? zeros.at(scale) : zero;
      return static_cast<float>(codes.at(element) - zero_point) * scales[scale];
    }
  };

  [[nodiscard]] Blocks check_scales(const eph::Run& run, const Dims& shape,
                                    std::size_t axis) const {
    Dims expected = shape;
    expected[axis] = (shape[axis] + attributes_.block - 1) / attributes_.block;
    const Dims scales = dims_of(*run.input(2));
    if (!(scales == expected)) {
      fail("scales of shape " + to_string(scales) + " do not fit blocks of " +
           std::to_string(attributes_.block) + " numbers: expected " + to_string(expected));
    }
    if (const eph_value* zeros = run.input(3)) {
      Dims packed = expected;
      const int64_t in_byte = numbers_in_byte(zeros->element_type, attributes_.bits);
      packed[packed.size() - 1] = (expected.back() + in_byte - 1) / in_byte;
      if (!(dims_of(*zeros) == packed)) {
        fail("zero points of shape " + to_string(dims_of(*zeros)) + ", expected " +
             to_string(packed));
      }
    }
    return {shape[axis], expected[axis], attributes_.block,
            element_count(shape, axis + 1, shape.size())};
  }

  [[nodiscard]] Numbers read_numbers(const eph::Run& run, int64_t row, const Blocks& blocks) const {
    const eph_value& codes = *run.input(0);
    const eph_value* zeros = run.input(3);
    const bool is_byte = codes.element_type == EPH_ELEMENT_UINT8;
    const Dims scales = dims_of(*run.input(2));
    return {Codes(codes, attributes_.bits, row),
            Codes(zeros != nullptr ? *zeros : codes, attributes_.bits, scales.back()),
            zeros != nullptr,
            is_byte ? 1 << (attributes_.bits - 1) : 0,
            run.input_data<float>(2),
            blocks};
  }

  BlockAttributes attributes_;
};

constexpr uint64_t kBlockCodes = kTypeSet<EPH_ELEMENT_INT4, EPH_ELEMENT_UINT4, EPH_ELEMENT_UINT8>;

constexpr KernelEntry kGatherBlockQuantizedKernels[] = {
    {"GatherBlockQuantized",
     1,
     1,
     {.required = 3, .same_type = 0b1001},
     kInputTypes<kBlockCodes, kIndices, kOnlyFloat, kBlockCodes>,
     &make<GatherBlockQuantized>,
     kMicrosoft},
};

void infer_gather(eph::Inference& node) {
  const BlockAttributes attributes(node.node());
  if (const std::string wrong = attributes.check(); !wrong.empty()) {
    infer::fail("attribute " + wrong);
  }
  const infer::Shape from = infer::shape_of(node, 0);
  const infer::Shape indices = infer::shape_of(node, 1);
  infer::Shape y;
  if (from && indices) {
    if (from->empty()) infer::fail("data is a single number");
    const std::size_t axis = infer::axis_of(attributes.gather_axis, from->size());
    (void)infer::axis_of(attributes.quantize_axis, from->size());
    const int64_t in_byte = numbers_in_byte(infer::type_of(node, 0), attributes.bits);
    infer::Extents numbers = *from;
    numbers.back() = infer::product(numbers.back(), infer::known(in_byte));
    y = infer::Extents(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(axis));
    y->insert(y->end(), indices->begin(), indices->end());
    y->insert(y->end(), numbers.begin() + static_cast<std::ptrdiff_t>(axis) + 1, numbers.end());
  }
  infer::set(node, 0, infer::type_of(node, 2), y);
}

}  // namespace

Table gather_block_quantized_kernels() { return kGatherBlockQuantizedKernels; }

Definitions define_gather_block_quantized() {
  return {
      eph::Operator(kMicrosoft, "GatherBlockQuantized", 1)
          .description("Gather from a tensor that is quantised in blocks, in float.")
          .input("data", "T1", kBlockCodes, 0, "uint8 holds one number of 8 bits, or two of 4")
          .input("indices", "Tind", kIndices)
          .input("scales", "T2", kUpToFloat)
          .input("zero_points", "T1", kBlockCodes, eph::kOptional,
                 "0, or half of the range of uint8, if they are omitted")
          .output("output", "T2", kUpToFloat)
          .attribute("bits", 4)
          .attribute("block_size", 128)
          .attribute("gather_axis", 0)
          .attribute("quantize_axis", 1)
          .infer(&infer_gather),
  };
}

}  // namespace ephost_cpu
