#include "tests/primitives/random_recipe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <random>
#include <utility>

#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl::test {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  RandomRecipe make() {
    using Make = void (Maker::*)();
    constexpr std::array<Make, 14> kMakes = {
        &Maker::convolution, &Maker::convolution,   &Maker::quantised_convolution,
        &Maker::product,     &Maker::product,       &Maker::quantised_product,
        &Maker::pooling,     &Maker::normalisation, &Maker::softmax_or_lrn,
        &Maker::arithmetic,  &Maker::arithmetic,    &Maker::quantised_arithmetic,
        &Maker::elementwise, &Maker::movement};
    (this->*kMakes[below(kMakes.size())])();
    made_.partition.recipe.outputs.push_back({tested().output, dims(tested().output)});
    name_kind();
    return std::move(made_);
  }

 private:
  // Numbers.
  std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  int64_t channels() {
    return chance(70) ? between(1, 20)
                      : one_of<int64_t>({24, 31, 32, 33, 40, 47, 48, 63, 64, 65, 100});
  }
  ElementType byte_type() { return chance(50) ? ElementType::kU8 : ElementType::kS8; }

  // Tensors.
  [[nodiscard]] Recipe& recipe() { return made_.partition.recipe; }
  [[nodiscard]] const Dims& dims(TensorId tensor) { return recipe().dims(tensor); }
  [[nodiscard]] Op& tested() { return recipe().ops[made_.tested]; }

  TensorId tensor(Dims extents, ElementType type = ElementType::kF32) {
    recipe().tensors.push_back({extents, type});
    return static_cast<TensorId>(recipe().tensors.size() - 1);
  }
  TensorId input(Dims extents, ElementType type = ElementType::kF32) {
    const TensorId added = tensor(extents, type);
    recipe().inputs.push_back({added, extents});
    return added;
  }
  TensorId constant(Dims extents, ElementType type = ElementType::kF32) {
    const TensorId added = tensor(extents, type);
    const auto count = static_cast<std::size_t>(element_count(extents));
    auto& bytes =
        *made_.data.emplace_back(std::make_unique<std::vector<std::byte>>(count * size_of(type)));
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<int8_t>(between(1, 7));
      const float fraction = static_cast<float>(number) / 8;
      if (is_integer(type)) std::memcpy(&bytes[i], &number, 1);
      if (!is_integer(type)) std::memcpy(&bytes[i * sizeof(float)], &fraction, sizeof(float));
    }
    recipe().constants.push_back(added);
    made_.partition.constants.borrow(added, bytes.data());
    return added;
  }
  TensorId any(Dims extents, ElementType type = ElementType::kF32) {
    return chance(60) ? constant(extents, type) : input(extents, type);
  }
  TensorId operation(Parameters parameters, std::vector<TensorId> inputs, ElementType type) {
    std::vector<Dims> extents;
    for (const TensorId one : inputs) extents.push_back(dims(one));
    Op op;
    op.inputs = std::move(inputs);
    op.output = tensor(infer_output_dims(parameters, extents), type);
    op.parameters = std::move(parameters);
    op.name = "op" + std::to_string(recipe().ops.size());
    recipe().ops.push_back(op);
    made_.tested = static_cast<uint32_t>(recipe().ops.size() - 1);
    return op.output;
  }

  // An image, or a signal or volume: as an input, or as the output of a convolution, whose layout
  // the library chooses.
  TensorId image() {
    Dims extents = {between(1, 3), channels()};
    const int64_t rank = chance(80) ? 2 : between(1, 3);
    for (int64_t i = 0; i < rank; ++i) extents.push_back(between(1, 9));
    if (rank != 2 || chance(40)) return input(extents);
    const int64_t depth = between(1, 4);
    const TensorId x = input({extents[0], depth, extents[2] + 1, extents[3] + 1});
    const TensorId w = constant({extents[1], depth, 2, 2});
    const TensorId y =
        operation(Convolution{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1}, {x, w}, ElementType::kF32);
    recipe().outputs.push_back({y, dims(y)});
    return y;
  }

  // Post-ops.
  Eltwise function() {
    const auto kind = static_cast<EltwiseFunction>(
        below(static_cast<std::size_t>(last_of(EltwiseFunction{})) + 1));
    return {kind, chance(50) ? 0 : 0.5F, 1.5F};
  }
  Dims broadcast(Dims full) {
    Dims extents(full.size(), 1);
    switch (below(4)) {
      case 0:
        extents[1 % extents.size()] = full[1 % full.size()];
        break;
      case 1:
        extents.back() = full.back();
        break;
      case 2:
        return full;
      default:
        break;
    }
    return extents;
  }
  PostOp post_op(Dims output) {
    PostOp made;
    for (const PostOpKind kind : {PostOpKind::kSum, PostOpKind::kBinary, PostOpKind::kEltwise}) {
      made.kind = kind;
      if (takes_post_op(tested(), kind) && chance(kind == PostOpKind::kSum ? 20 : 45)) break;
    }
    made.eltwise = function();
    made.binary.function =
        static_cast<BinaryFunction>(below(static_cast<std::size_t>(last_of(BinaryFunction{})) + 1));
    if (made.kind == PostOpKind::kSum) made.operand = input(output);
    if (made.kind == PostOpKind::kBinary) made.operand = any(broadcast(output));
    return made;
  }
  void add_post_ops() {
    const TensorId output = tested().output;
    bool has_sum = false;
    for (std::size_t left = below(4); left > 0; --left) {
      const PostOp added = post_op(Dims(dims(output)));
      if (!takes_post_op(tested(), added.kind)) return;
      if (added.kind == PostOpKind::kSum && (has_sum || is_integer(recipe().type(output))))
        continue;
      has_sum = has_sum || added.kind == PostOpKind::kSum;
      tested().post_ops.push_back(added);
    }
  }
  void write_bytes() {
    PostOp last;
    last.eltwise = {EltwiseFunction::kLinear, 50, 3};
    tested().post_ops.push_back(last);
    recipe().tensors[tested().output].type = byte_type();
  }
  std::vector<float> scales(int64_t count) {
    return std::vector<float>(chance(50) ? 1 : static_cast<std::size_t>(count), 0.02F);
  }

  // Operations.
  void add_convolution(ElementType data, ElementType weights) {
    const std::size_t rank = chance(80) ? 2 : static_cast<std::size_t>(between(1, 3));
    const int64_t groups = chance(70) ? 1 : between(2, 9);
    const int64_t depth = groups == 1 ? channels() : one_of<int64_t>({1, 1, 2, 3, 8});
    const int64_t outputs = groups == 1 ? channels() : groups * one_of<int64_t>({1, 1, 2, 3, 8});
    Convolution op;
    op.groups = groups;
    Dims x = {between(1, 2), depth * groups}, w = {outputs, depth};
    for (std::size_t i = 0; i < rank; ++i) {
      const int64_t kernel = one_of<int64_t>({1, 1, 2, 3, 3, 5});
      op.strides.push_back(chance(70) ? 1 : 2);
      op.dilations.push_back(chance(85) ? 1 : 2);
      op.pads_begin.push_back(between(0, kernel / 2));
      op.pads_end.push_back(between(0, kernel / 2));
      x.push_back((kernel - 1) * op.dilations.back() + 1 + between(0, 12));
      w.push_back(kernel);
    }
    std::vector<TensorId> inputs = {input(x, data), constant(w, weights)};
    if (chance(50)) inputs.push_back(constant({outputs}));
    operation(op, inputs, ElementType::kF32);
  }
  void convolution() {
    add_convolution(ElementType::kF32, ElementType::kF32);
    add_post_ops();
  }
  void quantise(bool has_weights_zero_point) {
    const TensorId output = tested().output;
    const Dims extents = dims(output);
    const int64_t count = get_if<Convolution>(tested()) != nullptr ? extents[1] : extents.back();
    Quantization& made = tested().quantization.emplace();
    made.scales = scales(count);
    made.data_zero_point = chance(50) ? 0 : 3;
    if (has_weights_zero_point) made.weights_zero_point = 2;
    if (chance(70)) {
      recipe().tensors[output].type = byte_type();
      made.output_zero_point = chance(50) ? 0 : 5;
    }
    add_post_ops();
  }
  void quantised_convolution() {
    add_convolution(byte_type(), ElementType::kS8);
    quantise(false);
  }
  void add_product(ElementType a, ElementType b) {
    const int64_t depth = channels(), columns = channels();
    Dims rows = {between(1, 9)}, factor = {depth, columns};
    for (int64_t i = between(0, 2); i > 0; --i) rows.insert(rows.begin(), between(1, 3));
    if (rows.size() > 1 && chance(50)) {
      for (std::size_t i = rows.size() - 1; i-- > 0;) {
        factor.insert(factor.begin(), chance(70) ? rows[i] : 1);
      }
    }
    rows.push_back(depth);
    std::vector<TensorId> inputs = {input(rows, a), any(factor, b)};
    if (chance(40)) inputs.push_back(constant({columns}));
    operation(MatMul{}, inputs, ElementType::kF32);
  }
  void product() {
    add_product(ElementType::kF32, ElementType::kF32);
    add_post_ops();
  }
  void quantised_product() {
    add_product(byte_type(), ElementType::kS8);
    quantise(chance(50));
  }
  void pooling() {
    TensorId x = image();
    ElementType type = ElementType::kF32;
    if (chance(40)) {
      type = byte_type();
      x = input(dims(x), type);
    }
    Pooling op;
    op.kind = static_cast<PoolingKind>(below(3));
    for (std::size_t i = 2; i < dims(x).size(); ++i) {
      const int64_t kernel = between(1, std::min<int64_t>(dims(x)[i], 4));
      op.kernel.push_back(kernel);
      op.strides.push_back(between(1, 2));
      op.dilations.push_back(1);
      op.pads_begin.push_back(between(0, kernel / 2));
      op.pads_end.push_back(between(0, kernel / 2));
    }
    operation(op, {x}, type);
    add_post_ops();
  }
  void normalisation() {
    const TensorId x = image();
    if (chance(50)) {
      const Dims one = {dims(x)[1]};
      operation(BatchNormalization{},
                {x, constant(one), constant(one), constant(one), constant(one)}, ElementType::kF32);
      add_post_ops();
      return;
    }
    const Dims one = {dims(x).back()};
    std::vector<TensorId> inputs = {x, constant(one)};
    if (chance(50)) inputs.push_back(constant(one));
    operation(LayerNormalization{}, inputs, ElementType::kF32);
  }
  void softmax_or_lrn() {
    const TensorId x = image();
    if (chance(30)) {
      operation(Lrn{one_of<int64_t>({3, 5}), 1e-4F, 0.75F, 1}, {x}, ElementType::kF32);
      return;
    }
    const auto rank = static_cast<int64_t>(dims(x).size());
    operation(Softmax{between(0, rank - 1), static_cast<uint8_t>(below(2))}, {x},
              ElementType::kF32);
  }
  void arithmetic() {
    const TensorId a = image();
    const TensorId b = any(broadcast(Dims(dims(a))));
    operation(Binary{static_cast<BinaryFunction>(below(6))}, {a, b}, ElementType::kF32);
    add_post_ops();
  }
  void quantised_arithmetic() {
    TensorId a = image();
    if (chance(50)) a = input(Dims(dims(a)), byte_type());
    const TensorId b = any(broadcast(Dims(dims(a))), chance(50) ? byte_type() : ElementType::kF32);
    operation(Binary{static_cast<BinaryFunction>(below(3))}, {a, b}, byte_type());
    tested().quantization.emplace().scales = {one_of<float>({1, 0.5F}), one_of<float>({1, 0.25F})};
    add_post_ops();
    if (chance(50)) {
      PostOp last;
      last.eltwise = {EltwiseFunction::kLinear, 50, 3};
      tested().post_ops.push_back(last);
    }
  }
  void elementwise() {
    const TensorId x = image();
    if (chance(50)) {
      operation(function(), {x}, ElementType::kF32);
      return;
    }
    const ElementType from = chance(50) ? ElementType::kF32 : byte_type();
    const ElementType to = is_integer(from) && chance(50) ? ElementType::kF32 : byte_type();
    const TensorId source = is_integer(from) ? input(Dims(dims(x)), from) : x;
    Conversion op = {to, 1, 1, 0, 0};
    if (is_integer(from)) op.input_scale = 0.5F;
    if (is_integer(to)) op.output_scale = 0.02F;
    if (is_integer(from) && chance(50)) op.input_zero_point = 4;
    if (is_integer(to) && chance(50)) op.output_zero_point = 7;
    operation(op, {source}, to);
  }
  void movement() {
    const TensorId x = image();
    if (chance(50)) {
      Reduction op;
      op.kind = static_cast<ReductionKind>(below(5));
      for (std::size_t i = 0; i < dims(x).size(); ++i) {
        if (chance(50)) op.axes.push_back(static_cast<int64_t>(i));
      }
      if (op.axes.empty()) op.axes.push_back(1);
      operation(op, {x}, ElementType::kF32);
      return;
    }
    const ElementType type = chance(50) ? ElementType::kF32 : byte_type();
    std::vector<TensorId> parts = {type == ElementType::kF32 ? x : input(Dims(dims(x)), type)};
    const auto axis = static_cast<int64_t>(below(dims(x).size()));
    for (int64_t i = between(1, 3); i > 0; --i) {
      Dims extents = dims(x);
      extents[static_cast<std::size_t>(axis)] = between(1, 19);
      parts.push_back(any(extents, type));
    }
    operation(Concat{axis}, parts, type);
  }

  void name_kind() {
    made_.kind = std::string(op_type(tested()));
    for (std::size_t i = 0; i < std::min<std::size_t>(tested().inputs.size(), 2); ++i) {
      made_.kind += " " + std::string(to_text(recipe().type(tested().inputs[i])));
    }
    made_.kind += " -> " + std::string(to_text(recipe().type(tested().output)));
  }

  std::mt19937_64 random_;
  RandomRecipe made_;
};

}  // namespace

RandomRecipe make_random_recipe(uint64_t seed) {
  // Some drafts break a rule, such as a window wider than what it moves over.
  for (uint64_t attempt = 0;; ++attempt) {
    try {
      RandomRecipe made = Maker(seed + (attempt << 40)).make();
      check_recipe(made.partition.recipe);
      return made;
    } catch (const InvalidRecipe&) {
      continue;
    }
  }
}

}  // namespace ephost_dnnl::test
