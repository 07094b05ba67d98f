// Operators of neural networks on random shapes, valid or not: they succeed, or they fail with a
// message that names the node. Meant for the sanitizers.
#include <algorithm>
#include <functional>

#include "host/conformance/random/numbers/dice.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::random_shapes_test {

using conformance::Dice;

namespace {

// Dice with the shapes and numbers that operators of neural networks read.
class ShapeDice : public Dice {
 public:
  using Dice::Dice;

  Shape shape(int64_t low_rank, int64_t high_rank, int64_t high_extent = 5) {
    return numbers(roll(low_rank, high_rank), 0, high_extent);
  }
  std::vector<int64_t> numbers(int64_t count, int64_t low, int64_t high) {
    std::vector<int64_t> made;
    for (int64_t i = 0; i < count; ++i) made.push_back(roll(low, high));
    return made;
  }
  Tensor tensor_of(const Shape& shape) {
    return random_floats(shape, static_cast<uint32_t>(roll(0, 1000)), -4, 4);
  }
  // Mostly `likely`, sometimes anything.
  Shape maybe(const Shape& likely) { return roll(0, 5) == 0 ? shape(0, 5) : likely; }
};

struct Trial {
  std::vector<Tensor> inputs;
  Attributes attributes;
  std::size_t outputs = 1;
};

struct RandomCase {
  std::string op_type;
  int32_t version;
  std::function<Trial(ShapeDice&)> make;
};

void PrintTo(const RandomCase& test, std::ostream* out) { *out << test.op_type; }

Attributes window(ShapeDice& dice, int64_t spatial) {
  Attributes attributes;
  const auto add = [&](const char* name, int64_t count, int64_t low, int64_t high) {
    if (dice.roll(0, 1) == 0) return;
    attributes.emplace_back(name,
                            dice.numbers(dice.roll(0, 9) == 0 ? count + 1 : count, low, high));
  };
  add("strides", spatial, 1, 3);
  add("pads", 2 * spatial, 0, 3);
  if (dice.roll(0, 2) == 0) add("dilations", spatial, 1, 3);
  if (dice.roll(0, 3) == 0) {
    attributes.emplace_back("auto_pad",
                            dice.pick<std::string>({"VALID", "SAME_UPPER", "SAME_LOWER"}));
  }
  return attributes;
}

Trial pooling(ShapeDice& dice) {
  const Shape x = dice.shape(2, 5);
  const auto spatial = static_cast<int64_t>(x.size()) - 2;
  Trial trial = {{dice.tensor_of(x)}, window(dice, spatial), 1};
  trial.attributes.emplace_back("kernel_shape", dice.numbers(spatial, 1, 4));
  return trial;
}

Trial with_indices(ShapeDice& dice) {
  Trial trial = pooling(dice);
  trial.outputs = 2;
  trial.attributes.emplace_back("storage_order", dice.roll(0, 1));
  trial.attributes.emplace_back("ceil_mode", dice.roll(0, 1));
  return trial;
}

Trial convolution(ShapeDice& dice, bool transposed) {
  const Shape x = dice.shape(2, 5, 6);
  const int64_t channels = x[1];
  Shape weights = {transposed ? channels : dice.roll(0, 4),
                   transposed ? dice.roll(0, 4) : channels};
  for (std::size_t d = 2; d < x.size(); ++d) weights.push_back(dice.roll(0, 3));
  Trial trial = {{dice.tensor_of(x), dice.tensor_of(dice.maybe(weights))},
                 window(dice, static_cast<int64_t>(x.size()) - 2),
                 1};
  if (dice.roll(0, 2) == 0) trial.attributes.emplace_back("group", dice.roll(1, 2));
  if (transposed && dice.roll(0, 3) == 0) {
    const auto spatial = static_cast<int64_t>(x.size()) - 2;
    trial.attributes.emplace_back("output_shape", dice.numbers(spatial, 0, 12));
  }
  return trial;
}

Trial recurrent(ShapeDice& dice, int64_t gates) {
  const Shape x = dice.maybe(dice.shape(3, 3, 3));
  const int64_t hidden = dice.roll(0, 3);
  const int64_t input = x.size() == 3 ? x[2] : 1;
  const int64_t batch = x.size() == 3 ? x[1] : 1;
  Trial trial;
  trial.inputs = {dice.tensor_of(x), dice.tensor_of(dice.maybe({1, gates * hidden, input})),
                  dice.tensor_of(dice.maybe({1, gates * hidden, hidden})),
                  dice.tensor_of(dice.maybe({1, 2 * gates * hidden}))};
  if (dice.roll(0, 1) == 0) {
    std::vector<int32_t> lengths;
    for (int64_t b = 0; b < batch; ++b) lengths.push_back(static_cast<int32_t>(dice.roll(0, 3)));
    trial.inputs.push_back(tensor<int32_t>({batch}, lengths));
  }
  trial.attributes = {{"direction", dice.pick<std::string>({"forward", "reverse"})}};
  trial.outputs = 2;
  return trial;
}

Trial resizing(ShapeDice& dice) {
  const Shape x = dice.shape(0, 4);
  const auto rank = static_cast<int64_t>(x.size());
  return {{dice.tensor_of(x), dice.tensor_of({2 * rank}), floats({0}, {}),
           ints(dice.numbers(dice.roll(0, 9) == 0 ? rank + 1 : rank, -1, 6))},
          {{"mode", dice.pick<std::string>({"nearest", "linear", "cubic"})},
           {"antialias", dice.roll(0, 1)},
           {"exclude_outside", dice.roll(0, 1)},
           {"coordinate_transformation_mode",
            dice.pick<std::string>(
                {"half_pixel", "align_corners", "tf_crop_and_resize", "asymmetric"})}},
          1};
}

Trial grid_sample(ShapeDice& dice) {
  const Shape x = dice.shape(2, 6, 4);
  Shape grid = {x[0]};
  for (std::size_t d = 2; d < x.size(); ++d) grid.push_back(dice.roll(0, 4));
  grid.push_back(static_cast<int64_t>(x.size()) - 2);
  return {{dice.tensor_of(x), dice.tensor_of(dice.maybe(grid))},
          {{"mode", dice.pick<std::string>({"nearest", "linear", "cubic"})},
           {"padding_mode", dice.pick<std::string>({"zeros", "border", "reflection"})},
           {"align_corners", dice.roll(0, 1)}},
          1};
}

Trial roi_align(ShapeDice& dice) {
  const int64_t rois = dice.roll(0, 3);
  return {{dice.tensor_of(dice.maybe(dice.shape(4, 4))), dice.tensor_of(dice.maybe({rois, 4})),
           ints(dice.numbers(rois, -1, 2))},
          {{"output_height", dice.roll(1, 3)},
           {"output_width", dice.roll(1, 3)},
           {"sampling_ratio", dice.roll(0, 2)}},
          1};
}

Trial unpool(ShapeDice& dice) {
  const Shape x = dice.shape(2, 5, 3);
  const auto spatial = static_cast<int64_t>(x.size()) - 2;
  return {{dice.tensor_of(x), tensor<int64_t>(x, dice.numbers(count_of(x), -1, 20)),
           ints(dice.numbers(spatial + 2, 0, 8))},
          {{"kernel_shape", dice.numbers(spatial, 1, 3)}, {"strides", dice.numbers(spatial, 1, 3)}},
          1};
}

Trial col2im(ShapeDice& dice) {
  const int64_t spatial = dice.roll(0, 3);
  const Shape image = dice.numbers(spatial, dice.roll(-1, 2), 4);
  const Shape block = dice.numbers(spatial, dice.roll(0, 1), 2);
  // Valid for a window without attributes.
  Shape columns = {dice.roll(0, 2), dice.roll(0, 2), 1};
  for (std::size_t d = 0; d < image.size(); ++d) {
    columns[1] *= block[d];
    columns[2] *= std::max<int64_t>(0, image[d] - block[d] + 1);
  }
  return {{dice.tensor_of(dice.maybe(columns)), ints(image), ints(block)},
          dice.roll(0, 1) == 0 ? Attributes() : window(dice, spatial),
          1};
}

Trial deform_conv(ShapeDice& dice) {
  const Shape x = dice.shape(3, 5, 4);
  Shape weights = {dice.roll(0, 3), x[1]};
  Shape offsets = {x[0], static_cast<int64_t>(x.size()) - 2};
  for (std::size_t d = 2; d < x.size(); ++d) {
    weights.push_back(dice.roll(0, 2));
    offsets[1] *= weights.back();
    offsets.push_back(std::max<int64_t>(0, x[d] - weights.back() + 1));
  }
  return {
      {dice.tensor_of(x), dice.tensor_of(dice.maybe(weights)), dice.tensor_of(dice.maybe(offsets))},
      {},
      1};
}

Trial attention(ShapeDice& dice) {
  const int64_t heads = dice.roll(0, 2);
  const int64_t keys = dice.roll(0, 3);
  const Shape q = {dice.roll(0, 2), heads * dice.roll(1, 2), dice.roll(0, 3), dice.roll(0, 3)};
  return {{dice.tensor_of(dice.maybe(q)), dice.tensor_of(dice.maybe({q[0], heads, keys, q[3]})),
           dice.tensor_of(dice.maybe({q[0], heads, keys, 2})),
           dice.tensor_of(dice.maybe({q[2], keys}))},
          {{"is_causal", dice.roll(0, 1)}},
          4};
}

Trial normalization(ShapeDice& dice) {
  const Shape x = dice.shape(0, 5);
  const int64_t channels = x.size() < 2 ? 1 : x[1];
  const Tensor weights = dice.tensor_of(dice.maybe({channels}));
  return {{dice.tensor_of(x), weights, weights, weights, weights},
          {{"training_mode", dice.roll(0, 1)}},
          3};
}

Trial channels(ShapeDice& dice) {
  Trial trial = normalization(dice);
  trial.inputs.resize(3);
  trial.attributes = {{"num_groups", dice.roll(1, 2)}, {"axis", dice.roll(-3, 3)}};
  trial.outputs = 1;
  return trial;
}

Trial rotary(ShapeDice& dice) {
  const Shape x = dice.shape(3, 4, 4);
  const int64_t pairs = x.back() / 2;
  return {{dice.tensor_of(x), dice.tensor_of(dice.maybe({5, pairs})), dice.tensor_of({5, pairs}),
           tensor<int64_t>({x[0], x[x.size() - 2]}, dice.numbers(x[0] * x[x.size() - 2], -1, 5))},
          {{"num_heads", dice.roll(0, 2)}, {"interleaved", dice.roll(0, 1)}},
          1};
}

Trial scatter(ShapeDice& dice) {
  const Shape past = dice.shape(1, 4, 3);
  return {
      {dice.tensor_of(past), dice.tensor_of(dice.maybe(past)), ints(dice.numbers(past[0], -1, 4))},
      {{"axis", dice.roll(-3, 3)}, {"mode", dice.pick<std::string>({"linear", "circular"})}},
      1};
}

class RandomShapes : public ::testing::TestWithParam<RandomCase> {};

TEST_P(RandomShapes, WorkOrAreRefused) {
  const RandomCase& test = GetParam();
  ShapeDice dice(test.op_type);
  int worked = 0;
  for (int i = 0; i < 300; ++i) {
    const Trial trial = test.make(dice);
    const auto node =
        make_node(test.op_type, test.version, trial.inputs, trial.attributes, trial.outputs);
    node->state(i % 2 == 0 ? Stated::kNothing : Stated::kTypesAndShapes);
    const Outcome outcome = cpu_session().run(*node);
    if (outcome.ok()) {
      ++worked;
    } else {
      EXPECT_THAT(outcome.message, ::testing::HasSubstr(test.op_type + " node 'tested': "));
    }
  }
  EXPECT_GT(worked, 10);
  EXPECT_LT(worked, 300);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, RandomShapes,
    ::testing::Values(
        RandomCase{"MaxPool", 12, with_indices}, RandomCase{"AveragePool", 22, pooling},
        RandomCase{"LpPool", 18, pooling}, RandomCase{"MaxUnpool", 11, unpool},
        RandomCase{"Conv", 11, [](ShapeDice& dice) { return convolution(dice, false); }},
        RandomCase{"ConvTranspose", 11, [](ShapeDice& dice) { return convolution(dice, true); }},
        RandomCase{"DeformConv", 19, deform_conv}, RandomCase{"Col2Im", 18, col2im},
        RandomCase{"RNN", 14, [](ShapeDice& dice) { return recurrent(dice, 1); }},
        RandomCase{"GRU", 14, [](ShapeDice& dice) { return recurrent(dice, 3); }},
        RandomCase{"LSTM", 14, [](ShapeDice& dice) { return recurrent(dice, 4); }},
        RandomCase{"Resize", 18, resizing}, RandomCase{"GridSample", 20, grid_sample},
        RandomCase{"RoiAlign", 16, roi_align}, RandomCase{"BatchNormalization", 15, normalization},
        RandomCase{"InstanceNormalization", 6, channels},
        RandomCase{"GroupNormalization", 21, channels},
        RandomCase{"LayerNormalization", 17, channels}, RandomCase{"Attention", 23, attention},
        RandomCase{"RotaryEmbedding", 23, rotary}, RandomCase{"TensorScatter", 24, scatter}));

}  // namespace
}  // namespace ephost::test::random_shapes_test
