// Einsum: operands are contracted from left to right, each time as a batch of matrix products over
// operands that are brought into the form [batch, rows, inner] and [batch, inner, columns] where
// they don't have it already.
#include <algorithm>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/matrix/einsum_equation.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

// A tensor with labelled dimensions. No label appears twice.
template <class T>
struct Operand {
  const T* elements;
  Dims labels, extents, strides;
};

bool contains(const Dims& labels, int64_t label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::size_t position(const Dims& labels, int64_t label) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

Dims joined(const Dims& a, const Dims& b) {
  Dims both = a;
  for (const int64_t label : b) both.push_back(label);
  return both;
}

// Views `operand` with its dimensions in that order; labels that it lacks have stride 0.
template <class T>
Dims strides_in_order(const Operand<T>& operand, const Dims& order) {
  Dims strides;
  for (const int64_t label : order) {
    const bool has = contains(operand.labels, label);
    strides.push_back(has ? operand.strides[position(operand.labels, label)] : 0);
  }
  return strides;
}

// One call: the extent of each label, and scratch memory.
class Contraction {
 public:
  Contraction(eph::Run& run, const EinsumEquation& equation) : run_(run) {
    if (run.input_count() != equation.operands()) {
      fail("the equation has " + std::to_string(equation.operands()) + " terms for " +
           std::to_string(run.input_count()) + " inputs");
    }
    std::size_t ellipsis = 0;
    for (uint32_t i = 0; i < run.input_count(); ++i) {
      if (run.input(i) == nullptr) fail("input " + std::to_string(i) + " is missing");
      ellipsis = std::max(ellipsis, equation.ellipsis_size(i, dims_of(*run.input(i)).size()));
    }
    extents_.fill(1);
    for (uint32_t i = 0; i < run.input_count(); ++i) {
      const Dims shape = dims_of(*run.input(i));
      const Dims labels = equation.labels(i, shape.size(), ellipsis);
      for (std::size_t d = 0; d < shape.size(); ++d) merge_extent(labels[d], shape[d], i);
    }
    ellipsis_ = ellipsis;
    output = equation.output_labels(ellipsis);
    out_shape = extents(output);
  }

  [[nodiscard]] Dims extents(const Dims& labels) const {
    Dims list;
    for (const int64_t label : labels) list.push_back(extents_[static_cast<std::size_t>(label)]);
    return list;
  }
  [[nodiscard]] bool has_empty_dimension() const {
    return std::find(extents_.begin(), extents_.end(), 0) != extents_.end();
  }

  // A repeated label steps along the diagonal; an extent of 1 is repeated.
  template <class T>
  Operand<T> operand(const EinsumEquation& equation, uint32_t i, const T* elements) const {
    const Dims shape = dims_of(*run_.input(i));
    const Dims labels = equation.labels(i, shape.size(), ellipsis_);
    const Dims strides = dense_strides(shape);
    Operand<T> made = {elements, {}, {}, {}};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const int64_t stride = shape[d] == 1 ? 0 : strides[d];
      const std::size_t at = position(made.labels, labels[d]);
      if (at < made.labels.size()) {
        made.strides[at] += stride;
        continue;
      }
      made.labels.push_back(labels[d]);
      made.strides.push_back(stride);
    }
    made.extents = extents(made.labels);
    return made;
  }

  template <class T>
  T* scratch(int64_t count) {
    return static_cast<T*>(run_.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(T)))));
  }

  Dims output;  // labels
  Dims out_shape;

 private:
  void merge_extent(int64_t label, int64_t extent, uint32_t input) {
    int64_t& known = extents_[static_cast<std::size_t>(label)];
    if (extent == 1 || extent == known) return;
    if (known != 1) {
      fail("input " + std::to_string(input) + " has extent " + std::to_string(extent) +
           " where another dimension of the same name has " + std::to_string(known));
    }
    known = extent;
  }

  eph::Run& run_;
  std::array<int64_t, kLabelCount> extents_;
  std::size_t ellipsis_ = 0;
};

// y, dense with the dimensions `order`, is x summed over its other labels. No extent is 0.
template <class T>
void gather(const Contraction& call, const Operand<T>& x, const Dims& order, T* y) {
  Dims summed;
  for (const int64_t label : x.labels) {
    if (!contains(order, label)) summed.push_back(label);
  }
  Dims extents = call.extents(order);
  Dims strides = strides_in_order(x, order);
  const int64_t row = extents.empty() ? 1 : extents.back();
  const int64_t step = extents.empty() ? 0 : strides.back();
  if (!extents.empty()) {
    extents.pop_back();
    strides.pop_back();
  }
  const int64_t rows = element_count(extents);
  const Dims sum_extents = call.extents(summed);
  const Dims sum_strides = strides_in_order(x, summed);
  const int64_t terms = element_count(sum_extents);
  parallel_for(rows, static_cast<double>(row * terms), [&](int64_t begin, int64_t end) {
    Odometer<1> at(extents, {strides});
    Odometer<1> term(sum_extents, {sum_strides});
    at.seek(begin);
    for (int64_t r = begin; r < end; ++r, at.next()) {
      T* out = y + r * row;
      for (int64_t t = 0; t < terms; ++t, term.next()) {
        const T* from = x.elements + at.offset(0) + term.offset(0);
        for (int64_t j = 0; j < row; ++j) {
          out[j] = t == 0 ? from[j * step] : static_cast<T>(out[j] + from[j * step]);
        }
      }
    }
  });
}

template <class T>
bool is_dense(const Operand<T>& x, const Dims& order, const Dims& extents) {
  int64_t expected = 1;
  for (std::size_t d = order.size(); d-- > 0;) {
    if (extents[d] == 1) continue;
    if (strides_in_order(x, {order[d]})[0] != expected) return false;
    expected *= extents[d];
  }
  return true;
}

// Makes the tensor dense with its dimensions, or some of them, in that order.
template <class T>
Operand<T> arranged(Contraction& call, const Operand<T>& x, const Dims& order) {
  const Dims extents = call.extents(order);
  const T* elements = x.elements;
  if (order.size() != x.labels.size() || !is_dense(x, order, extents)) {
    T* copy = call.scratch<T>(element_count(extents));
    gather(call, x, order, copy);
    elements = copy;
  }
  return {elements, order, extents, dense_strides(extents)};
}

// How two operands multiply: the labels of each role.
struct Roles {
  Dims batch, rows, columns, inner;
};

template <class T>
Roles assign_roles(const Operand<T>& a, const Operand<T>& b, const Dims& needed) {
  Roles roles;
  // In the order of the output where a label is in there.
  for (const int64_t label : needed) {
    const bool in_a = contains(a.labels, label);
    const bool in_b = contains(b.labels, label);
    if (in_a && in_b) roles.batch.push_back(label);
    if (in_a && !in_b) roles.rows.push_back(label);
    if (!in_a && in_b) roles.columns.push_back(label);
  }
  for (const int64_t label : a.labels) {
    if (!contains(needed, label) && contains(b.labels, label)) roles.inner.push_back(label);
  }
  return roles;
}

class Einsum final : public Kernel {
 public:
  explicit Einsum(const NodeContext& context)
      : Kernel(context),
        equation_(context.node().get_string("equation", "")),
        products_(context.settings().onednn, nullptr) {
    if (equation_.operands() != context.node().inputs().size()) {
      fail("the equation has " + std::to_string(equation_.operands()) + " terms for " +
           std::to_string(context.node().inputs().size()) + " inputs");
    }
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    Contraction call(run, equation_);
    const int32_t type = run.input(0)->element_type;
    const eph_value& y = allocate_output(run, 0, type, call.out_shape);
    const int64_t count = element_count(call.out_shape);
    if (count == 0) return;
    if (call.has_empty_dimension()) {
      std::fill_n(data<char>(y), count * element_size(type), char{0});
      return;
    }
    // Integers as unsigned ones of 32 or 64 bits: their sums and products wrap around alike.
    if (type == EPH_ELEMENT_FLOAT) return contract<float>(run, state, call, type, y);
    if (type == EPH_ELEMENT_DOUBLE) return contract<double>(run, state, call, type, y);
    if (element_size(type) == 8) return contract<uint64_t>(run, state, call, type, y);
    contract<uint32_t>(run, state, call, element_size(type) == 4 ? type : EPH_ELEMENT_INT32, y);
  }

 private:
  // Computes in T, the C++ type for the element type `as`.
  template <class T>
  void contract(eph::Run& run, eph::State* state, Contraction& call, int32_t as,
                const eph_value& y) {
    const bool converts = as != y.element_type;
    const int64_t count = element_count(call.out_shape);
    T* out = converts ? call.scratch<T>(count) : data<T>(y);
    const auto operand = [&](uint32_t i) {
      const eph_value& x = *run.input(i);
      if (!converts) return call.operand(equation_, i, data<const T>(x));
      const int64_t elements = element_count(eph::shape_of(x));
      T* copy = call.scratch<T>(elements);
      convert(x.data, x.element_type, copy, as, elements);
      return call.operand(equation_, i, static_cast<const T*>(copy));
    };
    Operand<T> left = operand(0);
    for (uint32_t i = 1; i < run.input_count(); ++i) {
      left = multiply(run, state, call, left, operand(i), needed_after(run, call, i),
                      i + 1 == run.input_count() ? out : nullptr);
    }
    if (left.elements != out) gather(call, left, call.output, out);
    if (converts) convert(out, as, y.data, y.element_type, count);
  }

  // The labels of the output, then those of the inputs after `i`.
  [[nodiscard]] Dims needed_after(const eph::Run& run, const Contraction& call, uint32_t i) const {
    Dims needed = call.output;
    for (uint32_t k = i + 1; k < run.input_count(); ++k) {
      const Operand<char> later = call.operand<char>(equation_, k, nullptr);
      for (const int64_t label : later.labels) {
        if (!contains(needed, label)) needed.push_back(label);
      }
    }
    return needed;
  }

  // The labels of `x` that `other` or the rest needs.
  template <class T>
  static Operand<T> without_lonely(Contraction& call, const Operand<T>& x, const Operand<T>& other,
                                   const Dims& needed) {
    Dims kept;
    for (const int64_t label : x.labels) {
      if (contains(needed, label) || contains(other.labels, label)) kept.push_back(label);
    }
    return kept.size() == x.labels.size() ? x : arranged(call, x, kept);
  }

  // The product, in `out` if that is given and the result is dense in the order of the output.
  template <class T>
  Operand<T> multiply(eph::Run& run, eph::State* state, Contraction& call, Operand<T> a,
                      Operand<T> b, const Dims& needed, T* out) {
    a = without_lonely(call, a, b, needed);
    b = without_lonely(call, b, a, needed);
    Roles roles = assign_roles(a, b, needed);
    if (out != nullptr && joined(roles.batch, joined(roles.columns, roles.rows)) == call.output) {
      std::swap(a, b);
      std::swap(roles.rows, roles.columns);
    }
    ProductShape shape;
    shape.batch = element_count(call.extents(roles.batch));
    shape.m = element_count(call.extents(roles.rows));
    shape.n = element_count(call.extents(roles.columns));
    shape.k = element_count(call.extents(roles.inner));

    const Dims plain_a = joined(roles.batch, joined(roles.rows, roles.inner));
    const Dims plain_b = joined(roles.batch, joined(roles.inner, roles.columns));
    const Dims turned_a = joined(roles.batch, joined(roles.inner, roles.rows));
    const Dims turned_b = joined(roles.batch, joined(roles.columns, roles.inner));
    shape.transpose_a = !is_dense(a, plain_a, call.extents(plain_a)) &&
                        is_dense(a, turned_a, call.extents(turned_a));
    shape.transpose_b = !is_dense(b, plain_b, call.extents(plain_b)) &&
                        is_dense(b, turned_b, call.extents(turned_b));
    a = arranged(call, a, shape.transpose_a ? turned_a : plain_a);
    b = arranged(call, b, shape.transpose_b ? turned_b : plain_b);

    const Dims labels = joined(roles.batch, joined(roles.rows, roles.columns));
    const Dims extents = call.extents(labels);
    T* y = out != nullptr && labels == call.output ? out : call.scratch<T>(element_count(extents));
    multiply_matrices(run, state, shape, a.elements, b.elements, y);
    return {y, labels, extents, dense_strides(extents)};
  }

  template <class T>
  void multiply_matrices(eph::Run& run, eph::State* state, const ProductShape& shape, const T* a,
                         const T* b, T* y) {
    if constexpr (std::is_same_v<T, float>) {
      constexpr int64_t kSmall = 64;  // work in one product that is not worth a call of oneDNN
      if (shape.batch == 1 || shape.m * shape.n * shape.k >= kSmall) {
        return products_.multiply(run, state, shape, a, b, nullptr, y);
      }
    }
    multiply_plain(shape, a, b, y);
  }

  EinsumEquation equation_;
  Products products_;
};

constexpr KernelEntry kEinsumKernels[] = {
    {"Einsum", 12, kNewest, kAllAlike, kVariadicTypes<kNumbers>, &make<Einsum>},
};

}  // namespace

Table einsum_kernels() { return kEinsumKernels; }

}  // namespace ephost_cpu
