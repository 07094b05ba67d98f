// SkipLayerNormalization, SkipSimplifiedLayerNormalization and EmbedLayerNormalization: a sum of
// tensors, normalised over its last dimension.
#include <algorithm>
#include <cmath>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/normalization/moments.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

constexpr float kEpsilon = 1e-12F;  // where the attribute is omitted

// What normalises rows of `extent` elements, and may keep what it found out about each.
struct RowNorm {
  bool subtracts_mean;
  float epsilon;
  const float* gamma;
  const float* beta;  // may be null
  float* means;       // may be null
  float* deviations;  // inverse; may be null

  void normalize(int64_t row, const float* x, float* y, int64_t extent) const {
    Moments<float> found = {0, 0};
    if (subtracts_mean) {
      found = moments(x, extent, epsilon);
    } else {
      const double mean = row_sum_squares(x, 0.0F, extent) / static_cast<double>(extent);
      found.inverse_deviation =
          static_cast<float>(1 / std::sqrt(mean + static_cast<double>(epsilon)));
    }
    if (means != nullptr) means[row] = found.mean;
    if (deviations != nullptr) deviations[row] = found.inverse_deviation;
    if (y == nullptr) return;
    row_weighted_affine(x, found.inverse_deviation, -found.mean * found.inverse_deviation, gamma,
                        beta, y, extent);
  }
};

float* optional_output(eph::Run& run, uint32_t i, const Dims& shape) {
  if (run.output(i) == nullptr) return nullptr;
  return data<float>(allocate_output(run, i, EPH_ELEMENT_FLOAT, shape));
}

// A row of sums for each range of rows: where the sums are not requested, they lie in the output,
// or in memory of their own.
struct SumRows {
  float* sums;    // of all rows, or null
  float* output;  // may be null
  int64_t extent;
  float* scratch;  // if both are null: one row for all, with a single range

  [[nodiscard]] float* of(int64_t row) const {
    float* rows = sums != nullptr ? sums : output;
    return rows != nullptr ? rows + row * extent : scratch;
  }
};

// The last extent of the input, which must be positive, and its rows.
struct Rows {
  int64_t rows, extent;
};
Rows rows_of(const Dims& shape) {
  if (shape.empty()) fail("the input is a scalar");
  const int64_t rows = element_count(shape, 0, shape.size() - 1);
  if (rows > 0 && shape.back() == 0) fail("there is nothing to normalise in " + to_string(shape));
  return {rows, shape.back()};
}

// Calls body(row) for all rows, in parallel unless they share memory.
template <class Body>
void for_each_row(const SumRows& sums, int64_t rows, const Body& body) {
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) body(r);
  };
  if (sums.scratch != nullptr) return range(0, rows);
  parallel_for(rows, 2.0 * static_cast<double>(sums.extent), range);
}

// Inputs: X, skip, gamma, beta (of LayerNormalization only), bias. Outputs: Y, means, inverse
// deviations, sums.
template <bool is_simplified>
class SkipNormalization final : public Kernel {
 public:
  explicit SkipNormalization(const NodeContext& context)
      : Kernel(context), epsilon_(context.node().get_float("epsilon", kEpsilon)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = dims_of(*run.input(0));
    const Rows rows = rows_of(shape);
    const int64_t period = skip_rows(shape, dims_of(*run.input(1)));
    check_vector(*run.input(2), rows.extent, "gamma");
    if (const eph_value* beta = run.input(kBeta)) check_vector(*beta, rows.extent, "beta");
    if (const eph_value* bias = run.input(kBias)) check_vector(*bias, rows.extent, "bias");
    Dims statistics = shape;
    statistics[statistics.size() - 1] = 1;
    float* y = optional_output(run, 0, shape);
    const RowNorm norm = {!is_simplified,
                          epsilon_,
                          run.input_data<float>(2),
                          optional_data<float>(run, kBeta),
                          optional_output(run, 1, statistics),
                          optional_output(run, 2, statistics)};
    SumRows sums = {optional_output(run, 3, shape), y, rows.extent, nullptr};
    if (rows.rows == 0) return;
    if (sums.sums == nullptr && y == nullptr) {
      sums.scratch = static_cast<float*>(
          run.scratch(static_cast<uint64_t>(checked_multiply(rows.extent, sizeof(float)))));
    }
    const auto* x = run.input_data<float>(0);
    const auto* skip = run.input_data<float>(1);
    const auto* bias = optional_data<float>(run, kBias);
    for_each_row(sums, rows.rows, [&](int64_t r) {
      float* sum = sums.of(r);
      add_rows(x + r * rows.extent, skip + r % period * rows.extent, bias, sum, rows.extent);
      norm.normalize(r, sum, y == nullptr ? nullptr : y + r * rows.extent, rows.extent);
    });
  }

 private:
  static constexpr uint32_t kBeta = is_simplified ? UINT32_MAX : 3;
  static constexpr uint32_t kBias = is_simplified ? 3 : 4;

  static void add_rows(const float* a, const float* b, const float* bias, float* sum,
                       int64_t count) {
    for (int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
    for (int64_t i = 0; bias != nullptr && i < count; ++i) sum[i] += bias[i];
  }

  // After how many rows the skip repeats. It has the input's shape, or that of one of its batch.
  static int64_t skip_rows(const Dims& shape, const Dims& skip) {
    bool fits = skip == shape;
    if (!fits && shape.size() == 3) {
      fits = skip == Dims{1, shape[1], shape[2]} || skip == Dims{shape[1], shape[2]};
    }
    if (!fits) {
      fail("the skip of shape " + to_string(skip) + " does not fit an input of shape " +
           to_string(shape));
    }
    return std::max<int64_t>(1, element_count(skip, 0, skip.size() - 1));
  }

  float epsilon_;
};

// Inputs: word and segment ids, embeddings of words, positions and segments, gamma, beta, mask,
// position ids. Outputs: Y, number of words by the mask, sums.
class EmbedLayerNormalization final : public Kernel {
 public:
  explicit EmbedLayerNormalization(const NodeContext& context)
      : Kernel(context), epsilon_(context.node().get_float("epsilon", kEpsilon)) {
    require_inputs(context, {2, 3, 5, 6});
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims ids = dims_of(*run.input(0));
    if (ids.size() != 2) fail("input_ids of shape " + to_string(ids) + " do not have rank 2");
    const Dims words = table_shape(run, 2, 0);
    const Dims shape = {ids[0], ids[1], words[1]};
    const Rows rows = rows_of(shape);
    check_vector(*run.input(5), rows.extent, "gamma");
    check_vector(*run.input(6), rows.extent, "beta");
    count_words(run, ids);
    const Embedding embeddings[] = {embedding(run, 0, 2, ids, words[1]),
                                    embedding(run, 8, 3, ids, words[1]),
                                    embedding(run, 1, 4, ids, words[1])};
    float* y = optional_output(run, 0, shape);
    SumRows sums = {optional_output(run, 2, shape), y, rows.extent, nullptr};
    if (rows.rows == 0 || (y == nullptr && sums.sums == nullptr)) return;
    const RowNorm norm = {true,    epsilon_, run.input_data<float>(5), run.input_data<float>(6),
                          nullptr, nullptr};
    for_each_row(sums, rows.rows, [&](int64_t r) {
      float* sum = sums.of(r);
      std::fill_n(sum, rows.extent, 0.0F);
      for (const Embedding& one : embeddings) {
        if (one.table == nullptr) continue;
        const float* from = one.table + one.id(r, ids[1]) * rows.extent;
        for (int64_t i = 0; i < rows.extent; ++i) sum[i] += from[i];
      }
      if (y != nullptr) norm.normalize(r, sum, y + r * rows.extent, rows.extent);
    });
  }

 private:
  struct Embedding {
    const float* table = nullptr;  // null: there is none
    const int32_t* ids = nullptr;  // null: the position within the sequence
    int64_t period = 1;            // after how many tokens the ids repeat

    [[nodiscard]] int64_t id(int64_t token, int64_t length) const {
      return ids != nullptr ? ids[token % period] : token % length;
    }
  };

  static Dims table_shape(const eph::Run& run, uint32_t input, int64_t extent) {
    const Dims shape = dims_of(*run.input(input));
    if (shape.size() != 2 || (extent != 0 && shape[1] != extent)) {
      fail("the embedding in input " + std::to_string(input) + " has shape " + to_string(shape) +
           (extent != 0 ? ", expected rows of " + std::to_string(extent) : ", expected rank 2"));
    }
    return shape;
  }

  static Embedding embedding(const eph::Run& run, uint32_t ids_input, uint32_t table_input,
                             const Dims& ids, int64_t extent) {
    const bool is_of_positions = table_input == 3;
    const eph_value* given = run.input(ids_input);
    if (run.input(table_input) == nullptr) {
      if (given != nullptr) fail("segment_ids are given without segment_embedding");
      return {};
    }
    const Dims table = table_shape(run, table_input, extent);
    Embedding made = {run.input_data<float>(table_input), nullptr, 1};
    if (given == nullptr) {
      if (!is_of_positions) fail("segment_embedding is given without segment_ids");
      if (element_count(ids) > 0 && ids[1] > table[0]) {
        fail("sequences of " + std::to_string(ids[1]) + " tokens need as many positions, found " +
             std::to_string(table[0]));
      }
      return made;
    }
    const Dims shape = dims_of(*given);
    if (!(shape == ids) && !(is_of_positions && shape == Dims{1, ids[1]})) {
      fail("input " + std::to_string(ids_input) + " of shape " + to_string(shape) +
           " does not fit input_ids of shape " + to_string(ids));
    }
    made.ids = data<const int32_t>(*given);
    made.period = std::max<int64_t>(1, element_count(shape));
    for (int64_t i = 0; i < element_count(shape); ++i) {
      if (made.ids[i] < 0 || made.ids[i] >= table[0]) {
        fail("id " + std::to_string(made.ids[i]) + " in input " + std::to_string(ids_input) +
             " is out of range for an embedding of " + std::to_string(table[0]) + " rows");
      }
    }
    return made;
  }

  static void count_words(eph::Run& run, const Dims& ids) {
    const eph_value* mask = run.input(7);
    if (mask != nullptr && !(dims_of(*mask) == ids)) {
      fail("the mask of shape " + to_string(dims_of(*mask)) + " differs from input_ids, of shape " +
           to_string(ids));
    }
    if (run.output(1) == nullptr) return;
    auto* counts = data<int32_t>(allocate_output(run, 1, EPH_ELEMENT_INT32, {ids[0]}));
    for (int64_t b = 0; b < ids[0]; ++b) {
      const auto* row = mask == nullptr ? nullptr : data<const int32_t>(*mask) + b * ids[1];
      counts[b] =
          row == nullptr ? 0 : static_cast<int32_t>(std::count(row, row + ids[1], int32_t{1}));
    }
  }

  float epsilon_;
};

constexpr auto& kSkipTypes =
    kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat>;
constexpr auto& kSimplifiedSkipTypes = kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat>;
constexpr Inputs kEmbed = {.required = 1, .same_type = 0b1111100};

constexpr KernelEntry kSkipNormalizationKernels[] = {
    {"SkipLayerNormalization",
     1,
     1,
     {.required = 3, .same_type = 0b11111},
     kSkipTypes,
     &make<SkipNormalization<false>>,
     kMicrosoft},
    {"SkipSimplifiedLayerNormalization",
     1,
     1,
     {.required = 3, .same_type = 0b1111},
     kSimplifiedSkipTypes,
     &make<SkipNormalization<true>>,
     kMicrosoft},
    {"EmbedLayerNormalization", 1, 1, kEmbed,
     kInputTypes<kInt32, kInt32, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kInt32,
                 kInt32>,
     &make<EmbedLayerNormalization>, kMicrosoft},
};

// ---- Definitions --------------------------------------------------------------------------------

void infer_skip(eph::Inference& node) {
  const infer::Shape shape = infer::shape_of(node, 0);
  const int32_t type = infer::type_of(node, 0);
  infer::check_rank(shape, {2, 3}, "input");
  const infer::Extent extent = shape ? shape->back() : infer::Extent{};
  const auto inputs = static_cast<uint32_t>(node.node().inputs().size());
  for (uint32_t i = 2; i < inputs; ++i) {
    if (node.has_input(i))
      infer::check_vector(infer::shape_of(node, i), extent, "gamma, beta or bias");
  }
  infer::Shape statistics = shape;
  if (statistics) statistics->back() = infer::known(1);
  infer::set(node, 0, type, shape);
  infer::set_optional(node, 1, EPH_ELEMENT_FLOAT, statistics);
  infer::set_optional(node, 2, EPH_ELEMENT_FLOAT, statistics);
  infer::set_optional(node, 3, type, shape);
}

void infer_embed(eph::Inference& node) {
  const infer::Shape ids = infer::shape_of(node, 0);
  const infer::Shape words = infer::shape_of(node, 2);
  infer::check_rank(ids, {2}, "input_ids");
  infer::check_rank(words, {2}, "word_embedding");
  infer::Shape shape;
  if (ids) shape = {(*ids)[0], (*ids)[1], words ? (*words)[1] : infer::Extent{}};
  infer::Shape counts;
  if (ids) counts = {(*ids)[0]};
  const int32_t type = infer::type_of(node, 2);
  infer::set(node, 0, type, shape);
  infer::set_optional(node, 1, infer::type_of(node, 0), counts);
  infer::set_optional(node, 2, type, shape);
}

constexpr uint64_t kEmbedFloats = kTypeSet<EPH_ELEMENT_FLOAT, EPH_ELEMENT_FLOAT16>;

eph::Operator with_outputs(eph::Operator made) {
  return made.output("output", "T", kUpToFloat)
      .output("mean", "U", kOnlyFloat, eph::kOptional)
      .output("inv_std_var", "U", kOnlyFloat, eph::kOptional)
      .output("input_skip_bias_sum", "T", kUpToFloat, eph::kOptional)
      .attribute("epsilon", kEpsilon)
      .infer(&infer_skip);
}

}  // namespace

Table skip_normalization_kernels() { return kSkipNormalizationKernels; }

Definitions define_skip_normalizations() {
  return {
      with_outputs(eph::Operator(kMicrosoft, "SkipLayerNormalization", 1)
                       .description("LayerNormalization of input + skip + bias.")
                       .input("input", "T", kUpToFloat)
                       .input("skip", "T", kUpToFloat)
                       .input("gamma", "T", kUpToFloat)
                       .input("beta", "T", kUpToFloat, eph::kOptional)
                       .input("bias", "T", kUpToFloat, eph::kOptional)),
      with_outputs(eph::Operator(kMicrosoft, "SkipSimplifiedLayerNormalization", 1)
                       .description("RMSNormalization of input + skip + bias.")
                       .input("input", "T", kUpToFloat)
                       .input("skip", "T", kUpToFloat)
                       .input("gamma", "T", kUpToFloat)
                       .input("bias", "T", kUpToFloat, eph::kOptional)),
      eph::Operator(kMicrosoft, "EmbedLayerNormalization", 1)
          .description("LayerNormalization of the sum of the embeddings of words, positions and "
                       "segments.")
          .input("input_ids", "T1", kInt32)
          .input("segment_ids", "T1", kInt32, eph::kOptional)
          .input("word_embedding", "T", kEmbedFloats)
          .input("position_embedding", "T", kEmbedFloats)
          .input("segment_embedding", "T", kEmbedFloats, eph::kOptional)
          .input("gamma", "T", kEmbedFloats)
          .input("beta", "T", kEmbedFloats)
          .input("mask", "T1", kInt32, eph::kOptional)
          .input("position_ids", "T1", kInt32, eph::kOptional)
          .output("output", "T", kEmbedFloats)
          .output("mask_index", "T1", kInt32, eph::kOptional)
          .output("embedding_sum", "T", kEmbedFloats, eph::kOptional)
          .attribute("epsilon", kEpsilon)
          .attribute("mask_index_type", 0, "how a tool named mask_index; no effect")
          .infer(&infer_embed),
  };
}

}  // namespace ephost_cpu
