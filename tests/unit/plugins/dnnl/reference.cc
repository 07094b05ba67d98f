#include "tests/unit/plugins/dnnl/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>

namespace ephost::test {

int64_t OperatorCall::integer(const std::string& name, int64_t fallback) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? fallback : std::get<int64_t>(found->second);
}
double OperatorCall::real(const std::string& name, double fallback) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? fallback : double{std::get<float>(found->second)};
}
std::string OperatorCall::text(const std::string& name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string() : std::get<std::string>(found->second);
}
std::vector<int64_t> OperatorCall::integers(const std::string& name,
                                            std::vector<int64_t> fallback) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? fallback : std::get<std::vector<int64_t>>(found->second);
}

namespace {

Array fold(const OperatorCall& call, const Pair& f) {
  Array result = *call.inputs[0];
  for (std::size_t i = 1; i < call.inputs.size(); ++i) result = combine(result, *call.inputs[i], f);
  return result;
}

std::size_t axis_of(int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

// The attributes of a sliding window with explicit pads.
struct Slide {
  Shape kernel, strides, dilations, begin, end;

  Slide(const OperatorCall& call, Shape extents, const Shape& data) : kernel(std::move(extents)) {
    const std::size_t rank = kernel.size();
    strides = call.integers("strides", Shape(rank, 1));
    dilations = call.integers("dilations", Shape(rank, 1));
    const Shape pads = call.integers("pads", Shape(2 * rank, 0));
    begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
    const std::string mode = call.text("auto_pad");
    if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return;
    for (std::size_t i = 0; i < rank; ++i) {
      const int64_t positions = (data[i + 2] + strides[i] - 1) / strides[i];
      const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
      const int64_t total =
          std::max<int64_t>(0, (positions - 1) * strides[i] + reach - data[i + 2]);
      begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      end[i] = total - begin[i];
    }
  }
  [[nodiscard]] Shape output(const Shape& data, int64_t channels, bool ceil) const {
    Shape out = {data[0], channels};
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const int64_t free = data[i + 2] + begin[i] + end[i] - (kernel[i] - 1) * dilations[i] - 1;
      int64_t positions = (free + (ceil ? strides[i] - 1 : 0)) / strides[i] + 1;
      // ceil_mode makes no window that begins behind the data.
      if (ceil && (positions - 1) * strides[i] - begin[i] >= data[i + 2]) --positions;
      out.push_back(positions);
    }
    return out;
  }
  // The data index under a tap, or nothing if it lies in the padding.
  [[nodiscard]] bool tap(const Index& out, const Index& offset, const Shape& data,
                         Index& index) const {
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      index[i + 2] = out[i + 2] * strides[i] - begin[i] + offset[i] * dilations[i];
      if (index[i + 2] < 0 || index[i + 2] >= data[i + 2]) return false;
    }
    return true;
  }
};

Array conv(const OperatorCall& call) {
  const Array &x = *call.inputs[0], &w = *call.inputs[1];
  const Slide slide(call, Shape(w.shape.begin() + 2, w.shape.end()), x.shape);
  const int64_t outputs_each = w.shape[0] / call.integer("group", 1);
  return generate(slide.output(x.shape, w.shape[0], false), [&](const Index& out) {
    double sum = call.has(2) ? call.inputs[2]->data[static_cast<std::size_t>(out[1])] : 0;
    for (int64_t c = 0; c < w.shape[1]; ++c) {
      for_each_index(slide.kernel, [&](const Index& offset) {
        Index from(x.shape.size()), tap = {out[1], c};
        from[0] = out[0];
        from[1] = out[1] / outputs_each * w.shape[1] + c;
        tap.insert(tap.end(), offset.begin(), offset.end());
        if (slide.tap(out, offset, x.shape, from)) sum += at(x, from) * at(w, tap);
      });
    }
    return sum;
  });
}

// NaN if one of them is.
double greater(double a, double b) { return a > b || std::isnan(a) ? a : b; }

Array pool(const OperatorCall& call, bool maximum, bool global) {
  const Array& x = *call.inputs[0];
  const Shape spatial(x.shape.begin() + 2, x.shape.end());
  const Slide slide(call, global ? spatial : call.integers("kernel_shape", {}), x.shape);
  const bool include = call.integer("count_include_pad", 0) != 0;
  const Shape shape = slide.output(x.shape, x.shape[1], call.integer("ceil_mode", 0) != 0);
  return generate(shape, [&](const Index& out) {
    double sum = 0, highest = -std::numeric_limits<double>::infinity();
    int64_t taps = 0;
    for_each_index(slide.kernel, [&](const Index& offset) {
      Index from(out);
      if (!slide.tap(out, offset, x.shape, from)) return;
      sum += at(x, from);
      highest = greater(at(x, from), highest);
      ++taps;
    });
    if (maximum) return highest;
    return sum / (include ? static_cast<double>(count(slide.kernel)) : static_cast<double>(taps));
  });
}

Array matmul(Array a, Array b) {
  const bool a_vector = a.shape.size() == 1, b_vector = b.shape.size() == 1;
  if (a_vector) a.shape.insert(a.shape.begin(), 1);
  if (b_vector) b.shape.push_back(1);
  const int64_t inner = a.shape.back();
  const Shape a_batch(a.shape.begin(), a.shape.end() - 2),
      b_batch(b.shape.begin(), b.shape.end() - 2);
  Shape shape = broadcast(a_batch, b_batch);
  shape.push_back(a.shape[a.shape.size() - 2]);
  shape.push_back(b.shape.back());
  Array out = generate(shape, [&](const Index& index) {
    double sum = 0;
    Index left = index, right = index;
    for (int64_t k = 0; k < inner; ++k) {
      left.back() = k;
      right[right.size() - 2] = k;
      sum += at(a, left) * at(b, right);
    }
    return sum;
  });
  if (b_vector) out.shape.pop_back();
  if (a_vector) out.shape.erase(out.shape.end() - (b_vector ? 1 : 2));
  return out;
}

Array transpose(const Array& x, std::vector<int64_t> perm) {
  if (perm.empty()) {
    perm.resize(x.shape.size());
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  Shape shape;
  for (const int64_t from : perm) shape.push_back(x.shape[static_cast<std::size_t>(from)]);
  return generate(shape, [&](const Index& out) {
    Index from(out.size());
    for (std::size_t i = 0; i < perm.size(); ++i) from[static_cast<std::size_t>(perm[i])] = out[i];
    return at(x, from);
  });
}

Array gemm(const OperatorCall& call) {
  const auto factor = [&](std::size_t i, const char* flag) {
    return call.integer(flag, 0) != 0 ? transpose(*call.inputs[i], {1, 0}) : *call.inputs[i];
  };
  const Array product = matmul(factor(0, "transA"), factor(1, "transB"));
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  const Array zero{{1}, {0}};
  return combine(product, call.has(2) ? *call.inputs[2] : zero,
                 [&](double p, double c) { return alpha * p + beta * c; });
}

Array batch_norm(const OperatorCall& call) {
  const double epsilon = call.real("epsilon", 1e-5);
  return generate(call.inputs[0]->shape, [&](const Index& index) {
    const auto channel = static_cast<std::size_t>(index[1]);
    const auto parameter = [&](std::size_t i) { return call.inputs[i]->data[channel]; };
    return (at(*call.inputs[0], index) - parameter(3)) / std::sqrt(parameter(4) + epsilon) *
               parameter(1) +
           parameter(2);
  });
}

// Applies f to every run of the dimensions from `begin` up to `end` taken together.
Array along(const Array& x, std::size_t begin, std::size_t end,
            const std::function<void(std::vector<double>&)>& f) {
  const std::size_t length = count(Shape(x.shape.begin() + static_cast<std::ptrdiff_t>(begin),
                                         x.shape.begin() + static_cast<std::ptrdiff_t>(end)));
  const std::size_t inner =
      count(Shape(x.shape.begin() + static_cast<std::ptrdiff_t>(end), x.shape.end()));
  Array out = x;
  for (std::size_t outer = 0; outer < x.data.size() / (length * inner); ++outer) {
    for (std::size_t i = 0; i < inner; ++i) {
      std::vector<double> run(length);
      const std::size_t first = outer * length * inner + i;
      for (std::size_t k = 0; k < length; ++k) run[k] = x.data[first + k * inner];
      f(run);
      for (std::size_t k = 0; k < length; ++k) out.data[first + k * inner] = run[k];
    }
  }
  return out;
}

Array softmax(const OperatorCall& call, bool logarithm) {
  const Array& x = *call.inputs[0];
  const bool old = call.since_version < 13;
  const std::size_t axis = axis_of(call.integer("axis", old ? 1 : -1), x.shape.size());
  return along(x, axis, old ? x.shape.size() : axis + 1, [&](std::vector<double>& run) {
    const double highest = *std::max_element(run.begin(), run.end());
    double sum = 0;
    for (const double value : run) sum += std::exp(value - highest);
    for (double& value : run) {
      value = logarithm ? value - highest - std::log(sum) : std::exp(value - highest) / sum;
    }
  });
}

Array layer_norm(const OperatorCall& call) {
  const Array& x = *call.inputs[0];
  const double epsilon = call.real("epsilon", 1e-5);
  const std::size_t axis = axis_of(call.integer("axis", -1), x.shape.size());
  return along(x, axis, x.shape.size(), [&](std::vector<double>& run) {
    const double size = static_cast<double>(run.size());
    const double mean = std::accumulate(run.begin(), run.end(), 0.0) / size;
    double variance = 0;
    for (const double value : run) variance += (value - mean) * (value - mean) / size;
    for (std::size_t i = 0; i < run.size(); ++i) {
      run[i] = (run[i] - mean) / std::sqrt(variance + epsilon) * call.inputs[1]->data[i] +
               (call.has(2) ? call.inputs[2]->data[i] : 0);
    }
  });
}

Array lrn(const OperatorCall& call) {
  const Array& x = *call.inputs[0];
  const int64_t size = call.integer("size", 5);
  return generate(x.shape, [&](const Index& index) {
    double sum = 0;
    for (int64_t c = index[1] - (size - 1) / 2; c <= index[1] + size / 2; ++c) {
      if (c < 0 || c >= x.shape[1]) continue;
      Index other = index;
      other[1] = c;
      sum += at(x, other) * at(x, other);
    }
    const double base =
        call.real("bias", 1) + call.real("alpha", 1e-4) / static_cast<double>(size) * sum;
    return at(x, index) / std::pow(base, call.real("beta", 0.75));
  });
}

Array reduce(const OperatorCall& call, double start, const Pair& f, bool mean) {
  const Array& x = *call.inputs[0];
  std::vector<int64_t> axes = call.integers("axes", {});
  if (call.ints.size() > 1) axes = call.ints[1];
  std::vector<bool> reduced(x.shape.size(), axes.empty());
  for (const int64_t axis : axes) reduced[axis_of(axis, x.shape.size())] = true;
  Shape kept, folded;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    kept.push_back(reduced[i] ? 1 : x.shape[i]);
    folded.push_back(reduced[i] ? x.shape[i] : 1);
  }
  Array out = generate(kept, [&](const Index& index) {
    double result = start;
    for_each_index(folded, [&](const Index& offset) {
      Index from = index;
      for (std::size_t i = 0; i < from.size(); ++i) from[i] += offset[i];
      result = f(result, at(x, from));
    });
    return mean ? result / static_cast<double>(count(folded)) : result;
  });
  if (call.integer("keepdims", 1) == 0) {
    Shape shape;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!reduced[i]) shape.push_back(kept[i]);
    }
    out.shape = shape;
  }
  return out;
}

Array concat(const OperatorCall& call) {
  const std::size_t axis = axis_of(call.integer("axis", 0), call.inputs[0]->shape.size());
  Shape shape = call.inputs[0]->shape;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) shape[axis] += call.inputs[i]->shape[axis];
  return generate(shape, [&](Index index) {
    for (const Array* input : call.inputs) {
      if (index[axis] < input->shape[axis]) return at(*input, index);
      index[axis] -= input->shape[axis];
    }
    return 0.0;
  });
}

Array reshape(const OperatorCall& call) {
  Array out = *call.inputs[0];
  Shape shape = call.ints.at(1);
  int64_t known = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = out.shape[i];
    if (shape[i] > 0) known *= shape[i];
  }
  for (int64_t& extent : shape) {
    if (extent == -1) extent = static_cast<int64_t>(out.data.size()) / known;
  }
  out.shape = shape;
  return out;
}

Array flatten(const OperatorCall& call) {
  Array out = *call.inputs[0];
  const auto axis = static_cast<std::ptrdiff_t>(axis_of(call.integer("axis", 1), out.shape.size()));
  const auto rows = static_cast<int64_t>(count(Shape(out.shape.begin(), out.shape.begin() + axis)));
  out.shape = {rows, static_cast<int64_t>(out.data.size()) / rows};
  return out;
}

Array squeeze(const OperatorCall& call, bool inverse) {
  Array out = *call.inputs[0];
  const std::vector<int64_t> axes = call.ints.size() > 1 ? call.ints[1] : call.integers("axes", {});
  std::vector<std::size_t> sorted;
  for (const int64_t axis : axes) {
    sorted.push_back(axis_of(axis, out.shape.size() + (inverse ? axes.size() : 0)));
  }
  std::sort(sorted.begin(), sorted.end());
  if (!inverse) std::reverse(sorted.begin(), sorted.end());
  for (const std::size_t axis : sorted) {
    const auto position = out.shape.begin() + static_cast<std::ptrdiff_t>(axis);
    if (inverse)
      out.shape.insert(position, 1);
    else
      out.shape.erase(position);
  }
  return out;
}

Array clip(const OperatorCall& call) {
  double low = call.real("min", std::numeric_limits<float>::lowest());
  double high = call.real("max", std::numeric_limits<float>::max());
  if (call.has(1)) low = call.inputs[1]->data[0];
  if (call.has(2)) high = call.inputs[2]->data[0];
  return map(*call.inputs[0], [&](double x) { return std::min(std::max(x, low), high); });
}

using Rule = std::function<Array(const OperatorCall&)>;

Rule unary(Unary f) {
  return [f](const OperatorCall& call) { return map(*call.inputs[0], f); };
}
Rule arithmetic(Pair f) {
  return [f](const OperatorCall& call) { return fold(call, f); };
}
Rule reduction(double start, Pair f, bool mean = false) {
  return [=](const OperatorCall& call) { return reduce(call, start, f, mean); };
}

std::map<std::string, Rule> make_activation_rules() {
  return {
      {"Relu", unary([](double x) { return std::max(x, 0.0); })},
      {"Tanh", unary([](double x) { return std::tanh(x); })},
      {"Sigmoid", unary([](double x) { return 1 / (1 + std::exp(-x)); })},
      {"Exp", unary([](double x) { return std::exp(x); })},
      {"Log", unary([](double x) { return std::log(x); })},
      {"Sqrt", unary([](double x) { return std::sqrt(x); })},
      {"Abs", unary([](double x) { return std::abs(x); })},
      {"Neg", unary([](double x) { return -x; })},
      {"Erf", unary([](double x) { return std::erf(x); })},
      {"Reciprocal", unary([](double x) { return 1 / x; })},
      {"HardSwish", unary([](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); })},
      {"Identity", unary([](double x) { return x; })},
      {"Dropout", unary([](double x) { return x; })},
      {"LeakyRelu",
       [](const OperatorCall& call) {
         const double alpha = call.real("alpha", 0.01);
         return map(*call.inputs[0], [=](double x) { return x < 0 ? alpha * x : x; });
       }},
      {"Elu",
       [](const OperatorCall& call) {
         const double alpha = call.real("alpha", 1);
         return map(*call.inputs[0],
                    [=](double x) { return x < 0 ? alpha * (std::exp(x) - 1) : x; });
       }},
      {"Clip", clip},
  };
}

std::map<std::string, Rule> make_other_rules() {
  const double infinity = std::numeric_limits<double>::infinity();
  const Pair add = [](double a, double b) { return a + b; };
  const Pair mul = [](double a, double b) { return a * b; };
  const Pair max = greater;
  const Pair min = [](double a, double b) { return -greater(-a, -b); };
  return {
      {"Add", arithmetic(add)},
      {"Sum", arithmetic(add)},
      {"Sub", arithmetic([](double a, double b) { return a - b; })},
      {"Mul", arithmetic(mul)},
      {"Div", arithmetic([](double a, double b) { return a / b; })},
      {"Max", arithmetic(max)},
      {"Min", arithmetic(min)},
      {"Pow", arithmetic([](double a, double b) { return std::pow(a, b); })},
      {"ReduceSum", reduction(0, add)},
      {"ReduceMean", reduction(0, add, true)},
      {"ReduceMax", reduction(-infinity, max)},
      {"ReduceMin", reduction(infinity, min)},
      {"ReduceProd", reduction(1, mul)},
      {"Conv", conv},
      {"MaxPool", [](const OperatorCall& call) { return pool(call, true, false); }},
      {"AveragePool", [](const OperatorCall& call) { return pool(call, false, false); }},
      {"GlobalMaxPool", [](const OperatorCall& call) { return pool(call, true, true); }},
      {"GlobalAveragePool", [](const OperatorCall& call) { return pool(call, false, true); }},
      {"MatMul", [](const OperatorCall& call) { return matmul(*call.inputs[0], *call.inputs[1]); }},
      {"Gemm", gemm},
      {"BatchNormalization", batch_norm},
      {"LayerNormalization", layer_norm},
      {"LRN", lrn},
      {"Softmax", [](const OperatorCall& call) { return softmax(call, false); }},
      {"LogSoftmax", [](const OperatorCall& call) { return softmax(call, true); }},
      {"Concat", concat},
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Squeeze", [](const OperatorCall& call) { return squeeze(call, false); }},
      {"Unsqueeze", [](const OperatorCall& call) { return squeeze(call, true); }},
      {"Transpose",
       [](const OperatorCall& call) {
         return transpose(*call.inputs[0], call.integers("perm", {}));
       }},
  };
}

}  // namespace

Array evaluate(const OperatorCall& invocation) {
  static const std::map<std::string, Rule> rules = [] {
    std::map<std::string, Rule> all = make_activation_rules();
    all.merge(make_other_rules());
    return all;
  }();
  const auto rule = rules.find(invocation.op_type);
  if (rule == rules.end()) {
    std::cerr << "the reference has no operator " << invocation.op_type << '\n';
    std::abort();
  }
  return rule->second(invocation);
}

}  // namespace ephost::test
