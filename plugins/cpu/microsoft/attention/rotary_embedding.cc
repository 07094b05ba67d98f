// RotaryEmbedding.
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/microsoft/attention/rotary_cache.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

// Inputs: X as [batch, heads, length, size] or [batch, length, heads * size], position ids,
// cosines, sines.
class MicrosoftRotaryEmbedding final : public Kernel {
 public:
  explicit MicrosoftRotaryEmbedding(const NodeContext& context)
      : Kernel(context),
        interleaved_(context.node().get_int("interleaved", 0) != 0),
        heads_(context.node().get_int("num_heads", 0)),
        rotated_(context.node().get_int("rotary_embedding_dim", 0)) {
    if (heads_ < 0 || rotated_ < 0 || rotated_ % 2 != 0 || (rotated_ > 0 && heads_ == 0)) {
      fail("num_heads=" + std::to_string(heads_) +
           " and rotary_embedding_dim=" + std::to_string(rotated_) +
           " must not be negative, the latter even and used with the "
           "former");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = dims_of(*run.input(0));
    if (shape.size() != 3 && shape.size() != 4) {
      fail("the input " + to_string(shape) + " does not have rank 3 or 4");
    }
    const bool heads_first = shape.size() == 4;
    const Dims cosines = dims_of(*run.input(2));
    const int64_t batch = shape[0];
    const int64_t length = shape[heads_first ? 2 : 1];
    const int64_t size = head_size(shape, cosines);
    const int64_t heads = heads_first ? shape[1] : shape[2] / size;
    const RotaryCache cache = read_cache(run, 2, 3, size);
    if (cache.pairs != (rotated_ == 0 ? size : rotated_) / 2) {
      fail("cos_cache of shape " + to_string(cosines) + " does not have a number for each of " +
           std::to_string((rotated_ == 0 ? size : rotated_) / 2) + " pairs");
    }
    const eph_value& positions = *run.input(1);
    const bool is_offset = dims_of(positions) == Dims{1};
    if (!is_offset && !(dims_of(positions) == Dims{batch, length})) {
      fail("position_ids of shape " + to_string(dims_of(positions)) + ", expected [1] or " +
           to_string(Dims{batch, length}));
    }
    const auto* ids = data<const int64_t>(positions);
    for (int64_t i = 0; i < (is_offset ? 1 : batch * length); ++i) {
      (void)cache.check(ids[i]);
      if (is_offset && length > 0) (void)cache.check(checked_add(ids[0], length - 1));
    }
    const auto* x = run.input_data<float>(0);
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, shape));
    parallel_for(
        batch * heads * length, static_cast<double>(size), [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const int64_t b = r / (heads * length);
            const int64_t t = heads_first ? r % length : r / heads % length;
            const int64_t angle = (is_offset ? ids[0] + t : ids[b * length + t]) * cache.pairs;
            rotate_head(x + r * size, cache.cosines + angle, cache.sines + angle, cache.pairs, size,
                        interleaved_, y + r * size);
          }
        });
  }

 private:
  [[nodiscard]] int64_t head_size(const Dims& shape, const Dims& cosines) const {
    if (shape.size() == 4) {
      if (heads_ != 0 && heads_ != shape[1]) {
        fail("num_heads=" + std::to_string(heads_) + " differs from the input's " +
             to_string(shape));
      }
      if (shape[3] == 0) fail("the heads of the input " + to_string(shape) + " are empty");
      return shape[3];
    }
    const int64_t whole = cosines.size() == 2 ? checked_multiply(2, cosines[1]) : 0;
    const int64_t size = heads_ == 0 ? whole : shape[2] / heads_;
    if (size < 1 || shape[2] % size != 0 || (heads_ != 0 && size * heads_ != shape[2])) {
      fail("the input " + to_string(shape) + " cannot be cut into heads, with num_heads=" +
           std::to_string(heads_) + " and cos_cache of shape " + to_string(cosines));
    }
    return size;
  }

  bool interleaved_;
  int64_t heads_, rotated_;
};

constexpr KernelEntry kMicrosoftRotaryKernels[] = {
    {"RotaryEmbedding",
     1,
     1,
     {.required = 4, .same_type = 0b1101},
     kInputTypes<kOnlyFloat, kInt64, kOnlyFloat, kOnlyFloat>,
     &make<MicrosoftRotaryEmbedding>,
     kMicrosoft},
};

std::string why_refused_rotary(const NodeContext& context) {
  if (context.node().get_int("is_packed_batching", 0) != 0) {
    return "is_packed_batching is not supported";
  }
  if (context.node().get_float("scale", 1) != 1) return "a scale other than 1 is not supported";
  return {};
}

// ---- Definition ---------------------------------------------------------------------------------

void infer_rotary(eph::Inference& node) {
  infer::check_rank(infer::shape_of(node, 0), {3, 4}, "input");
  infer::check_rank(infer::shape_of(node, 1), {1, 2}, "position_ids");
  infer::check_rank(infer::shape_of(node, 2), {2}, "cos_cache");
  infer::check_rank(infer::shape_of(node, 3), {2}, "sin_cache");
  node.set_output_like(0, 0);
}

}  // namespace

Table microsoft_rotary_kernels() { return kMicrosoftRotaryKernels; }

Refusals microsoft_rotary_refusals() {
  static constexpr Refusal kRefusals[] = {{"RotaryEmbedding", &why_refused_rotary}};
  return kRefusals;
}

Definitions define_rotary_embedding() {
  return {
      eph::Operator(kMicrosoft, "RotaryEmbedding", 1)
          .description("Rotates pairs of elements of each head by an angle for its position.")
          .input("input", "T", kUpToFloat)
          .input("position_ids", "M", kInt64, 0, "of each token, or of the first one")
          .input("cos_cache", "T", kUpToFloat)
          .input("sin_cache", "T", kUpToFloat)
          .output("output", "T", kUpToFloat)
          .attribute("interleaved", 0)
          .attribute("is_packed_batching", 0)
          .attribute("num_heads", 0)
          .attribute("rotary_embedding_dim", 0)
          .attribute("scale", 1.0F)
          .infer(&infer_rotary),
  };
}

}  // namespace ephost_cpu
