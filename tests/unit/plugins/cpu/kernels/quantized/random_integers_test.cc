// Integer products and convolutions of random shapes, types and zero points against plain loops:
// sums must be equal, and quantised results too, as they are computed in the same order.
#include <cmath>
#include <optional>
#include <random>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::random_integers_test {
namespace {

using Numbers = std::vector<int32_t>;

class Draw {
 public:
  explicit Draw(uint32_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool coin() { return between(0, 1) == 1; }
  Numbers bytes(int64_t count, bool is_signed) {
    Numbers numbers;
    // Often the ends of the range, where sums overflow narrower types.
    const int64_t low = is_signed ? -128 : 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t kind = between(0, 3);
      const int64_t drawn = kind == 0 ? low : kind == 1 ? low + 255 : between(low, low + 255);
      numbers.push_back(static_cast<int32_t>(drawn));
    }
    return numbers;
  }
  std::vector<float> scales(int64_t count) {
    std::vector<float> drawn;
    for (int64_t i = 0; i < count; ++i) {
      drawn.push_back(static_cast<float>(between(1, 1000)) * 0.37e-2F);
    }
    return drawn;
  }

 private:
  std::mt19937 engine_;
};

Tensor byte_tensor(const Shape& shape, bool is_signed, const Numbers& numbers) {
  if (is_signed) return tensor<int8_t>(shape, {numbers.begin(), numbers.end()});
  return tensor<uint8_t>(shape, {numbers.begin(), numbers.end()});
}

std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }
int32_t cycle(const Numbers& numbers, int64_t i) { return numbers[at(i) % numbers.size()]; }
float cycle(const std::vector<float>& numbers, int64_t i) {
  return numbers[at(i) % numbers.size()];
}

// One operand with its zero points.
struct Operand {
  Shape shape;
  bool is_signed;
  Numbers numbers, zeros;
  std::optional<Shape> zeros_shape;  // nothing: no zero points

  Operand(Draw& draw, Shape extents, const std::optional<Shape>& zero_shape)
      : shape(std::move(extents)), is_signed(draw.coin()), zeros_shape(zero_shape) {
    numbers = draw.bytes(count_of(shape), is_signed);
    zeros = zero_shape ? draw.bytes(count_of(*zero_shape), is_signed) : Numbers{0};
  }
  [[nodiscard]] Tensor value() const { return byte_tensor(shape, is_signed, numbers); }
  [[nodiscard]] Tensor zero_tensor() const {
    return byte_tensor(zeros_shape.value_or(Shape{}), is_signed, zeros);
  }
};

// Inputs of which all, some or none are constants; the shapes of the others are known for every
// other count of elements.
Outcome run_inputs(const char* op_type, const std::vector<std::optional<Tensor>>& inputs,
                   const std::vector<bool>& is_constant, const Attributes& attributes = {}) {
  SingleNodeGraph graph(op_type, 10);
  if (inputs[0]->bytes.size() % 2 == 0) graph.state(Stated::kTypes);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      graph.skip_input();
    } else if (is_constant[i]) {
      graph.constant(*inputs[i]);
    } else {
      graph.input(*inputs[i]);
    }
  }
  for (const auto& [name, value] : attributes) graph.attribute(name, value);
  graph.output();
  return cpu_session().run(graph);
}

// ---- Products -----------------------------------------------------------------------------------

struct ProductCase {
  Operand a, b;
  int64_t batch_a, batch_b, m, k, n;

  [[nodiscard]] int64_t batch() const { return std::max(batch_a, batch_b); }

  [[nodiscard]] Shape out() const {
    return batch_a == 1 && batch_b == 1 && a.shape.size() == 2 && b.shape.size() == 2
               ? Shape{m, n}
               : Shape{batch(), m, n};
  }
  [[nodiscard]] Numbers sums() const {
    Numbers y;
    for (int64_t p = 0; p < batch(); ++p) {
      const int64_t pa = batch_a == 1 ? 0 : p;
      const int64_t pb = batch_b == 1 ? 0 : p;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          int32_t sum = 0;
          for (int64_t e = 0; e < k; ++e) {
            sum += (a.numbers[at((pa * m + i) * k + e)] - cycle(a.zeros, pa * m + i)) *
                   (b.numbers[at((pb * k + e) * n + j)] - cycle(b.zeros, pb * n + j));
          }
          y.push_back(sum);
        }
      }
    }
    return y;
  }
};

ProductCase draw_product(Draw& draw) {
  const bool is_large = draw.between(0, 9) == 0;
  const int64_t m = draw.between(1, is_large ? 70 : 9);
  const int64_t k = draw.between(1, is_large ? 700 : 40);
  const int64_t n = draw.between(1, is_large ? 150 : 40);
  const bool has_batch_a = draw.coin();
  const bool has_batch_b = draw.between(0, 2) == 0;
  const int64_t batch = draw.between(1, 3);
  const int64_t batch_a = has_batch_a ? batch : 1;
  const int64_t batch_b = has_batch_b ? batch : 1;
  const auto zeros_of = [&](int64_t of_one) -> std::optional<Shape> {
    switch (draw.between(0, 2)) {
      case 0:
        return std::nullopt;
      case 1:
        return Shape{};
      default:
        return Shape{of_one};
    }
  };
  const Shape a = has_batch_a ? Shape{batch, m, k} : Shape{m, k};
  const Shape b = has_batch_b ? Shape{batch, k, n} : Shape{k, n};
  return {Operand(draw, a, zeros_of(m)), Operand(draw, b, zeros_of(n)), batch_a, batch_b, m, k, n};
}

Tensor bytes_of(const Shape& shape, bool is_signed, const std::vector<float>& scaled,
                int32_t zero) {
  Numbers numbers;
  const float low = is_signed ? -128 : 0;
  for (const float value : scaled) {
    const float rounded = std::nearbyint(value) + static_cast<float>(zero);
    numbers.push_back(static_cast<int32_t>(std::min(std::max(rounded, low), low + 255)));
  }
  return byte_tensor(shape, is_signed, numbers);
}

TEST(RandomIntegers, MultiplyExactly) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const ProductCase c = draw_product(draw);
    const bool b_is_constant = draw.coin();
    const std::vector<std::optional<Tensor>> inputs = {
        c.a.value(), c.b.value(), c.a.zeros_shape ? std::optional(c.a.zero_tensor()) : std::nullopt,
        c.b.zeros_shape ? std::optional(c.b.zero_tensor()) : std::nullopt};
    EXPECT_THAT(
        run_inputs("MatMulInteger", inputs, {false, b_is_constant, draw.coin(), draw.coin()}),
        Gives(std::vector{tensor<int32_t>(c.out(), c.sums())}))
        << "seed " << seed;
  }
}

TEST(RandomIntegers, MultiplyAndQuantize) {
  for (uint32_t seed = 1000; seed < 1200; ++seed) {
    Draw draw(seed);
    const ProductCase c = draw_product(draw);
    const std::vector<float> a_scales = draw.scales(draw.coin() ? c.m : 1);
    const std::vector<float> b_scales = draw.scales(draw.coin() ? c.n : 1);
    const float y_scale = draw.scales(1)[0] * static_cast<float>(c.k);
    const bool is_signed = draw.coin();
    const auto zero = static_cast<int32_t>(draw.between(0, 127));
    std::vector<float> scaled;
    for (const int32_t sum : c.sums()) {
      const auto i = static_cast<int64_t>(scaled.size());
      scaled.push_back(static_cast<float>(sum) *
                       (cycle(a_scales, i / c.n % c.m) * cycle(b_scales, i % c.n) / y_scale));
    }
    const auto list = [](const std::vector<float>& scales) {
      return floats(scales.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(scales.size())},
                    scales);
    };
    const std::vector<std::optional<Tensor>> inputs = {
        c.a.value(),           list(a_scales),
        c.a.zero_tensor(),     c.b.value(),
        list(b_scales),        c.b.zero_tensor(),
        floats({}, {y_scale}), byte_tensor({}, is_signed, {zero})};
    const bool b_is_constant = draw.coin();
    EXPECT_THAT(run_inputs("QLinearMatMul", inputs,
                           {false, true, true, b_is_constant, true, b_is_constant, true, true}),
                Gives(std::vector{bytes_of(c.out(), is_signed, scaled, zero)}))
        << "seed " << seed;
  }
}

// ---- Convolutions -------------------------------------------------------------------------------

struct ConvolutionCase {
  Operand x, w;
  int64_t groups;
  std::vector<int64_t> pads, strides, dilations, output;

  [[nodiscard]] std::size_t rank() const { return strides.size(); }
  [[nodiscard]] Shape out() const {
    Shape shape = {x.shape[0], w.shape[0]};
    shape.insert(shape.end(), output.begin(), output.end());
    return shape;
  }
  [[nodiscard]] Attributes attributes() const {
    return {{"group", groups}, {"pads", pads}, {"strides", strides}, {"dilations", dilations}};
  }

  // Indices of a tensor of these extents.
  static std::vector<int64_t> indices(int64_t flat, const Shape& extents) {
    std::vector<int64_t> split(extents.size());
    for (std::size_t d = extents.size(); d-- > 0; flat /= extents[d]) split[d] = flat % extents[d];
    return split;
  }

  [[nodiscard]] int32_t sum_at(int64_t flat) const {
    const std::vector<int64_t> o = indices(flat, out());
    const Shape window(w.shape.begin() + 1, w.shape.end());
    int32_t sum = 0;
    for (int64_t tap = 0; tap < count_of(window); ++tap) {
      const std::vector<int64_t> t = indices(tap, window);
      int64_t xi = o[0] * x.shape[1] + o[1] / (w.shape[0] / groups) * w.shape[1] + t[0];
      bool is_inside = true;
      for (std::size_t d = 0; d < rank(); ++d) {
        const int64_t i = o[d + 2] * strides[d] + t[d + 1] * dilations[d] - pads[d];
        is_inside = is_inside && i >= 0 && i < x.shape[d + 2];
        xi = xi * x.shape[d + 2] + i;
      }
      if (!is_inside) continue;
      sum += (x.numbers[at(xi)] - x.zeros[0]) *
             (w.numbers[at(o[1] * count_of(window) + tap)] - cycle(w.zeros, o[1]));
    }
    return sum;
  }
  [[nodiscard]] Numbers sums() const {
    Numbers y;
    for (int64_t i = 0; i < count_of(out()); ++i) y.push_back(sum_at(i));
    return y;
  }
};

ConvolutionCase draw_convolution(Draw& draw) {
  const int64_t rank = draw.between(1, 3);
  const bool is_depthwise = draw.between(0, 3) == 0;
  const int64_t groups = draw.between(0, 2) == 0 || is_depthwise ? draw.between(1, 20) : 1;
  const int64_t channels = is_depthwise ? 1 : draw.between(1, 20);
  const int64_t outputs = groups * (is_depthwise ? draw.between(1, 2) : draw.between(1, 20));
  Shape x = {draw.between(1, 2), groups * channels};
  Shape w = {outputs, channels};
  std::vector<int64_t> begin, end, strides, dilations, output;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t taps = draw.between(1, 3);
    dilations.push_back(draw.between(1, 2));
    strides.push_back(draw.between(1, 3));
    begin.push_back(draw.between(0, 2));
    end.push_back(draw.between(0, 2));
    const int64_t span = (taps - 1) * dilations.back() + 1;
    const int64_t extent = std::max<int64_t>(1, span - begin.back() - end.back()) +
                           draw.between(0, rank == 1 ? 40 : 8);
    x.push_back(extent);
    w.push_back(taps);
    output.push_back((extent + begin.back() + end.back() - span) / strides.back() + 1);
  }
  std::vector<int64_t> pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  const auto zeros = [&](const Shape& shape) {
    return draw.coin() ? std::optional(draw.coin() ? Shape{} : shape) : std::nullopt;
  };
  return {Operand(draw, x, zeros({})),
          Operand(draw, w, zeros({outputs})),
          groups,
          pads,
          strides,
          dilations,
          output};
}

TEST(RandomIntegers, ConvolveExactly) {
  for (uint32_t seed = 2000; seed < 2300; ++seed) {
    Draw draw(seed);
    const ConvolutionCase c = draw_convolution(draw);
    const std::vector<std::optional<Tensor>> inputs = {
        c.x.value(), c.w.value(), c.x.zeros_shape ? std::optional(c.x.zero_tensor()) : std::nullopt,
        c.w.zeros_shape ? std::optional(c.w.zero_tensor()) : std::nullopt};
    const bool w_is_constant = draw.coin();
    EXPECT_THAT(run_inputs("ConvInteger", inputs, {false, w_is_constant, draw.coin(), draw.coin()},
                           c.attributes()),
                Gives(std::vector{tensor<int32_t>(c.out(), c.sums())}))
        << "seed " << seed;
  }
}

TEST(RandomIntegers, ConvolveAndQuantize) {
  for (uint32_t seed = 3000; seed < 3300; ++seed) {
    Draw draw(seed);
    const ConvolutionCase c = draw_convolution(draw);
    const int64_t outputs = c.w.shape[0];
    const int64_t plane = count_of(c.output);
    const float x_scale = draw.scales(1)[0];
    const std::vector<float> w_scales = draw.scales(draw.coin() ? outputs : 1);
    const float y_scale = draw.scales(1)[0] * 50;
    const bool is_signed = draw.coin();
    const auto zero = static_cast<int32_t>(draw.between(0, 127));
    const bool has_bias = draw.coin();
    Numbers bias;
    for (int64_t m = 0; has_bias && m < outputs; ++m) {
      bias.push_back(static_cast<int32_t>(draw.between(-100000, 100000)));
    }
    std::vector<float> scaled;
    for (const int32_t sum : c.sums()) {
      const int64_t m = static_cast<int64_t>(scaled.size()) / plane % outputs;
      scaled.push_back(static_cast<float>(sum + (has_bias ? bias[at(m)] : 0)) *
                       (x_scale * cycle(w_scales, m) / y_scale));
    }
    const Shape scales_shape =
        w_scales.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(w_scales.size())};
    std::vector<std::optional<Tensor>> inputs = {c.x.value(),
                                                 floats({}, {x_scale}),
                                                 c.x.zero_tensor(),
                                                 c.w.value(),
                                                 floats(scales_shape, w_scales),
                                                 c.w.zero_tensor(),
                                                 floats({}, {y_scale}),
                                                 byte_tensor({}, is_signed, {zero})};
    if (has_bias) inputs.emplace_back(tensor<int32_t>({outputs}, bias));
    const bool w_is_constant = draw.coin();
    EXPECT_THAT(
        run_inputs("QLinearConv", inputs,
                   {false, true, true, w_is_constant, true, w_is_constant, true, true, true},
                   c.attributes()),
        Gives(std::vector{bytes_of(c.out(), is_signed, scaled, zero)}))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace ephost::test::random_integers_test
