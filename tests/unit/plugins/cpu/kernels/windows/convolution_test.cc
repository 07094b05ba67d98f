// Conv and pooling against straightforward references in double.
#include <cmath>
#include <limits>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::convolution_test {
namespace {

struct WindowCase {
  Shape x;  // N, C, spatial extents
  int64_t outputs = 1;
  int64_t groups = 1;
  Shape kernel, strides, dilations, pads;
  bool bias = true;
  bool ceil = false;

  [[nodiscard]] std::size_t rank() const { return kernel.size(); }
  [[nodiscard]] int64_t extent(std::size_t d) const { return x[d + 2]; }
  [[nodiscard]] int64_t output_extent(std::size_t d) const {
    const int64_t room =
        extent(d) + pads[d] + pads[d + rank()] - (kernel[d] - 1) * dilations[d] - 1;
    int64_t positions = room / strides[d] + 1;
    // One more, partly filled, unless it would begin behind the input.
    if (ceil && room % strides[d] != 0) ++positions;
    while (ceil && (positions - 1) * strides[d] >= extent(d) + pads[d]) --positions;
    return positions;
  }
  [[nodiscard]] Attributes attributes() const {
    Attributes list = {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}};
    if (dilations != Shape(rank(), 1)) list.emplace_back("dilations", dilations);
    return list;
  }
  [[nodiscard]] Shape output_shape(int64_t channels) const {
    Shape shape = {x[0], channels};
    for (std::size_t d = 0; d < rank(); ++d) shape.push_back(output_extent(d));
    return shape;
  }
};

void PrintTo(const WindowCase& test, std::ostream* out) {
  *out << "x " << ::testing::PrintToString(test.x) << " kernel "
       << ::testing::PrintToString(test.kernel);
}

// The indices of position `i` in row-major order.
Shape unravel(int64_t i, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = i % shape[d];
    i /= shape[d];
  }
  return index;
}

// Calls visit(offset in the plane, tap) for each tap of the window at output position `at` that
// lies inside the input.
template <class Visit>
void for_each_tap(const WindowCase& test, const Shape& at, const Visit& visit) {
  for (int64_t tap = 0; tap < count_of(test.kernel); ++tap) {
    const Shape k = unravel(tap, test.kernel);
    int64_t offset = 0;
    bool inside = true;
    for (std::size_t d = 0; d < test.rank(); ++d) {
      const int64_t index = at[d] * test.strides[d] - test.pads[d] + k[d] * test.dilations[d];
      inside = inside && index >= 0 && index < test.extent(d);
      offset = offset * test.extent(d) + index;
    }
    if (inside) visit(offset, tap);
  }
}

int64_t plane_of(const WindowCase& test) { return count_of(test.x) / test.x[0] / test.x[1]; }

Tensor convolve(const WindowCase& test, const Tensor& x, const Tensor& w, const Tensor& b) {
  const std::vector<double> input = as_doubles(x);
  const std::vector<double> weights = as_doubles(w);
  const std::vector<double> bias = as_doubles(b);
  const Shape shape = test.output_shape(test.outputs);
  const Shape spatial(shape.begin() + 2, shape.end());
  const int64_t channels = test.x[1] / test.groups;
  const int64_t taps = count_of(test.kernel);
  std::vector<double> result;
  for (int64_t n = 0; n < test.x[0]; ++n) {
    for (int64_t o = 0; o < test.outputs; ++o) {
      const int64_t first = o / (test.outputs / test.groups) * channels;
      for (int64_t i = 0; i < count_of(spatial); ++i) {
        double sum = test.bias ? bias[static_cast<std::size_t>(o)] : 0;
        for_each_tap(test, unravel(i, spatial), [&](int64_t offset, int64_t tap) {
          for (int64_t c = 0; c < channels; ++c) {
            const int64_t at = (n * test.x[1] + first + c) * plane_of(test) + offset;
            sum += input[static_cast<std::size_t>(at)] *
                   weights[static_cast<std::size_t>((o * channels + c) * taps + tap)];
          }
        });
        result.push_back(sum);
      }
    }
  }
  return from_doubles(shape, result);
}

class Conv : public ::testing::TestWithParam<WindowCase> {};

TEST_P(Conv, AgreesWithTheReference) {
  const WindowCase& test = GetParam();
  Shape w = {test.outputs, test.x[1] / test.groups};
  w.insert(w.end(), test.kernel.begin(), test.kernel.end());
  const Tensor x = random_floats(test.x, 1);
  const Tensor weights = random_floats(w, 2);
  const Tensor bias = random_floats({test.outputs}, 3);
  const Tensor expected = convolve(test, x, weights, bias);

  for (const bool constant : {true, false}) {
    for (const Stated stated : {Stated::kTypesAndShapes, Stated::kNothing}) {
      SingleNodeGraph node("Conv", 11);
      node.state(stated).input(x).output(expected).attribute("group", test.groups);
      constant ? node.constant(weights) : node.input(weights);
      if (test.bias) constant ? node.constant(bias) : node.input(bias);
      for (const auto& [name, value] : test.attributes()) node.attribute(name, value);
      Outcome outcome;
      const auto kernel = cpu_session().create(node, &outcome);
      ASSERT_NE(kernel, nullptr) << outcome.message;
      for (int repeat = 0; repeat < 2; ++repeat) {
        const Outcome run = kernel->run();
        ASSERT_THAT(run, IsOk());
        EXPECT_EQ(difference(run.outputs[0], expected, 1e-4, 1e-4), "") << constant;
      }
      // Kernels with static shapes need no scratch memory: they use the planned workspace.
      if (stated == Stated::kTypesAndShapes) {
        EXPECT_EQ(kernel->scratch_bytes(), 0U);
      }
    }
  }
  // Double uses the simple loops.
  std::vector<Tensor> inputs = {to_double_tensor(x), to_double_tensor(weights)};
  if (test.bias) inputs.push_back(to_double_tensor(bias));
  Attributes attributes = test.attributes();
  attributes.emplace_back("group", test.groups);
  const Tensor wide = run_one("Conv", 11, inputs, attributes);
  EXPECT_EQ(difference(wide, to_double_tensor(expected), 1e-4, 1e-4), "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Conv,
    ::testing::Values(
        WindowCase{{2, 3, 20, 21}, 8, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        WindowCase{{1, 3, 33, 33}, 16, 1, {7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}, false},
        WindowCase{{2, 40, 14, 14}, 24, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        WindowCase{{1, 40, 7, 7}, 24, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        WindowCase{{1, 24, 14, 14}, 40, 1, {1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
        WindowCase{{2, 24, 13, 15}, 24, 24, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
        WindowCase{{1, 12, 9, 9}, 18, 3, {3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        WindowCase{{1, 8, 12, 12}, 8, 2, {3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}},
        WindowCase{{1, 5, 11, 10}, 7, 1, {3, 2}, {2, 1}, {1, 1}, {0, 2, 1, 0}},
        WindowCase{{2, 4, 50}, 6, 1, {5}, {2}, {1}, {2, 2}},
        // One column of one channel, which oneDNN 3.7 computes wrongly.
        WindowCase{{2, 1, 8, 5}, 5, 1, {3, 3}, {1, 3}, {1, 1}, {0, 0, 2, 0}},
        WindowCase{{1, 1, 4, 8, 2}, 21, 1, {4, 2, 4}, {1, 1, 2}, {1, 1, 1}, {1, 0, 1, 1, 1, 1}},
        WindowCase{{1, 3, 6, 7, 8}, 4, 1, {3, 2, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1, 1, 1, 1}},
        WindowCase{
            {1, 2, 3, 4, 3, 4}, 2, 1, {2, 2, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}, Shape(8, 0)}));

TEST(ConvKernel, FollowsShapesThatChangeFromRunToRun) {
  const Tensor weights = random_floats({4, 3, 3, 3}, 2);
  for (const int64_t extent : {8, 31, 8, 5, 31}) {
    const WindowCase test = {{1, 3, extent, extent}, 4,    1, {3, 3}, {1, 1}, {1, 1},
                             {1, 1, 1, 1},           false};
    const Tensor x = random_floats(test.x, 5);
    EXPECT_EQ(difference(run_one("Conv", 11, {x, weights}, test.attributes()),
                         convolve(test, x, weights, floats({0}, {})), 1e-4, 1e-4),
              "");
  }
}

TEST(ConvKernel, GivesTheBiasWhereThereAreNoChannels) {
  EXPECT_THAT(
      run_node("Conv", 11, {floats({1, 0, 2, 2}, {}), floats({1, 0, 1, 1}, {}), floats({1}, {3})}),
      Gives(std::vector<Tensor>{floats({1, 1, 2, 2}, {3, 3, 3, 3})}));
  EXPECT_THAT(run_node("Conv", 11, {floats({0, 1, 2, 2}, {}), floats({1, 1, 1, 1}, {2})}),
              Gives(std::vector<Tensor>{floats({0, 1, 2, 2}, {})}));
}

// ---- Pooling -----------------------------------------------------------------------------------

// Maximum, or average over the counted elements; pads count up to the padded end on request.
Tensor pool(const WindowCase& test, const Tensor& x, bool maximum, bool counts_pads) {
  const std::vector<double> input = as_doubles(x);
  const Shape shape = test.output_shape(test.x[1]);
  const Shape spatial(shape.begin() + 2, shape.end());
  std::vector<double> result;
  for (int64_t p = 0; p < test.x[0] * test.x[1]; ++p) {
    for (int64_t i = 0; i < count_of(spatial); ++i) {
      const Shape at = unravel(i, spatial);
      double best = -std::numeric_limits<double>::infinity();
      double sum = 0;
      int64_t count = 0;
      for_each_tap(test, at, [&](int64_t offset, int64_t) {
        const double value = input[static_cast<std::size_t>(p * plane_of(test) + offset)];
        best = std::max(best, value);
        sum += value;
        ++count;
      });
      if (counts_pads) {
        count = 1;
        for (std::size_t d = 0; d < test.rank(); ++d) {
          const int64_t start = at[d] * test.strides[d] - test.pads[d];
          count *= std::min(test.kernel[d], test.extent(d) + test.pads[d + test.rank()] - start);
        }
      }
      // The mean of no elements is taken as 0.
      result.push_back(maximum ? best : sum / static_cast<double>(std::max<int64_t>(count, 1)));
    }
  }
  return from_doubles(shape, result);
}

class Pooling : public ::testing::TestWithParam<WindowCase> {};

TEST_P(Pooling, AgreesWithTheReference) {
  const WindowCase& test = GetParam();
  const Tensor x = random_floats(test.x, 9);
  Attributes attributes = test.attributes();
  attributes.emplace_back("ceil_mode", int64_t{test.ceil});
  EXPECT_EQ(difference(run_one("MaxPool", 12, {x}, attributes), pool(test, x, true, false)), "");
  const Outcome indexed = run_node("MaxPool", 12, {x}, attributes, 2);
  ASSERT_THAT(indexed, IsOk());
  EXPECT_EQ(difference(indexed.outputs[0], pool(test, x, true, false)), "");
  const std::vector<float> from = values_of<float>(x);
  const std::vector<float> found = values_of<float>(indexed.outputs[0]);
  const std::vector<int64_t> indices = values_of<int64_t>(indexed.outputs[1]);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (indices[i] == -1) {  // a window of padding only
      EXPECT_LE(found[i], std::numeric_limits<float>::lowest());
    } else {
      EXPECT_EQ(from.at(static_cast<std::size_t>(indices[i])), found[i]);
    }
  }
  if (test.dilations != Shape(test.rank(), 1)) return;
  EXPECT_EQ(difference(run_one("AveragePool", 11, {x}, attributes), pool(test, x, false, false)),
            "");
  attributes.emplace_back("count_include_pad", int64_t{1});
  EXPECT_EQ(difference(run_one("AveragePool", 11, {x}, attributes), pool(test, x, false, true)),
            "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Pooling,
    ::testing::Values(
        WindowCase{{2, 5, 23, 23}, 1, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
        WindowCase{{2, 5, 23, 24}, 1, 1, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, true, true},
        WindowCase{{1, 70, 28, 28}, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        WindowCase{{1, 3, 17, 19}, 1, 1, {2, 5}, {3, 4}, {1, 1}, {0, 2, 1, 1}, true, true},
        WindowCase{{1, 3, 6, 7}, 1, 1, {3, 2}, {4, 4}, {1, 1}, {1, 1, 2, 1}, true, true},
        WindowCase{{2, 2, 8}, 1, 1, {2}, {4}, {1}, {0, 1}, true, true},
        WindowCase{{1, 2, 20, 20}, 1, 1, {3, 3}, {1, 1}, {2, 3}, {2, 2, 2, 2}},
        WindowCase{{3, 2, 40}, 1, 1, {4}, {3}, {1}, {1, 2}},
        WindowCase{{1, 2, 3, 2500}, 1, 1, {2, 3}, {1, 1}, {1, 1}, {0, 1, 1, 1}},
        WindowCase{{1, 2, 40}, 1, 1, {3}, {3000}, {1}, {2, 2}},
        WindowCase{{1, 2, 9}, 1, 1, {2}, {1}, {2050}, {1, 2050}},
        WindowCase{{1, 2, 7, 8, 9}, 1, 1, {2, 3, 2}, {2, 2, 1}, {1, 1, 1}, {0, 1, 1, 1, 0, 0}}));

TEST(PoolingKernels, NumberTheMaximaColumnByColumnOnRequest) {
  const Tensor x = floats({1, 1, 2, 3}, {1, 5, 2, 3, 4, 6});
  const Attributes attributes = {{"kernel_shape", Shape{2, 2}}, {"storage_order", int64_t{1}}};
  EXPECT_THAT(run_node("MaxPool", 12, {x}, attributes, 2),
              Gives(std::vector<Tensor>{floats({1, 1, 1, 2}, {5, 6}),
                                        tensor<int64_t>({1, 1, 1, 2}, {2, 5})}));
}

TEST(PoolingKernels, PropagateNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = floats({1, 1, 4}, {1, nan, 2, 3});
  EXPECT_THAT(run_node("MaxPool", 12, {x}, {{"kernel_shape", Shape{2}}}),
              Gives(std::vector<Tensor>{floats({1, 1, 3}, {nan, nan, 3})}));
}

TEST(PoolingKernels, PoolWholePlanes) {
  const Tensor x = random_floats({2, 33, 15, 15}, 4);
  const WindowCase whole = {x.shape, 1, 1, {15, 15}, {1, 1}, {1, 1}, {0, 0, 0, 0}};
  EXPECT_EQ(difference(run_one("GlobalAveragePool", 1, {x}), pool(whole, x, false, false)), "");
  EXPECT_EQ(difference(run_one("GlobalMaxPool", 1, {x}), pool(whole, x, true, false)), "");
}

}  // namespace
}  // namespace ephost::test::convolution_test
