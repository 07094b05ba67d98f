// FusedMatMul, FusedGemm, and SparseToDenseMatMul, whose sparse operand the host makes dense.
#include <utility>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/kernels/matrix/matmul_layout.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/microsoft/activation.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/part.h"

namespace ephost_cpu {
namespace {

// How an operand is transposed. A vector never is.
struct Transposition {
  bool matrix = false;  // swaps the last two dimensions
  bool batch = false;   // the first dimension has the rows, and the next ones are the batch
};

// Dimension order[d] of the operand is dimension d of what is multiplied.
std::vector<std::size_t> order_of(Transposition transposition, std::size_t rank) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < rank; ++d) order.push_back(d);
  if (rank < 2) return order;
  if (transposition.batch) {
    order.erase(order.begin());
    order.insert(order.end() - 1, 0);
  }
  if (transposition.matrix) std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

Dims permuted(const Dims& shape, Transposition transposition) {
  Dims out;
  for (const std::size_t d : order_of(transposition, shape.size())) out.push_back(shape[d]);
  return out;
}

// The elements in the order in which they are multiplied.
template <class T>
const T* permute_operand(eph::Run& run, const T* from, const Dims& shape,
                         Transposition transposition) {
  const Dims strides = dense_strides(shape);
  const int64_t count = element_count(shape);
  Dims extents;
  Dims from_strides;
  for (const std::size_t d : order_of(transposition, shape.size())) {
    extents.push_back(shape[d]);
    from_strides.push_back(strides[d]);
  }
  auto* to =
      static_cast<T*>(run.scratch(static_cast<uint64_t>(checked_multiply(count + 1, sizeof(T)))));
  if (count == 0) return to;
  Odometer<1> at(extents, {from_strides});
  for (int64_t i = 0; i < count; ++i, at.next()) to[i] = from[at.offset(0)];
  return to;
}

class FusedMatMul final : public Kernel {
 public:
  explicit FusedMatMul(const NodeContext& context)
      : Kernel(context),
        alpha_(context.node().get_float("alpha", 1)),
        of_a_(read(context, "transA", "transBatchA")),
        of_b_(read(context, "transB", "transBatchB")),
        products_(context.settings().onednn, usable_constant(context)) {}

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    const Dims a_shape = permuted(dims_of(a), of_a_);
    const Dims b_shape = permuted(dims_of(*run.input(1)), of_b_);
    MatMulLayout layout = make_matmul_layout(a_shape, b_shape);
    layout.shape.alpha = alpha_;
    allocate_output(run, 0, a.element_type, layout.out);
    if (element_count(layout.out) == 0) return;
    // Rows of several matrices A are one matrix only if they are adjacent.
    const int64_t rows = a_shape.size() < 2 ? 1 : a_shape[a_shape.size() - 2];
    layout.shape.transpose_a = a_shape.size() >= 2 && of_a_.matrix &&
                               !moves_batch(of_a_, a_shape) && layout.shape.m == rows;
    layout.shape.transpose_b = b_shape.size() >= 2 && of_b_.matrix && !moves_batch(of_b_, b_shape);
    dispatch<float, double>(a.element_type, [&](auto tag) {
      multiply<typename decltype(tag)::type>(run, state, layout);
    });
  }

 private:
  static Transposition read(const NodeContext& context, const char* matrix, const char* batch) {
    return {context.node().get_int(matrix, 0) != 0, context.node().get_int(batch, 0) != 0};
  }
  // With two dimensions, there is no batch to move.
  static bool moves_batch(Transposition transposition, const Dims& shape) {
    return transposition.batch && shape.size() > 2;
  }

  // B, if it is one matrix that is multiplied as it is, or transposed.
  const void* usable_constant(const NodeContext& context) {
    const eph_value* b = context.constant(1);
    const bool is_usable = b != nullptr && b->element_type == EPH_ELEMENT_FLOAT && b->rank == 2;
    return is_usable ? b->data : nullptr;
  }

  template <class T>
  void multiply(eph::Run& run, eph::State* state, const MatMulLayout& layout) {
    const ProductShape& shape = layout.shape;
    const T* a = operand<T>(run, 0, of_a_, shape.transpose_a);
    const T* b = operand<T>(run, 1, of_b_, shape.transpose_b);
    T* y = data<T>(*run.output(0));
    void* scratch = nullptr;
    if (std::is_same_v<T, float> && shape.k > 0) scratch = products_.take_scratch(run, shape);
    const int64_t count = element_count(layout.loop);
    Odometer<2> at(layout.loop, layout.strides);
    for (int64_t i = 0; i < count; ++i, at.next()) {
      one_product(run, state, shape, a + at.offset(0), b + at.offset(1), y + i * shape.m * shape.n,
                  scratch);
    }
  }

  template <class T>
  static const T* operand(eph::Run& run, uint32_t input, Transposition transposition,
                          bool by_product) {
    const Dims shape = dims_of(*run.input(input));
    const bool moves = (transposition.matrix && !by_product && shape.size() > 1) ||
                       moves_batch(transposition, shape);
    return moves ? permute_operand(run, run.input_data<T>(input), shape, transposition)
                 : run.input_data<T>(input);
  }

  template <class T>
  void one_product(eph::Run& run, eph::State* state, const ProductShape& shape, const T* a,
                   const T* b, T* y, void* scratch) {
    if constexpr (std::is_same_v<T, float>) {
      if (shape.k > 0) return products_.multiply(run, state, shape, a, b, nullptr, y, scratch);
    }
    multiply_plain(shape, a, b, y);
    const int64_t count = shape.batch * shape.m * shape.n;
    for (int64_t i = 0; i < count; ++i) y[i] *= static_cast<T>(alpha_);
  }

  float alpha_;
  Transposition of_a_, of_b_;
  Products products_;
};

constexpr const char* kScalesIntegers = "attribute alpha is not 1 for a product of integers";

// Inputs: A and B, which are matrices.
class SparseToDenseMatMul final : public Kernel {
 public:
  explicit SparseToDenseMatMul(const NodeContext& context)
      : Kernel(context), of_floats_(context), alpha_(context.node().get_float("alpha", 1)) {
    shape_.transpose_a = context.node().get_int("transA", 0) != 0;
    shape_.transpose_b = context.node().get_int("transB", 0) != 0;
  }

  std::unique_ptr<eph::State> create_state() override { return of_floats_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    const eph_value& b = *run.input(1);
    if (a.rank != 2 || b.rank != 2) {
      fail("A " + to_string(dims_of(a)) + " and B " + to_string(dims_of(b)) + " are not matrices");
    }
    if (is_float(a.element_type)) return of_floats_.compute(run, state);
    if (alpha_ != 1) fail(kScalesIntegers);
    ProductShape shape = shape_;
    shape.m = a.shape[shape.transpose_a ? 1 : 0];
    shape.k = a.shape[shape.transpose_a ? 0 : 1];
    shape.n = b.shape[shape.transpose_b ? 0 : 1];
    if (shape.k != b.shape[shape.transpose_b ? 1 : 0]) {
      fail("the inner dimensions of A " + to_string(dims_of(a)) + " and B " +
           to_string(dims_of(b)) + " differ");
    }
    const Dims out = {shape.m, shape.n};
    const eph_value& y = allocate_output(run, 0, a.element_type, out);
    dispatch<uint32_t, uint64_t>(unsigned_of(a.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      multiply_plain(shape, data<T>(a), data<T>(b), data<T>(y));
    });
  }

 private:
  static bool is_float(int32_t type) {
    return type == EPH_ELEMENT_FLOAT || type == EPH_ELEMENT_DOUBLE;
  }
  // Sums of either kind have the same bits.
  static int32_t unsigned_of(int32_t type) {
    if (type == EPH_ELEMENT_INT32) return EPH_ELEMENT_UINT32;
    return type == EPH_ELEMENT_INT64 ? int32_t{EPH_ELEMENT_UINT64} : type;
  }

  FusedMatMul of_floats_;
  float alpha_;
  ProductShape shape_;
};

// The activation of a node of FusedGemm, or why it is not supported.
std::string read_gemm_activation(const eph::NodeView& node, Activation& activation) {
  std::string why_not;
  const std::string_view name = node.get_string("activation", "");
  if (!parse_activation(name, activation.kind, why_not)) return why_not;
  if (activation.kind == ActivationKind::kClip) return "activation 'Clip' is not supported";
  const char* const names[] = {"activation_alpha", "activation_beta"};
  float* const parameters[] = {&activation.first, &activation.second};
  for (std::size_t i = 0; i < parameter_count(activation.kind); ++i) {
    if (node.attribute(names[i]) == nullptr) {
      return "activation '" + std::string(name) + "' needs the attribute " + names[i];
    }
    *parameters[i] = node.get_float(names[i], 0);
  }
  return {};
}

class FusedGemm final : public Kernel {
 public:
  explicit FusedGemm(const NodeContext& context)
      : Kernel(context), gemm_(make_part("Gemm", 13, context, true)) {
    (void)read_gemm_activation(context.node(), activation_);
  }

  std::unique_ptr<eph::State> create_state() override { return gemm_->create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    gemm_->compute(run, state);
    const eph_value& y = *run.output(0);
    activation_.apply(y.element_type, y.data, element_count(eph::shape_of(y)));
  }

 private:
  std::unique_ptr<Kernel> gemm_;
  Activation activation_;
};

constexpr KernelEntry kFusedProductKernels[] = {
    {"FusedMatMul", 1, 1, kTwoAlike, kTwoFloats, &make<FusedMatMul>, kMicrosoft},
    {"FusedGemm", 1, 1, kTwoOrThreeAlike, kThreeFloats, &make<FusedGemm>, kMicrosoft},
    {"SparseToDenseMatMul", 1, 1, kTwoAlike, kInputTypes<kWideNumbers, kWideNumbers>,
     &make<SparseToDenseMatMul>, kMicrosoft},
};

std::string why_refused_sparse(const NodeContext& context) {
  const int32_t type = context.input_type(0);
  const bool is_integer = type != EPH_ELEMENT_UNDEFINED && ((kWideInts >> type) & 1) != 0;
  return is_integer && context.node().get_float("alpha", 1) != 1 ? kScalesIntegers : "";
}

std::string why_refused_gemm(const NodeContext& context) {
  Activation activation;
  return read_gemm_activation(context.node(), activation);
}

// ---- Definitions --------------------------------------------------------------------------------

infer::Shape operand_of(const eph::Inference& node, uint32_t input, const char* matrix,
                        const char* batch) {
  const infer::Shape shape = infer::shape_of(node, input);
  if (!shape) return shape;
  const eph::NodeView view = node.node();
  infer::Extents moved;
  for (const std::size_t d :
       order_of({view.get_int(matrix, 0) != 0, view.get_int(batch, 0) != 0}, shape->size())) {
    moved.push_back((*shape)[d]);
  }
  return moved;
}

void infer_matmul(eph::Inference& node) {
  infer::set(node, 0, infer::type_of(node, 0),
             infer::matmul(operand_of(node, 0, "transA", "transBatchA"),
                           operand_of(node, 1, "transB", "transBatchB")));
}

void infer_matrices(eph::Inference& node) {
  infer::check_rank(infer::shape_of(node, 0), {2}, "A");
  infer::check_rank(infer::shape_of(node, 1), {2}, "B");
  infer_matmul(node);
}

void infer_fused_gemm(eph::Inference& node) {
  infer::check_rank(infer::shape_of(node, 0), {2}, "A");
  infer::check_rank(infer::shape_of(node, 1), {2}, "B");
  infer::Shape y =
      infer::matmul(operand_of(node, 0, "transA", ""), operand_of(node, 1, "transB", ""));
  infer::set(node, 0, infer::type_of(node, 0), y);
}

// As Gemm takes them; there are kernels for those of floating-point numbers.
constexpr uint64_t kGemmTypes = kFloat | kTypeSet<EPH_ELEMENT_FLOAT16> | kWideInts;

}  // namespace

Table fused_product_kernels() { return kFusedProductKernels; }

Refusals fused_product_refusals() {
  static constexpr Refusal kRefusals[] = {{"FusedGemm", &why_refused_gemm},
                                          {"SparseToDenseMatMul", &why_refused_sparse}};
  return kRefusals;
}

Definitions define_fused_products() {
  return {
      eph::Operator(kMicrosoft, "FusedMatMul", 1)
          .description("alpha * A' * B', where each operand may be transposed.")
          .input("A", "T", kAllFloats)
          .input("B", "T", kAllFloats)
          .output("Y", "T", kAllFloats)
          .attribute("alpha", 1.0F)
          .attribute("transA", 0)
          .attribute("transB", 0)
          .attribute("transBatchA", 0, "the rows of A are its first dimension")
          .attribute("transBatchB", 0, "the rows of B are its first dimension")
          .infer(&infer_matmul),
      eph::Operator(kMicrosoft, "FusedGemm", 1)
          .description("An activation of alpha * A' * B' + beta * C.")
          .input("A", "T", kGemmTypes)
          .input("B", "T", kGemmTypes)
          .input("C", "T", kGemmTypes, eph::kOptional)
          .output("Y", "T", kGemmTypes)
          .optional_attribute("activation", EPH_ATTRIBUTE_STRING)
          .optional_attribute("activation_alpha", EPH_ATTRIBUTE_FLOAT)
          .optional_attribute("activation_beta", EPH_ATTRIBUTE_FLOAT)
          .optional_attribute("activation_gamma", EPH_ATTRIBUTE_FLOAT)
          .attribute("alpha", 1.0F)
          .attribute("beta", 1.0F)
          .attribute("transA", 0)
          .attribute("transB", 0)
          .infer(&infer_fused_gemm),
      eph::Operator(kMicrosoft, "SparseToDenseMatMul", 1)
          .description("alpha * A' * B, where A is sparse in the model and dense in a run.")
          .input("A", "T", kWideNumbers)
          .input("B", "T", kWideNumbers)
          .output("Y", "T", kWideNumbers)
          .attribute("alpha", 1.0F)
          .attribute("transA", 0)
          .attribute("transB", 0)
          .infer(&infer_matrices),
  };
}

}  // namespace ephost_cpu
