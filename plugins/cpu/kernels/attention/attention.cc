// Attention: softmax(softcap(scale * Q K^T) + mask) V for each head. Query heads that share a key
// head are neighbours, so that they are the rows of one matrix product; as many products as fit
// into a few megabytes of scores are done at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/math/row_math.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kScoresAtOnce = int64_t{1} << 20;  // elements

struct AttentionShape {
  int64_t batch, heads, kv_heads, queries, keys, past;  // keys without past ones
  int64_t size, value_size;                             // elements of a head
  bool heads_first;                                     // [batch, heads, ...], not flattened

  [[nodiscard]] int64_t total() const { return past + keys; }
  [[nodiscard]] int64_t shared() const { return heads / kv_heads; }
};

// What is added to the scores [batch, heads, queries, total]; a stride of 0 repeats elements.
template <class T>
struct Mask {
  const T* numbers = nullptr;
  const uint8_t* flags = nullptr;
  std::array<int64_t, 3> strides = {};
  int64_t width = 0;               // later keys are masked out
  const int64_t* valid = nullptr;  // by member of the batch: keys that are not padding
  bool is_causal = false;
};

// The values of qk_matmul_output_mode: in both versions the cap precedes the mask, and what is
// stored first is the bare product. (The numpy code beside ONNX's text caps it; text and function
// body do not.)
enum class ScoreStage { kProduct, kCapped, kMasked, kSoftmax };

class Attention final : public Kernel {
 public:
  explicit Attention(const NodeContext& context)
      : Kernel(context),
        is_causal_(context.node().get_int("is_causal", 0) != 0),
        heads_(context.node().get_int("q_num_heads", 0)),
        kv_heads_(context.node().get_int("kv_num_heads", 0)),
        softcap_(context.node().get_float("softcap", 0)),
        scale_(context.node().get_float("scale", 0)),
        has_scale_(context.node().attribute("scale") != nullptr),
        scores_(context.settings().onednn, nullptr),
        values_(context.settings().onednn, nullptr) {
    const int64_t stage = context.node().get_int("qk_matmul_output_mode", 0);
    if (stage < 0 || stage > 3) {
      fail("attribute qk_matmul_output_mode=" + std::to_string(stage) + " is unknown");
    }
    if (heads_ < 0 || kv_heads_ < 0 || softcap_ < 0) {
      fail("attribute q_num_heads, kv_num_heads or softcap is negative");
    }
    stage_ = static_cast<ScoreStage>(stage);
  }

  std::unique_ptr<eph::State> create_state() override {
    auto state = std::make_unique<States>();
    state->scores = scores_.create_state();
    state->values = values_.create_state();
    return state;
  }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& q = *run.input(0);
    const AttentionShape shape = make_shape(run);
    dispatch_compute_type(q.element_type, [&](auto tag) {
      attend<typename decltype(tag)::type>(run, *static_cast<States*>(state), shape);
    });
  }

 private:
  struct States : eph::State {
    std::unique_ptr<eph::State> scores, values;
  };

  static bool same_leading(const Dims& a, const Dims& b, std::size_t skipped) {
    if (a.size() != b.size()) return false;
    for (std::size_t d = 0; d < a.size(); ++d) {
      if (d != skipped && a[d] != b[d]) return false;
    }
    return true;
  }

  [[nodiscard]] AttentionShape make_shape(const eph::Run& run) const {
    const Dims q = dims_of(*run.input(0));
    const Dims k = dims_of(*run.input(1));
    const Dims v = dims_of(*run.input(2));
    const auto mismatch = [&] {
      fail("Q " + to_string(q) + ", K " + to_string(k) + " and V " + to_string(v) +
           " do not match q_num_heads=" + std::to_string(heads_) +
           ", kv_num_heads=" + std::to_string(kv_heads_));
    };
    AttentionShape shape = {};
    shape.heads_first = q.size() == 4;
    if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size())
      mismatch();
    if (k[0] != q[0] || v[0] != q[0]) mismatch();
    shape.batch = q[0];
    if (shape.heads_first) {
      if (k[1] != v[1] || k[2] != v[2] || q[3] != k[3]) mismatch();
      shape.heads = q[1];
      shape.kv_heads = k[1];
      shape.queries = q[2];
      shape.keys = k[2];
      shape.size = q[3];
      shape.value_size = v[3];
    } else {
      const bool divides = heads_ > 0 && kv_heads_ > 0 && q[2] % heads_ == 0 &&
                           k[2] % kv_heads_ == 0 && v[2] % kv_heads_ == 0;
      if (!divides || k[1] != v[1] || q[2] / heads_ != k[2] / kv_heads_) mismatch();
      shape.heads = heads_;
      shape.kv_heads = kv_heads_;
      shape.queries = q[1];
      shape.keys = k[1];
      shape.size = q[2] / heads_;
      shape.value_size = v[2] / kv_heads_;
    }
    if (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0 || shape.size == 0) mismatch();
    shape.past = past_length(run, shape);
    return shape;
  }

  static int64_t past_length(const eph::Run& run, const AttentionShape& shape) {
    const eph_value* key = run.input(4);
    const eph_value* value = run.input(5);
    if (key == nullptr && value == nullptr) return 0;
    if (key == nullptr || value == nullptr) fail("past_key and past_value must be given together");
    const Dims keys = dims_of(*key);
    const Dims values = dims_of(*value);
    if (!same_leading(keys, {shape.batch, shape.kv_heads, 0, shape.size}, 2) ||
        !(values == Dims{shape.batch, shape.kv_heads, keys[2], shape.value_size})) {
      fail("past_key " + to_string(keys) + " and past_value " + to_string(values) +
           " do not fit K and V");
    }
    return keys[2];
  }

  template <class T>
  static T* take(eph::Run& run, int64_t count) {
    return static_cast<T*>(run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(T)))));
  }

  template <class T>
  void attend(eph::Run& run, States& states, const AttentionShape& shape) {
    FloatArguments arguments(run);
    const int32_t type = run.input(0)->element_type;
    const int64_t total = shape.total();
    const Dims scores = {shape.batch, shape.heads, shape.queries, total};
    const Dims y_shape =
        shape.heads_first
            ? Dims{shape.batch, shape.heads, shape.queries, shape.value_size}
            : Dims{shape.batch, shape.queries, checked_multiply(shape.heads, shape.value_size)};
    T* y = arguments.optional_output<T>(0, type, y_shape);
    T* present_k = arguments.optional_output<T>(1, run.input(1)->element_type,
                                                {shape.batch, shape.kv_heads, total, shape.size});
    T* present_v = arguments.optional_output<T>(
        2, run.input(2)->element_type, {shape.batch, shape.kv_heads, total, shape.value_size});
    T* stored = arguments.optional_output<T>(3, type, scores);
    const T* k =
        join(run, shape, arguments.input<T>(4), arguments.input<T>(1), shape.size, present_k);
    const T* v =
        join(run, shape, arguments.input<T>(5), arguments.input<T>(2), shape.value_size, present_v);
    if (element_count(y_shape) == 0) return arguments.finish();
    if (y == nullptr) y = take<T>(run, element_count(y_shape));
    if (total == 0) {
      std::fill_n(y, element_count(y_shape), T{0});
      return arguments.finish();
    }
    const T* q = arguments.input<T>(0);
    T* heads_y = y;
    if (!shape.heads_first) {
      q = split_heads(shape, q, shape.heads, shape.queries, shape.size,
                      take<T>(run, element_count(dims_of(*run.input(0)))));
      heads_y = take<T>(run, element_count(y_shape));
    }
    const Mask<T> mask = make_mask<T>(run, arguments, shape);
    compute_heads(run, states, shape, q, k, v, mask, heads_y, stored);
    if (!shape.heads_first) join_heads(shape, heads_y, y);
    arguments.finish();
  }

  // [batch, length, heads, size] as [batch, heads, length, size].
  template <class T>
  static const T* split_heads(const AttentionShape& shape, const T* from, int64_t heads,
                              int64_t length, int64_t size, T* to) {
    const int64_t rows = shape.batch * heads * length;
    parallel_for(rows, 0.2 * static_cast<double>(size), [=](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t b = r / (heads * length);
        const int64_t row = (b * length + r % length) * heads + r / length % heads;
        std::copy_n(from + row * size, size, to + r * size);
      }
    });
    return to;
  }
  template <class T>
  static void join_heads(const AttentionShape& shape, const T* from, T* to) {
    const int64_t size = shape.value_size;
    const int64_t rows = shape.batch * shape.heads * shape.queries;
    parallel_for(rows, 0.2 * static_cast<double>(size), [=, &shape](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t b = r / (shape.heads * shape.queries);
        const int64_t row =
            (b * shape.queries + r % shape.queries) * shape.heads + r / shape.queries % shape.heads;
        std::copy_n(from + r * size, size, to + row * size);
      }
    });
  }

  // Past and new keys (or values) of each head, one after the other; in `present` if that output is
  // wanted.
  template <class T>
  static const T* join(eph::Run& run, const AttentionShape& shape, const T* past, const T* added,
                       int64_t size, T* present) {
    const int64_t new_size = shape.keys * size;
    const int64_t past_size = shape.past * size;
    const int64_t heads = shape.batch * shape.kv_heads;
    if (!shape.heads_first) {
      added = split_heads(shape, added, shape.kv_heads, shape.keys, size,
                          take<T>(run, checked_multiply(heads, new_size)));
    }
    if (past_size == 0 && present == nullptr) return added;
    if (present == nullptr) present = take<T>(run, checked_multiply(heads, past_size + new_size));
    for (int64_t h = 0; h < heads; ++h) {
      T* to = present + h * (past_size + new_size);
      if (past_size > 0) std::copy_n(past + h * past_size, past_size, to);
      std::copy_n(added + h * new_size, new_size, to + past_size);
    }
    return present;
  }

  template <class T>
  [[nodiscard]] Mask<T> make_mask(const eph::Run& run, FloatArguments& arguments,
                                  const AttentionShape& shape) const {
    Mask<T> mask;
    mask.is_causal = is_causal_;
    mask.width = shape.total();
    if (run.input(6) != nullptr) {
      if (!(dims_of(*run.input(6)) == Dims{shape.batch})) {
        fail("nonpad_kv_seqlen has shape " + to_string(eph::shape_of(*run.input(6))) +
             ", expected " + to_string(Dims{shape.batch}));
      }
      mask.valid = run.input_data<int64_t>(6);
      for (int64_t b = 0; b < shape.batch; ++b) {
        if (mask.valid[b] < 0 || mask.valid[b] > shape.total()) {
          fail("nonpad_kv_seqlen " + std::to_string(mask.valid[b]) + " is out of range for " +
               std::to_string(shape.total()) + " keys");
        }
      }
    }
    const eph_value* given = run.input(3);
    if (given == nullptr) return mask;
    const Dims extents = dims_of(*given);
    const Dims full = {shape.batch, shape.heads, shape.queries};
    bool fits = !extents.empty() && extents.size() <= 4 && extents.back() <= shape.total();
    mask.width = extents.empty() ? 0 : extents.back();
    int64_t stride = mask.width;
    for (std::size_t i = 1; fits && i < extents.size(); ++i) {
      const int64_t extent = extents[extents.size() - 1 - i];
      fits = extent == 1 || extent == full[3 - i];
      mask.strides[3 - i] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
    if (!fits) {
      fail("attn_mask " + to_string(extents) + " does not fit scores of shape " +
           to_string(Dims{shape.batch, shape.heads, shape.queries, shape.total()}));
    }
    if (given->element_type == EPH_ELEMENT_BOOL) {
      mask.flags = run.input_data<uint8_t>(3);
    } else {
      mask.numbers = arguments.input<T>(3);
    }
    return mask;
  }

  template <class T>
  void compute_heads(eph::Run& run, States& states, const AttentionShape& shape, const T* q,
                     const T* k, const T* v, const Mask<T>& mask, T* y, T* stored) {
    const int64_t rows = shape.shared() * shape.queries;  // of one key head
    const int64_t total = shape.total();
    const int64_t kv_heads = shape.batch * shape.kv_heads;
    int64_t at_once =
        std::clamp<int64_t>(kScoresAtOnce / checked_multiply(rows, total), 1, kv_heads);
    while (kv_heads % at_once != 0) --at_once;
    const float scale = has_scale_ ? scale_ : 1 / std::sqrt(static_cast<float>(shape.size));
    const ProductShape score_shape = {.batch = at_once,
                                      .m = rows,
                                      .k = shape.size,
                                      .n = total,
                                      .transpose_b = true,
                                      .alpha = scale};
    const ProductShape value_shape = {
        .batch = at_once, .m = rows, .k = total, .n = shape.value_size};
    T* scores = take<T>(run, at_once * rows * total);
    void* scratch = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      const uint64_t bytes = std::max(scores_.prepare(score_shape), values_.prepare(value_shape));
      if (bytes != 0) scratch = run.scratch(bytes);
    }
    for (int64_t h = 0; h < kv_heads; h += at_once) {
      multiply(run, scores_, states.scores.get(), score_shape, q + h * rows * shape.size,
               k + h * total * shape.size, scores, scratch);
      const int64_t first = h * rows;
      const double cost = 3.0 * static_cast<double>(total);
      parallel_for(at_once * rows, cost, [=, &shape, &mask, this](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          T* row = scores + r * total;
          finish_row(shape, mask, first + r, row,
                     stored != nullptr ? stored + (first + r) * total : nullptr);
        }
      });
      multiply(run, values_, states.values.get(), value_shape, scores,
               v + h * total * shape.value_size, y + h * rows * shape.value_size, scratch);
    }
  }

  static void multiply(eph::Run& run, Products& products, eph::State* state,
                       const ProductShape& shape, const float* a, const float* b, float* y,
                       void* scratch) {
    products.multiply(run, state, shape, a, b, nullptr, y, scratch);
  }
  static void multiply(eph::Run&, Products&, eph::State*, const ProductShape& shape,
                       const double* a, const double* b, double* y, void*) {
    multiply_plain(shape, a, b, y);
    if (shape.alpha == 1) return;
    const int64_t count = shape.batch * shape.m * shape.n;
    for (int64_t i = 0; i < count; ++i) y[i] *= static_cast<double>(shape.alpha);
  }

  // From the scores of a query to its weights. `index` counts the rows of [batch, heads, queries].
  template <class T>
  void finish_row(const AttentionShape& shape, const Mask<T>& mask, int64_t index, T* row,
                  T* stored) const {
    const int64_t total = shape.total();
    const auto store = [&](ScoreStage stage) {
      if (stored != nullptr && stage == stage_) std::copy_n(row, total, stored);
    };
    store(ScoreStage::kProduct);
    if (softcap_ > 0) {
      const T cap = static_cast<T>(softcap_);
      for (int64_t j = 0; j < total; ++j) row[j] = cap * fast_tanh(row[j] / cap);
    }
    store(ScoreStage::kCapped);
    apply_mask(shape, mask, index, row);
    store(ScoreStage::kMasked);
    const T top = row_max(row, total);
    if (top == -std::numeric_limits<T>::infinity()) {
      std::fill_n(row, total, T{0});  // all keys are masked out
    } else {
      const double sum = row_exp(row, top, row, total);
      row_affine(row, static_cast<T>(1 / sum), T{0}, row, total);
    }
    store(ScoreStage::kSoftmax);
  }

  template <class T>
  static void apply_mask(const AttentionShape& shape, const Mask<T>& mask, int64_t index, T* row) {
    constexpr T kMaskedScore = -std::numeric_limits<T>::infinity();
    const int64_t query = index % shape.queries;
    const int64_t head = index / shape.queries % shape.heads;
    const int64_t batch = index / shape.queries / shape.heads;
    const int64_t at = batch * mask.strides[0] + head * mask.strides[1] + query * mask.strides[2];
    if (mask.flags != nullptr) {
      for (int64_t j = 0; j < mask.width; ++j)
        row[j] = mask.flags[at + j] != 0 ? row[j] : kMaskedScore;
    } else if (mask.numbers != nullptr) {
      for (int64_t j = 0; j < mask.width; ++j) row[j] += mask.numbers[at + j];
    }
    int64_t end = mask.width;
    if (mask.valid != nullptr) end = std::min(end, mask.valid[batch]);
    if (mask.is_causal) {
      // The queries have the last positions of the cache.
      const int64_t before =
          mask.valid != nullptr && shape.past == 0 ? mask.valid[batch] - shape.queries : shape.past;
      end = std::min(end, query + before + 1);
    }
    const int64_t total = shape.total();
    for (int64_t j = std::clamp<int64_t>(end, 0, total); j < total; ++j) row[j] = kMaskedScore;
  }

  bool is_causal_;
  int64_t heads_, kv_heads_;
  float softcap_, scale_;
  bool has_scale_;
  ScoreStage stage_ = ScoreStage::kProduct;
  Products scores_, values_;
};

constexpr auto& kAttentionTypes =
    kInputTypes<kFloat, kFloat, kFloat, kFloat | kBool, kFloat, kFloat, kInt64>;

constexpr KernelEntry kAttentionKernels[] = {
    {"Attention", 23, kNewest, kThreeInputs, kAttentionTypes, &make<Attention>},
};

}  // namespace

Table attention_kernels() { return kAttentionKernels; }

}  // namespace ephost_cpu
