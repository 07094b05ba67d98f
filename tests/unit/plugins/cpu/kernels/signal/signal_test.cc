// Fourier transforms against their defining sums, windows at their edges, and refusals.
#include <cmath>
#include <complex>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::signal_test {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> transformed(const std::vector<Complex>& x, bool inverse) {
  const auto n = static_cast<double>(x.size());
  std::vector<Complex> y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double angle = 2 * M_PI * static_cast<double>(k * i % x.size()) / n;
      y[k] += x[i] * std::polar(1.0, inverse ? angle : -angle);
    }
    if (inverse) y[k] /= n;
  }
  return y;
}

Tensor complex_tensor(Shape shape, const std::vector<Complex>& values) {
  std::vector<float> parts;
  for (const Complex& value : values) {
    parts.push_back(static_cast<float>(value.real()));
    parts.push_back(static_cast<float>(value.imag()));
  }
  shape.push_back(2);
  return floats(std::move(shape), parts);
}

class TransformLengths : public ::testing::TestWithParam<int64_t> {};

TEST_P(TransformLengths, AgreeWithTheSum) {
  const int64_t n = GetParam();
  const std::vector<double> parts = as_doubles(random_floats({2 * n}, 3));
  std::vector<Complex> x;
  for (std::size_t i = 0; i < parts.size(); i += 2) x.emplace_back(parts[i], parts[i + 1]);
  const Tensor input = complex_tensor({1, n}, x);
  EXPECT_EQ(difference(run_one("DFT", 17, {input}), complex_tensor({1, n}, transformed(x, false)),
                       1e-4, 1e-4),
            "");
  EXPECT_EQ(difference(run_one("DFT", 20, {input}, {{"inverse", int64_t{1}}}),
                       complex_tensor({1, n}, transformed(x, true)), 1e-4, 1e-5),
            "");
}

INSTANTIATE_TEST_SUITE_P(Lengths, TransformLengths,
                         ::testing::Values(1, 2, 3, 4, 5, 7, 8, 64, 100, 257));

TEST(Dft, PadsAndTruncatesToTheLength) {
  const Tensor x = floats({1, 3, 1}, {1, 2, 3});
  EXPECT_EQ(difference(run_one("DFT", 17, {x, ints({2})}),
                       complex_tensor({1, 2}, transformed({1, 2}, false))),
            "");
  EXPECT_EQ(difference(run_one("DFT", 17, {x, ints({5})}),
                       complex_tensor({1, 5}, transformed({1, 2, 3, 0, 0}, false)), 1e-4),
            "");
}

TEST(Dft, GoesAlongAnyAxis) {
  const Tensor x = floats({2, 2, 1}, {1, 2, 3, 5});
  const Tensor along_first = floats({2, 2, 2}, {4, 0, 7, 0, -2, 0, -3, 0});
  EXPECT_EQ(difference(run_one("DFT", 17, {x}, {{"axis", int64_t{0}}}), along_first), "");
  SingleNodeGraph node("DFT", 20);
  node.input(x).skip_input().input(tensor<int64_t>({}, {0})).output();
  EXPECT_THAT(cpu_session().run(node), Gives(std::vector{along_first}));
}

TEST(Dft, OneSidedGoesThereAndBack) {
  for (const int64_t n : {6, 7}) {
    const Tensor x = random_floats({2, n, 1}, 9);
    const Tensor half = run_one("DFT", 20, {x}, {{"onesided", int64_t{1}}});
    EXPECT_EQ(half.shape, (Shape{2, n / 2 + 1, 2}));
    const Tensor back =
        run_one("DFT", 20, {half, ints({n})}, {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}});
    EXPECT_EQ(difference(back, x, 1e-5, 1e-6), "");
  }
}

TEST(Dft, RefusesInvalidInputs) {
  const Tensor x = floats({1, 2, 1}, {1, 2});
  const auto refuses = [](const std::vector<Tensor>& inputs, const Attributes& attributes,
                          const char* message) {
    EXPECT_THAT(run_node("DFT", 17, inputs, attributes), Refuses(EPH_INVALID_ARGUMENT, message));
  };
  refuses({x, ints({0})}, {}, "dft_length 0 is outside of [1,");
  refuses({x, ints({int64_t{1} << 60})}, {}, "is outside of [1,");
  refuses({x}, {{"axis", int64_t{2}}}, "the last dimension is not an axis");
  refuses({floats({1, 1, 3}, {1, 2, 3})}, {}, "does not end with a dimension of 1 or 2");
  refuses({floats({1, 1, 2}, {1, 2})}, {{"onesided", int64_t{1}}}, "takes real numbers");
}

TEST(Stft, CutsFramesFromTheSignal) {
  const Tensor x = floats({1, 5, 1}, {1, 2, 3, 4, 5});
  const Tensor window = floats({2}, {1, 0.5F});
  // Frames (1, 1) and (3, 2).
  EXPECT_EQ(difference(run_one("STFT", 17, {x, ints({2}), window}),
                       floats({1, 2, 2, 2}, {2, 0, 0, 0, 5, 0, 1, 0})),
            "");
  // Real numbers may come without the dimension of their parts.
  EXPECT_EQ(difference(run_one("STFT", 17, {floats({1, 5}, {1, 2, 3, 4, 5}), ints({2}), window}),
                       floats({1, 2, 2, 2}, {2, 0, 0, 0, 5, 0, 1, 0})),
            "");
  EXPECT_THAT(run_node("STFT", 17, {floats({5}, {1, 2, 3, 4, 5}), ints({2}), window}),
              Refuses(EPH_INVALID_ARGUMENT, "is not [batch, length]"));
  EXPECT_THAT(run_node("STFT", 17, {x, ints({0}), window}),
              Refuses(EPH_INVALID_ARGUMENT, "frame_step 0 is not positive"));
  EXPECT_THAT(run_node("STFT", 17, {x, ints({1})}),
              Refuses(EPH_INVALID_ARGUMENT, "neither window nor frame_length"));
  EXPECT_THAT(run_node("STFT", 17, {x, ints({1}), window, ints({3})}),
              Refuses(EPH_INVALID_ARGUMENT, "a window of 2 does not fit a frame of 3"));
  EXPECT_THAT(run_node("STFT", 17, {floats({1, 1, 1}, {1}), ints({1}), window}),
              Refuses(EPH_INVALID_ARGUMENT, "longer than the signal"));
}

TEST(Windows, HaveTheirFirstElements) {
  const Tensor four = tensor<int64_t>({}, {4});
  EXPECT_THAT(run_node("HannWindow", 17, {four}),
              Gives(std::vector{floats({4}, {0, 0.5F, 1, 0.5F})}));
  EXPECT_THAT(run_node("HannWindow", 17, {tensor<int32_t>({}, {3})}, {{"periodic", int64_t{0}}}),
              Gives(std::vector{floats({3}, {0, 1, 0})}));
  EXPECT_THAT(
      run_node("HammingWindow", 17, {four}, {{"output_datatype", int64_t{EPH_ELEMENT_DOUBLE}}}),
      Gives(std::vector{tensor<double>({4}, {4.0 / 46, 25.0 / 46, 1, 25.0 / 46})}));
  EXPECT_EQ(difference(run_one("BlackmanWindow", 17, {four}), floats({4}, {0, 0.34F, 1, 0.34F})),
            "");
  EXPECT_EQ(run_one("HannWindow", 17, {tensor<int64_t>({}, {0})}).shape, (Shape{0}));
  EXPECT_THAT(run_node("HannWindow", 17, {tensor<int64_t>({}, {-1})}),
              Refuses(EPH_INVALID_ARGUMENT, "size -1 is negative"));
  EXPECT_THAT(
      run_node("HannWindow", 17, {four}, {{"output_datatype", int64_t{EPH_ELEMENT_STRING}}}),
      Refuses(EPH_NOT_IMPLEMENTED, "output_datatype=8"));
}

TEST(MelWeights, StayInsideTheSpectrum) {
  const auto scalar = [](int64_t value) { return tensor<int64_t>({}, {value}); };
  const auto run = [&](int64_t bands, int64_t length, int64_t rate, float low, float high) {
    return run_node(
        "MelWeightMatrix", 17,
        {scalar(bands), scalar(length), scalar(rate), floats({}, {low}), floats({}, {high})});
  };
  // Beyond half of the sample rate.
  EXPECT_THAT(run(4, 8, 100, 0, 1e6F), IsOk());
  EXPECT_THAT(run(4, 8, 0, 0, 10), Refuses(EPH_INVALID_ARGUMENT, "sample_rate 0 is not positive"));
  EXPECT_THAT(run(4, 8, 100, -1, 10),
              Refuses(EPH_INVALID_ARGUMENT, "lower_edge_hertz is negative"));
  EXPECT_THAT(run(-4, 8, 100, 0, 10), Refuses(EPH_INVALID_ARGUMENT, "num_mel_bins -4 is negative"));
}

}  // namespace
}  // namespace ephost::test::signal_test
