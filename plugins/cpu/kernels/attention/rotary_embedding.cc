// RotaryEmbedding: rotates pairs of elements of each head by an angle that grows with the position.
#include <algorithm>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/attention/rotary.h"

namespace ephost_cpu {
namespace {

// X is [batch, heads, length, size], or [batch, length, heads * size].
struct RotaryShape {
  int64_t batch, heads, length, size;
  int64_t rotated;  // elements at the start of each head that are rotated
  bool heads_first;
};

class RotaryEmbedding final : public Kernel {
 public:
  explicit RotaryEmbedding(const NodeContext& context)
      : Kernel(context),
        interleaved_(context.node().get_int("interleaved", 0) != 0),
        heads_(context.node().get_int("num_heads", 0)),
        rotated_(context.node().get_int("rotary_embedding_dim", 0)) {
    if (heads_ < 0 || rotated_ < 0 || rotated_ % 2 != 0) {
      fail("attributes num_heads=" + std::to_string(heads_) + " and rotary_embedding_dim=" +
           std::to_string(rotated_) + " must be positive, the latter even");
    }
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const RotaryShape shape = make_shape(dims_of(x));
    check_caches(run, shape);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, dims_of(x)));
      const auto* positions = run.input(3) != nullptr ? run.input_data<int64_t>(3) : nullptr;
      rotate(shape, run.input_data<T>(0), run.input_data<T>(1), run.input_data<T>(2), positions, y);
    });
  }

 private:
  [[nodiscard]] RotaryShape make_shape(const Dims& x) const {
    if (x.size() != 3 && x.size() != 4)
      fail("the input " + to_string(x) + " does not have rank 3 or 4");
    RotaryShape shape = {};
    shape.heads_first = x.size() == 4;
    shape.batch = x[0];
    shape.heads = shape.heads_first ? x[1] : heads_;
    shape.length = shape.heads_first ? x[2] : x[1];
    if (!shape.heads_first && (heads_ == 0 || x[2] % heads_ != 0)) {
      fail("num_heads=" + std::to_string(heads_) + " does not divide the input " + to_string(x));
    }
    shape.size = shape.heads_first ? x[3] : x[2] / heads_;
    shape.rotated = rotated_ == 0 ? shape.size : rotated_;
    if (shape.rotated > shape.size || shape.rotated % 2 != 0) {
      fail("heads of " + std::to_string(shape.size) +
           " elements cannot have a rotary embedding of " + std::to_string(shape.rotated));
    }
    return shape;
  }

  static void check_caches(const eph::Run& run, const RotaryShape& shape) {
    const Dims cosines = dims_of(*run.input(1));
    const int64_t pairs = shape.rotated / 2;
    const bool has_positions = run.input(3) != nullptr;
    const bool fits = has_positions ? cosines.size() == 2 && cosines[1] == pairs
                                    : cosines == Dims{shape.batch, shape.length, pairs};
    if (!fits || !(dims_of(*run.input(2)) == cosines)) {
      fail("cos_cache " + to_string(cosines) + " and sin_cache " +
           to_string(eph::shape_of(*run.input(2))) + " do not fit the input");
    }
    if (!has_positions) return;
    const Dims positions = dims_of(*run.input(3));
    if (!(positions == Dims{shape.batch, shape.length})) {
      fail("position_ids have shape " + to_string(positions) + ", expected " +
           to_string(Dims{shape.batch, shape.length}));
    }
    const auto* ids = run.input_data<int64_t>(3);
    for (int64_t i = 0; i < element_count(positions); ++i) {
      if (ids[i] < 0 || ids[i] >= cosines[0]) {
        fail("position " + std::to_string(ids[i]) + " is out of range for " +
             std::to_string(cosines[0]) + " cached ones");
      }
    }
  }

  template <class T>
  void rotate(const RotaryShape& shape, const T* x, const T* cosines, const T* sines,
              const int64_t* positions, T* y) const {
    const int64_t pairs = shape.rotated / 2;
    const int64_t inner = shape.heads_first ? shape.length : shape.heads;
    const double cost = static_cast<double>(shape.size);
    const int64_t rows = shape.batch * shape.heads * shape.length;
    parallel_for(rows, cost, [=, &shape, this](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t batch = r / (shape.heads * shape.length);
        const int64_t at = shape.heads_first ? r % inner : r / inner % shape.length;
        const int64_t token = batch * shape.length + at;
        const int64_t angle = (positions != nullptr ? positions[token] : token) * pairs;
        rotate_head(x + r * shape.size, cosines + angle, sines + angle, pairs, shape.size,
                    interleaved_, y + r * shape.size);
      }
    });
  }

  bool interleaved_;
  int64_t heads_, rotated_;
};

constexpr auto& kRotaryTypes = kInputTypes<kFloat, kFloat, kFloat, kInt64>;

constexpr KernelEntry kRotaryEmbeddingKernels[] = {
    {"RotaryEmbedding", 23, kNewest, kThreeAlike, kRotaryTypes, &make<RotaryEmbedding>},
};

}  // namespace

Table rotary_embedding_kernels() { return kRotaryEmbeddingKernels; }

}  // namespace ephost_cpu
