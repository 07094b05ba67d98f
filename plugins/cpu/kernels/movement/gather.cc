// Gather, GatherElements and GatherND. An index counts from the end where it is negative; one that
// is out of range is refused.
#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/element_mover.h"
#include "plugins/cpu/kernels/movement/indices.h"

namespace ephost_cpu {
namespace {

class Gather final : public Kernel {
 public:
  explicit Gather(const NodeContext& context)
      : Kernel(context), axis_(context.node().get_int("axis", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims index_shape = dims_of(*run.input(1));
    const std::size_t axis = normalize_axis(axis_, shape.size());
    Dims out;
    for (std::size_t i = 0; i < axis; ++i) out.push_back(shape[i]);
    for (const int64_t extent : index_shape) out.push_back(extent);
    for (std::size_t i = axis + 1; i < shape.size(); ++i) out.push_back(shape[i]);
    if (out.size() > kMaxRank)
      fail_unsupported("the output would have rank " + std::to_string(out.size()));
    allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;

    const int64_t count = element_count(index_shape);
    const int64_t* indices = read_indices(run, *run.input(1), count);
    const int64_t outer = element_count(shape, 0, axis);
    const int64_t inner = element_count(shape, axis + 1, shape.size());
    ElementMover mover(run);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = o * shape[axis] + checked_index(indices[i], shape[axis]);
        mover.copy((o * count + i) * inner, row * inner, inner);
      }
    }
  }

 private:
  int64_t axis_;
};

class GatherElements final : public Kernel {
 public:
  explicit GatherElements(const NodeContext& context)
      : Kernel(context), axis_(context.node().get_int("axis", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims out = dims_of(*run.input(1));
    const std::size_t axis = normalize_axis(axis_, shape.size());
    bool fits = out.size() == shape.size();
    for (std::size_t d = 0; fits && d < out.size(); ++d) fits = d == axis || out[d] <= shape[d];
    if (!fits) {
      fail("indices of shape " + to_string(out) + " do not fit data of shape " + to_string(shape));
    }
    allocate_output(run, 0, x.element_type, out);
    const int64_t count = element_count(out);
    if (count == 0) return;

    const int64_t* indices = read_indices(run, *run.input(1), count);
    Dims strides = dense_strides(shape);
    const int64_t stride = strides[axis];
    strides[axis] = 0;
    if (x.element_type == EPH_ELEMENT_STRING) {
      Odometer<1> position(out, {strides});
      ElementMover mover(run);
      for (int64_t i = 0; i < count; ++i, position.next()) {
        mover.copy(i, position.offset(0) + checked_index(indices[i], shape[axis]) * stride, 1);
      }
      return;
    }
    const Line line = {out.back(), axis + 1 == out.size() ? 0 : 1, shape[axis], stride};
    Dims rows = out;
    Dims row_strides = strides;
    rows.pop_back();
    row_strides.pop_back();
    dispatch_size(element_size(x.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      Odometer<1> row(rows, {row_strides});
      for (int64_t at = 0; at < count; at += line.count, row.next()) {
        take_line(line, data<const T>(x) + row.offset(0), indices + at,
                  data<T>(*run.output(0)) + at);
      }
    });
  }

 private:
  // Elements along the last dimension.
  struct Line {
    int64_t count;
    int64_t step;    // of the data from one of them to the next
    int64_t extent;  // of the axis
    int64_t stride;  // of the axis
  };

  template <class T>
  static void take_line(const Line& line, const T* x, const int64_t* indices, T* y) {
    for (int64_t i = 0; i < line.count; ++i) {
      const int64_t index = indices[i] < 0 ? indices[i] + line.extent : indices[i];
      if (index < 0 || index >= line.extent) {
        static_cast<void>(checked_index(indices[i], line.extent));  // throws, and names the index
      }
      y[i] = x[i * line.step + index * line.stride];
    }
  }

  int64_t axis_;
};

class GatherNd final : public Kernel {
 public:
  explicit GatherNd(const NodeContext& context)
      : Kernel(context), batch_(context.node().get_int("batch_dims", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims index_shape = dims_of(*run.input(1));
    const std::size_t batch = checked_batch(shape, index_shape);
    const auto depth = static_cast<std::size_t>(index_shape.back());
    Dims out = index_shape;
    out.pop_back();
    for (std::size_t i = batch + depth; i < shape.size(); ++i) out.push_back(shape[i]);
    if (out.size() > kMaxRank)
      fail_unsupported("the output would have rank " + std::to_string(out.size()));
    allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;

    const auto* indices = run.input_data<int64_t>(1);
    const Dims strides = dense_strides(shape);
    const int64_t tuples = element_count(index_shape, 0, index_shape.size() - 1);
    const int64_t inner = element_count(shape, batch + depth, shape.size());
    const int64_t batch_elements = element_count(shape, batch, shape.size());
    const int64_t per_batch = tuples / element_count(shape, 0, batch);
    ElementMover mover(run);
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t from = t / per_batch * batch_elements;
      for (std::size_t d = 0; d < depth; ++d) {
        const int64_t index = indices[t * static_cast<int64_t>(depth) + static_cast<int64_t>(d)];
        from += checked_index(index, shape[batch + d]) * strides[batch + d];
      }
      mover.copy(t * inner, from, inner);
    }
  }

 private:
  // The number of batch dimensions, after checking that the shapes agree.
  [[nodiscard]] std::size_t checked_batch(const Dims& shape, const Dims& index_shape) const {
    const std::size_t smaller = std::min(shape.size(), index_shape.size());
    if (smaller == 0 || batch_ < 0 || batch_ >= static_cast<int64_t>(smaller)) {
      fail("batch_dims=" + std::to_string(batch_) + " does not fit data of shape " +
           to_string(shape) + " and indices of shape " + to_string(index_shape));
    }
    const auto batch = static_cast<std::size_t>(batch_);
    const bool same = std::equal(shape.begin(), shape.begin() + batch, index_shape.begin());
    const int64_t depth = index_shape.back();
    if (!same || depth < 1 || depth > static_cast<int64_t>(shape.size() - batch)) {
      fail("indices of shape " + to_string(index_shape) + " do not fit data of shape " +
           to_string(shape));
    }
    return batch;
  }

  int64_t batch_;
};

constexpr auto& kGatherTypes = kInputTypes<kAny, kIndices>;

constexpr KernelEntry kGatherKernels[] = {
    {"Gather", 1, kNewest, kTwoInputs, kGatherTypes, &make<Gather>},
    {"GatherElements", 11, kNewest, kTwoInputs, kGatherTypes, &make<GatherElements>},
    {"GatherND", 11, kNewest, kTwoInputs, kInputTypes<kAny, kInt64>, &make<GatherNd>},
};

}  // namespace

Table gather_kernels() { return kGatherKernels; }

}  // namespace ephost_cpu
