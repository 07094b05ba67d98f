// MatMul with numpy's broadcasting of the leading dimensions.
#include "plugins/cpu/broadcast.h"
#include "plugins/cpu/odometer.h"
#include "plugins/cpu/product.h"
#include "plugins/cpu/registry.h"

namespace cpu {
namespace {

// What a product of two tensors comes to.
struct Layout {
  Dims out;            // shape of the result
  ProductShape shape;  // of one product
  Dims loop;           // further dimensions to go through, if the batches don't fit into `shape`
  std::array<Dims, 2> strides;  // of A and B along those, in elements
};

Dims without_matrix(const Dims& shape) {
  Dims batch = shape;
  batch.pop_back();
  batch.pop_back();
  return batch;
}

// Strides, in elements, of matrices of `size` elements along the broadcast batch.
Dims batch_strides(const Dims& batch, const Dims& to, int64_t size) {
  Dims strides = broadcast_strides(batch, to);
  for (int64_t& stride : strides) stride = multiply_stride(stride, size);
  return strides;
}

Layout make_layout(Dims a, Dims b) {
  if (a.empty() || b.empty()) fail("a scalar cannot be multiplied as a matrix");
  const bool a_is_row = a.size() == 1;
  const bool b_is_column = b.size() == 1;
  if (a_is_row) a.insert(0, 1);
  if (b_is_column) b.push_back(1);
  Layout layout;
  ProductShape& shape = layout.shape;
  shape.m = a[a.size() - 2];
  shape.k = a.back();
  shape.n = b.back();
  if (b[b.size() - 2] != shape.k) {
    fail("shapes " + to_string(a) + " and " + to_string(b) + " differ in the inner dimension");
  }
  const Dims a_batch = without_matrix(a);
  const Dims b_batch = without_matrix(b);
  const Dims batch = broadcast_shape(a_batch, b_batch);
  const int64_t a_count = element_count(a_batch);
  const int64_t b_count = element_count(b_batch);
  const int64_t count = element_count(batch);
  if (b_count == 1) {
    shape.m = checked_multiply(shape.m, a_count);
  } else if (a_count == count && b_count == count) {
    shape.batch = count;
  } else {
    layout.loop = batch;
    layout.strides = {batch_strides(a_batch, batch, multiply_stride(shape.m, shape.k)),
                      batch_strides(b_batch, batch, multiply_stride(shape.k, shape.n))};
  }
  layout.out = batch;
  if (!a_is_row) layout.out.push_back(a[a.size() - 2]);
  if (!b_is_column) layout.out.push_back(shape.n);
  return layout;
}

class MatMul final : public Kernel {
 public:
  explicit MatMul(const NodeContext& context)
      : Kernel(context), products_(context.settings().onednn, usable_constant(context)) {
    const std::optional<Dims> a = context.input_shape(0);
    const std::optional<Dims> b = context.input_shape(1);
    if (!a || !b || context.input_type(0) != EPH_FLOAT) return;
    const Layout layout = make_layout(*a, *b);
    if (element_count(layout.out) > 0 && layout.shape.k > 0) products_.prepare(layout.shape);
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    const Layout layout = make_layout(dims_of(a), dims_of(*run.input(1)));
    allocate_output(run, 0, a.element_type, layout.out);
    if (element_count(layout.out) == 0) return;
    switch (a.element_type) {
      case EPH_FLOAT:
        if (layout.shape.k == 0) return multiply_all<float>(run, layout);
        return each_product<float>(
            run, layout, [&](const float* left, const float* right, float* out) {
              products_.multiply(run, state, layout.shape, left, right, nullptr, out);
            });
      case EPH_DOUBLE:
        return multiply_all<double>(run, layout);
      case EPH_INT32:
      case EPH_UINT32:
        return multiply_all<uint32_t>(run, layout);
      default:
        return multiply_all<uint64_t>(run, layout);
    }
  }

 private:
  // B, if it is a constant matrix of floats without a batch: only then all products share it.
  static const void* usable_constant(const NodeContext& context) {
    const eph_value* b = context.constant(1);
    if (b == nullptr || b->element_type != EPH_FLOAT || b->rank < 2) return nullptr;
    const Dims shape = dims_of(*b);
    return element_count(without_matrix(shape)) == 1 ? b->data : nullptr;
  }

  template <class T>
  static void multiply_all(const eph::Run& run, const Layout& layout) {
    each_product<T>(run, layout,
                    [&](const T* a, const T* b, T* y) { multiply_plain(layout.shape, a, b, y); });
  }

  template <class T, class Body>
  static void each_product(const eph::Run& run, const Layout& layout, const Body& body) {
    const T* a = run.input_data<T>(0);
    const T* b = run.input_data<T>(1);
    T* y = data<T>(*run.output(0));
    const int64_t count = element_count(layout.loop);
    Odometer<2> at(layout.loop, layout.strides);
    for (int64_t i = 0; i < count; ++i, at.next()) {
      body(a + at.offset(0), b + at.offset(1), y + i * layout.shape.m * layout.shape.n);
    }
  }

  Products products_;
};

constexpr Inputs kTwo = {.required = 2, .same_type = 0b11};
constexpr auto& kWide = kInputTypes<kFloat | kWideInts, kFloat | kWideInts>;

constexpr KernelEntry kEntries[] = {
    {"MatMul", 1, 13, kTwo, kWide, &make<MatMul>},
};

}  // namespace

Table matmul_kernels() { return kEntries; }

}  // namespace cpu
