// MatMulNBits: a matrix product with weights of 2, 4 or 8 bits, which stay packed for a few rows of
// A where the processor allows that, and are unpacked in small pieces otherwise: a few columns at a
// time, and panels for oneDNN if there are many rows.
#include <algorithm>
#include <array>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/quantized/block_weights.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kColumnsAtOnce = 4;  // that are computed together
constexpr int64_t kDepth = 1024;       // of their elements that are unpacked at a time
constexpr int64_t kPanel = 256;        // columns that oneDNN multiplies with
constexpr int64_t kRowsOfPanel = 16;   // rows of A from which on that is faster
constexpr int64_t kProductLanes = 16;

constexpr int64_t kMaxExtent = int64_t{1} << 31;

// Adds the products of a row of A with kColumnsAtOnce columns, which lie kDepth apart.
CPU_SIMD void add_products(const float* a, const float* columns, int64_t count, float* y) {
  float sums[kColumnsAtOnce][kProductLanes] = {};
  const int64_t whole = count / kProductLanes * kProductLanes;
  for (int64_t i = 0; i < whole; i += kProductLanes) {
    for (int64_t c = 0; c < kColumnsAtOnce; ++c) {
      for (int64_t l = 0; l < kProductLanes; ++l)
        sums[c][l] += a[i + l] * columns[c * kDepth + i + l];
    }
  }
  for (int64_t c = 0; c < kColumnsAtOnce; ++c) {
    float sum = 0;
    for (int64_t l = 0; l < kProductLanes; ++l) sum += sums[c][l];
    for (int64_t i = whole; i < count; ++i) sum += a[i] * columns[c * kDepth + i];
    y[c] += sum;
  }
}

void start_rows(const float* bias, int64_t rows, int64_t n, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    if (bias != nullptr) {
      std::copy_n(bias, n, y + r * n);
    } else {
      std::fill_n(y + r * n, n, 0.0F);
    }
  }
}

class MatMulNBits final : public Kernel {
 public:
  explicit MatMulNBits(const NodeContext& context)
      : Kernel(context),
        k_(context.node().get_int("K", 0)),
        n_(context.node().get_int("N", 0)),
        block_(context.node().get_int("block_size", 0)),
        bits_(static_cast<int>(context.node().get_int("bits", 4))),
        products_(context.settings().onednn, nullptr) {
    if (k_ < 1 || n_ < 1 || k_ >= kMaxExtent || n_ >= kMaxExtent) {
      fail("attributes K=" + std::to_string(k_) + " and N=" + std::to_string(n_) +
           " must be positive and less than 2^31");
    }
    blocks_ = (k_ - 1) / block_ + 1;
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    Dims shape = dims_of(a);
    if (shape.empty() || shape.back() != k_) {
      fail("A of shape " + to_string(shape) + " does not have rows of K=" + std::to_string(k_) +
           " elements");
    }
    const int64_t rows = element_count(shape, 0, shape.size() - 1);
    shape[shape.size() - 1] = n_;
    const BlockWeights b = read_matrix(run);
    check_count(run, 5, n_, "bias");
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, shape));
    if (rows == 0) return;
    start_rows(optional_data<float>(run, 5), rows, n_, y);
    if (rows >= kRowsOfPanel) {
      multiply_panels(run, state, b, data<const float>(a), rows, y);
    } else if (can_multiply_packed(b)) {
      multiply_rows(run, b, data<const float>(a), rows, y);
    } else {
      multiply_columns(b, data<const float>(a), rows, y);
    }
  }

 private:
  static void check_count(const eph::Run& run, uint32_t input, int64_t count, const char* name) {
    const eph_value* value = run.input(input);
    if (value == nullptr || element_count(eph::shape_of(*value)) == count) return;
    fail("input '" + std::string(name) + "' of shape " + to_string(eph::shape_of(*value)) +
         " does not have " + std::to_string(count) + " elements");
  }

  [[nodiscard]] BlockWeights read_matrix(const eph::Run& run) const {
    BlockWeights b = {k_,
                      n_,
                      block_,
                      blocks_,
                      bits_,
                      run.input_data<uint8_t>(1),
                      run.input_data<float>(2),
                      nullptr,
                      nullptr};
    const int64_t blocks = checked_multiply(n_, blocks_);
    check_count(run, 1, checked_multiply(blocks, b.block_bytes()), "B");
    check_count(run, 2, blocks, "scales");
    const eph_value* zeros = run.input(3);
    if (zeros == nullptr) return b;
    if (zeros->element_type == EPH_ELEMENT_UINT8) {
      check_count(run, 3, checked_multiply(n_, (blocks_ * bits_ + 7) / 8), "zero_points");
      b.packed_zeros = data<const uint8_t>(*zeros);
    } else {
      check_count(run, 3, blocks, "zero_points");
      b.zeros = data<const float>(*zeros);
    }
    return b;
  }

  static void multiply_rows(eph::Run& run, const BlockWeights& b, const float* a, int64_t rows,
                            float* y) {
    const int64_t length = arranged_length(b);
    auto* arranged = take_scratch<float>(run, checked_multiply(rows, length));
    for (int64_t r = 0; r < rows; ++r) arrange_row(b, a + r * b.k, arranged + r * length);
    const double cost = static_cast<double>(b.k) * (0.04 + 0.03 * static_cast<double>(rows));
    parallel_for(b.n, cost, [=, &b](int64_t begin, int64_t end) {
      multiply_packed(b, arranged, rows, begin, end, y);
    });
  }

  static void multiply_columns(const BlockWeights& b, const float* a, int64_t rows, float* y) {
    const int64_t groups = (b.n - 1) / kColumnsAtOnce + 1;
    const double cost = static_cast<double>(b.k) * (2 + 0.3 * static_cast<double>(rows));
    parallel_for(groups, cost, [=, &b](int64_t begin, int64_t end) {
      std::array<float, kColumnsAtOnce * kDepth> columns;
      columns.fill(0);
      for (int64_t first = 0; first < b.k; first += kDepth) {
        const int64_t depth = std::min(kDepth, b.k - first);
        for (int64_t g = begin; g < end; ++g) {
          const int64_t column = g * kColumnsAtOnce;
          const int64_t count = std::min(kColumnsAtOnce, b.n - column);
          for (int64_t c = 0; c < count; ++c) {
            b.unpack_column(column + c, first, first + depth, columns.data() + c * kDepth);
          }
          for (int64_t r = 0; r < rows; ++r) {
            std::array<float, kColumnsAtOnce> sums = {};
            add_products(a + r * b.k + first, columns.data(), depth, sums.data());
            for (int64_t c = 0; c < count; ++c) {
              y[r * b.n + column + c] += sums[static_cast<std::size_t>(c)];
            }
          }
        }
      }
    });
  }

  void multiply_panels(eph::Run& run, eph::State* state, const BlockWeights& b, const float* a,
                       int64_t rows, float* y) {
    const int64_t widest = std::min(kPanel, n_);
    auto* panel = take_scratch<float>(run, checked_multiply(widest, k_));
    auto* part = take_scratch<float>(run, checked_multiply(rows, widest));
    const auto shape_of = [=, this](int64_t columns) {
      return ProductShape{.m = rows, .k = k_, .n = columns, .transpose_b = true};
    };
    void* scratch = products_.take_scratch(run, shape_of(widest));
    for (int64_t first = 0; first < n_; first += kPanel) {
      const int64_t columns = std::min(kPanel, n_ - first);
      parallel_for(columns, static_cast<double>(k_), [=, this, &b](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) b.unpack_column(first + c, 0, k_, panel + c * k_);
      });
      products_.multiply(run, state, shape_of(columns), a, panel, nullptr, part,
                         columns == widest ? scratch : nullptr);
      parallel_for(rows, static_cast<double>(columns), [=, this](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          float* to = y + r * n_ + first;
          for (int64_t c = 0; c < columns; ++c) to[c] += part[r * columns + c];
        }
      });
    }
  }

  int64_t k_, n_, block_;
  int64_t blocks_ = 0;
  int bits_;
  Products products_;
};

constexpr uint64_t kUint8 = kTypeSet<EPH_ELEMENT_UINT8>;

constexpr KernelEntry kMatmulNbitsKernels[] = {
    {"MatMulNBits",
     1,
     1,
     {.required = 3, .same_type = 0b100101},
     kInputTypes<kOnlyFloat, kUint8, kOnlyFloat, kOnlyFloat | kUint8, kInt32, kOnlyFloat>,
     &make<MatMulNBits>,
     kMicrosoft},
};

std::string why_refused_nbits(const NodeContext& context) {
  const eph::NodeView& node = context.node();
  const int64_t bits = node.get_int("bits", 4);
  const int64_t block = node.get_int("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8) {
    return "weights of " + std::to_string(bits) + " bits are not supported, but 2, 4 and 8";
  }
  if (block < 16 || block >= kMaxExtent || (block & (block - 1)) != 0) {
    return "block_size=" + std::to_string(block) + " is not a power of 2 from 16 to 2^30";
  }
  if (context.has_input(4)) return "g_idx is not supported";
  if (node.get_int("weight_prepacked", 0) != 0) {
    return "weights that are packed for another provider are not supported (weight_prepacked=" +
           std::to_string(node.get_int("weight_prepacked", 0)) + ")";
  }
  return {};
}

// ---- Definition ---------------------------------------------------------------------------------

void infer_nbits(eph::Inference& node) {
  const eph::NodeView view = node.node();
  const int64_t k = view.get_int("K", 0);
  const int64_t n = view.get_int("N", 0);
  if (k < 1 || n < 1 || k >= kMaxExtent || n >= kMaxExtent) {
    infer::fail("attributes K=" + std::to_string(k) + " and N=" + std::to_string(n) +
                " must be positive and less than 2^31");
  }
  if (node.has_input(5)) infer::check_vector(infer::shape_of(node, 5), infer::known(n), "bias");
  infer::Shape shape = infer::shape_of(node, 0);
  if (shape) {
    if (shape->empty()) infer::fail("A has no rows, as it is a scalar");
    (void)infer::same(shape->back(), infer::known(k), "the extent of A's rows and K");
    shape->back() = infer::known(n);
  }
  infer::set(node, 0, infer::type_of(node, 0), shape);
}

}  // namespace

Table matmul_nbits_kernels() { return kMatmulNbitsKernels; }

Refusals matmul_nbits_refusals() {
  static constexpr Refusal kRefusals[] = {{"MatMulNBits", &why_refused_nbits}};
  return kRefusals;
}

Definitions define_matmul_nbits() {
  return {
      eph::Operator(kMicrosoft, "MatMulNBits", 1)
          .description("A * B with a constant B of a few bits, which has a scale for each block.")
          .input("A", "T1", kUpToFloat)
          .input("B", "T2", kUint8, 0, "[N, blocks of a column, bytes of a block]")
          .input("scales", "T1", kUpToFloat, 0, "[N, blocks of a column]")
          .input("zero_points", "T3", kUint8 | kUpToFloat, eph::kOptional,
                 "packed like B, or as numbers of A's type")
          .input("g_idx", "T4", kInt32, eph::kOptional)
          .input("bias", "T1", kUpToFloat, eph::kOptional)
          .output("Y", "T1", kUpToFloat)
          .required_attribute("K", EPH_ATTRIBUTE_INT)
          .required_attribute("N", EPH_ATTRIBUTE_INT)
          .attribute("accuracy_level", 0, "of A; everything is computed in float")
          .attribute("bits", 4)
          .required_attribute("block_size", EPH_ATTRIBUTE_INT)
          .attribute("weight_prepacked", 0)
          .infer(&infer_nbits),
  };
}

}  // namespace ephost_cpu
