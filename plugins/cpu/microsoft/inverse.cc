// Inverse of the matrices in the last two dimensions.
#include <algorithm>
#include <cmath>

#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

// By elimination with the largest pivot of each column, which destroys the n x n matrix. The
// inverse of a singular one has numbers that are not finite.
void invert(double* matrix, int64_t n, double* inverse) {
  for (int64_t i = 0; i < n * n; ++i) inverse[i] = i % (n + 1) == 0 ? 1 : 0;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(matrix[row * n + column]) > std::fabs(matrix[pivot * n + column])) pivot = row;
    }
    if (pivot != column) {
      for (double* rows : {matrix, inverse}) {
        std::swap_ranges(rows + pivot * n, rows + (pivot + 1) * n, rows + column * n);
      }
    }
    const double head = matrix[column * n + column];
    for (int64_t i = 0; i < n; ++i) {
      matrix[column * n + i] /= head;
      inverse[column * n + i] /= head;
    }
    for (int64_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = matrix[row * n + column];
      for (int64_t i = 0; i < n; ++i) {
        matrix[row * n + i] -= factor * matrix[column * n + i];
        inverse[row * n + i] -= factor * inverse[column * n + i];
      }
    }
  }
}

class Inverse final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2 || shape[shape.size() - 2] != shape.back()) {
      fail("shape " + to_string(shape) + " does not end with a square matrix");
    }
    const int64_t n = shape.back();
    const int64_t size = checked_multiply(n, n);
    const int64_t bytes = checked_multiply(size + 1, 2 * sizeof(double));
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    if (element_count(shape) == 0) return;
    auto* matrix = static_cast<double*>(run.scratch(static_cast<uint64_t>(bytes)));
    double* inverse = matrix + size;
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t at = 0; at < element_count(shape); at += size) {
        std::copy_n(data<const T>(x) + at, size, matrix);
        invert(matrix, n, inverse);
        std::transform(inverse, inverse + size, data<T>(y) + at,
                       [](double number) { return static_cast<T>(number); });
      }
    });
  }
};

constexpr KernelEntry kInverseKernels[] = {
    {"Inverse", 1, 1, {}, kInputTypes<kFloat>, &make<Inverse>, kMicrosoft},
};

void infer_inverse(eph::Inference& node) {
  if (const infer::Shape x = infer::shape_of(node, 0)) {
    if (x->size() < 2) infer::fail("the input " + infer::to_text(*x) + " holds no matrices");
    (void)infer::same((*x)[x->size() - 2], x->back(), "rows and columns of the matrices");
  }
  node.set_output_like(0, 0);
}

}  // namespace

Table inverse_kernels() { return kInverseKernels; }

Definitions define_inverse() {
  return {
      eph::Operator(kMicrosoft, "Inverse", 1)
          .description("The inverse of each square matrix.")
          .input("X", "T", kAllFloats)
          .output("Y", "T", kAllFloats)
          .infer(&infer_inverse),
  };
}

}  // namespace ephost_cpu
