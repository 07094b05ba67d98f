// Det: determinants of the matrices in the last two dimensions.
#include <algorithm>
#include <cmath>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

// By elimination with the largest pivot of each column. Destroys the n x n matrix.
double determinant(double* matrix, int64_t n) {
  double product = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(matrix[row * n + column]) > std::fabs(matrix[pivot * n + column])) pivot = row;
    }
    if (pivot != column) {
      std::swap_ranges(matrix + pivot * n, matrix + (pivot + 1) * n, matrix + column * n);
      product = -product;
    }
    const double head = matrix[column * n + column];
    product *= head;
    if (head == 0) return product;
    for (int64_t row = column + 1; row < n; ++row) {
      const double factor = matrix[row * n + column] / head;
      for (int64_t i = column + 1; i < n; ++i) {
        matrix[row * n + i] -= factor * matrix[column * n + i];
      }
    }
  }
  return product;
}

class Det final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    Dims shape = dims_of(x);
    if (shape.size() < 2 || shape[shape.size() - 2] != shape.back()) {
      fail("shape " + to_string(shape) + " does not end with a square matrix");
    }
    const int64_t n = shape.back();
    shape.pop_back();
    shape.pop_back();
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    const int64_t size = n * n;
    const int64_t bytes = checked_multiply(size + 1, sizeof(double));
    auto* matrix = static_cast<double*>(run.scratch(static_cast<uint64_t>(bytes)));
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const int64_t count = element_count(shape);
      for (int64_t i = 0; i < count; ++i) {
        const T* from = data<const T>(x) + i * size;
        for (int64_t e = 0; e < size; ++e) matrix[e] = static_cast<double>(from[e]);
        data<T>(y)[i] = static_cast<T>(determinant(matrix, n));
      }
    });
  }
};

constexpr KernelEntry kDetKernels[] = {
    {"Det", 11, kNewest, {}, kInputTypes<kFloat>, &make<Det>},
};

}  // namespace

Table det_kernels() { return kDetKernels; }

}  // namespace ephost_cpu
