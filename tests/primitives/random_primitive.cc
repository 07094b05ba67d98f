#include "tests/primitives/random_primitive.h"

#include <array>
#include <initializer_list>
#include <random>

namespace ephost_dnnl::test {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;
using Extents = dnnl::memory::dims;
using dnnl::algorithm;

std::string type_name(Type type) {
  switch (type) {
    case Type::bf16:
      return "bf16";
    case Type::s32:
      return "s32";
    case Type::s8:
      return "s8";
    case Type::u8:
      return "u8";
    default:
      return "f32";
  }
}

bool is_new(Type type) { return type == Type::bf16 || type == Type::s32; }

constexpr std::array kFunctions = {
    algorithm::eltwise_relu,     algorithm::eltwise_tanh,   algorithm::eltwise_elu,
    algorithm::eltwise_logistic, algorithm::eltwise_linear, algorithm::eltwise_clip,
    algorithm::eltwise_gelu_erf, algorithm::eltwise_abs,    algorithm::eltwise_square};
constexpr std::array kArithmetic = {algorithm::binary_add, algorithm::binary_sub,
                                    algorithm::binary_mul, algorithm::binary_max,
                                    algorithm::binary_min};

// Row-major, channels last, and in blocks of 8 and 16 channels.
std::array<Tag, 4> layouts(std::size_t rank) {
  if (rank == 3) return {Tag::abc, Tag::acb, Tag::aBc8b, Tag::aBc16b};
  if (rank == 5) return {Tag::abcde, Tag::acdeb, Tag::aBcde8b, Tag::aBcde16b};
  return {Tag::abcd, Tag::acdb, Tag::aBcd8b, Tag::aBcd16b};
}

Tag row_major_tag(std::size_t rank) {
  constexpr std::array kTags = {Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde};
  return kTags[rank - 1];
}

}  // namespace

class RandomPrimitive::Maker {
 public:
  Maker(uint64_t seed, RandomPrimitive& made) : random_(seed), made_(made) {}

  void make() {
    using Make = void (Maker::*)();
    constexpr std::array<Make, 10> kMakes = {
        &Maker::convolution, &Maker::convolution, &Maker::product,     &Maker::product,
        &Maker::pooling,     &Maker::arithmetic,  &Maker::elementwise, &Maker::normalisation,
        &Maker::movement,    &Maker::reduction};
    (this->*kMakes[below(kMakes.size())])();
  }

 private:
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
    return chance(75) ? between(1, 20) : one_of<int64_t>({31, 32, 33, 47, 48, 63, 64, 65});
  }
  Type byte_type() { return one_of({Type::u8, Type::s8}); }
  Type new_type() { return one_of({Type::bf16, Type::s32}); }
  Type any_type() { return one_of({Type::f32, Type::bf16, Type::s32, Type::s8, Type::u8}); }

  Extents image() {
    Extents extents = {between(1, 3), channels()};
    for (int64_t i = chance(80) ? 2 : one_of<int64_t>({1, 3}); i > 0; --i) {
      extents.push_back(between(1, 9));
    }
    return extents;
  }
  Descriptor laid_out(const Extents& extents, Type type) {
    return {extents, type, layouts(extents.size())[below(4)]};
  }
  static Descriptor any(const Extents& extents, Type type) { return {extents, type, Tag::any}; }
  static Descriptor plain(const Extents& extents, Type type) {
    return {extents, type, row_major_tag(extents.size())};
  }

  void name(const std::string& operation, std::initializer_list<Type> inputs, Type output) {
    made_.kind_ = operation;
    for (const Type input : inputs) made_.kind_ += " " + type_name(input);
    made_.kind_ += " -> " + type_name(output);
  }

  void add_post_ops(const Extents& output, Type type) {
    dnnl::post_ops post_ops;
    for (std::size_t left = below(3); left > 0; --left) {
      if (chance(15)) {
        post_ops.append_sum(1.0F, 0, type);
        made_.post_ops_text_ += "+sum";
      } else if (chance(50)) {
        append_eltwise(post_ops, kFunctions[below(kFunctions.size())], 0.5F, 1.5F);
        made_.post_ops_text_ += "+eltwise";
      } else {
        add_operand(post_ops, output);
      }
    }
    made_.attributes_.set_post_ops(post_ops);
  }
  void add_operand(dnnl::post_ops& post_ops, const Extents& output) {
    Extents extents(output.size(), 1);
    if (chance(30)) extents = output;
    if (chance(50)) extents[1] = output[1];
    const Descriptor operand = plain(extents, any_type());
    const int position = post_ops.len();
    post_ops.append_binary(kArithmetic[below(kArithmetic.size())], operand);
    made_.operands_.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1,
                                 operand);
    made_.post_ops_text_ += "+binary";
  }

  // The types of data, weights and output of a product: of bfloat16, or of bytes whose sums are
  // integers or become bfloat16.
  std::array<Type, 3> product_types() {
    if (chance(50)) return {Type::bf16, Type::bf16, one_of({Type::bf16, Type::f32})};
    return {byte_type(), Type::s8, new_type()};
  }

  void convolution() {
    const std::size_t rank = chance(80) ? 2 : one_of<std::size_t>({1, 3});
    const int64_t groups = chance(70) ? 1 : between(2, 9);
    const int64_t depth = groups == 1 ? channels() : one_of<int64_t>({1, 1, 2, 3, 8});
    const int64_t outputs = groups == 1 ? channels() : one_of<int64_t>({1, 1, 2, 3, 8});
    Extents x = {between(1, 2), depth * groups}, w = {outputs, depth}, y = {x[0], outputs * groups};
    Windows windows;
    for (std::size_t i = 0; i < rank; ++i) {
      const int64_t kernel = one_of<int64_t>({1, 1, 2, 3, 3, 5});
      windows.strides.push_back(chance(70) ? 1 : 2);
      windows.dilations.push_back(0);
      windows.pads_begin.push_back(between(0, kernel / 2));
      windows.pads_end.push_back(between(0, kernel / 2));
      x.push_back(kernel + between(0, 12));
      w.push_back(kernel);
      const int64_t room = x.back() + windows.pads_begin[i] + windows.pads_end[i] - kernel;
      y.push_back(room / windows.strides[i] + 1);
    }
    if (groups > 1) w.insert(w.begin(), groups);
    const auto [data, weights, output] = product_types();
    name("convolution", {data, weights}, output);
    add_post_ops(y, output);
    made_.arguments_ = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    const bool has_bias = chance(50);
    if (has_bias) made_.arguments_.push_back(DNNL_ARG_BIAS);
    const Descriptor bias =
        plain({y[1]}, one_of({Type::f32, data == Type::bf16 ? Type::bf16 : Type::s32}));
    const ConvolutionLayouts layouts = {any(x, data), any(w, weights), any(y, output), nullptr};
    made_.describe_ = [=](const PrimitiveSettings& settings) {
      ConvolutionLayouts all = layouts;
      if (has_bias) all.bias = &bias;
      return describe_convolution(settings, all, windows);
    };
  }

  void product() {
    Extents a, b, y;
    for (int64_t i = between(0, 2); i > 0; --i) a.push_back(between(1, 3));
    b = y = a;
    const int64_t rows = between(1, 9), depth = channels(), columns = channels();
    a.insert(a.end(), {rows, depth});
    b.insert(b.end(), {depth, columns});
    y.insert(y.end(), {rows, columns});
    const auto [left, right, output] = product_types();
    name("matmul", {left, right}, output);
    add_post_ops(y, output);
    made_.arguments_ = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    const bool has_bias = chance(40);
    if (has_bias) made_.arguments_.push_back(DNNL_ARG_BIAS);
    Extents row(y.size(), 1);
    row.back() = columns;
    const Descriptor bias = plain(row, one_of({Type::f32, Type::bf16, Type::s32}));
    const Descriptor of_a = plain(a, left), of_y = plain(y, output);
    const Descriptor of_b = chance(60) ? any(b, right) : plain(b, right);
    made_.describe_ = [=](const PrimitiveSettings& settings) {
      return describe_matmul(settings, of_a, of_b, has_bias ? &bias : nullptr, of_y);
    };
  }

  void pooling() {
    const Extents x = image();
    Extents y = {x[0], x[1]}, kernel;
    Windows windows;
    for (std::size_t i = 2; i < x.size(); ++i) {
      kernel.push_back(between(1, std::min<int64_t>(x[i], 4)));
      windows.strides.push_back(between(1, 2));
      windows.dilations.push_back(0);
      windows.pads_begin.push_back(between(0, kernel.back() / 2));
      windows.pads_end.push_back(between(0, kernel.back() / 2));
      const int64_t room =
          x[i] + windows.pads_begin.back() + windows.pads_end.back() - kernel.back();
      y.push_back(room / windows.strides.back() + 1);
    }
    const Type type = new_type();
    name("pooling", {type}, type);
    add_post_ops(y, type);
    made_.arguments_ = {DNNL_ARG_SRC, DNNL_ARG_DST};
    const Descriptor data = laid_out(x, type), output = any(y, type);
    const auto function = one_of({algorithm::pooling_max, algorithm::pooling_avg_include_padding,
                                  algorithm::pooling_avg_exclude_padding});
    made_.describe_ = [=](const PrimitiveSettings& settings) {
      return describe_pooling(settings, function, data, output, kernel, windows);
    };
  }

  void arithmetic() {
    const Extents x = image();
    Extents operand = x;
    for (int64_t& extent : operand) extent = chance(40) ? 1 : extent;
    std::array<Type, 3> types = {any_type(), any_type(), any_type()};
    if (chance(60)) types.fill(Type::bf16);
    if (!is_new(types[0]) && !is_new(types[1])) types[2] = new_type();
    name("binary", {types[0], types[1]}, types[2]);
    add_post_ops(x, types[2]);
    made_.arguments_ = {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_DST};
    const Descriptor a = laid_out(x, types[0]), b = plain(operand, types[1]);
    const Descriptor output = chance(50) ? any(x, types[2]) : laid_out(x, types[2]);
    const algorithm function = kArithmetic[below(kArithmetic.size())];
    made_.describe_ = [=](const PrimitiveSettings& settings) {
      return describe_binary(settings, function, a, b, output);
    };
  }

  void elementwise() {
    const Extents x = image();
    const Type type = new_type();
    name("eltwise", {type}, type);
    made_.arguments_ = {DNNL_ARG_SRC, DNNL_ARG_DST};
    const Descriptor data = laid_out(x, type);
    const algorithm function = kFunctions[below(kFunctions.size())];
    made_.describe_ = [=](const PrimitiveSettings& settings) {
      return describe_eltwise(settings, function, data, 0.5F, 1.5F);
    };
  }

  void normalisation() {
    const Extents x = image();
    made_.arguments_ = {DNNL_ARG_SRC, DNNL_ARG_DST};
    const Descriptor data = laid_out(x, Type::bf16);
    switch (below(4)) {
      case 0:
        name("batch normalization", {Type::bf16}, Type::bf16);
        made_.arguments_.insert(made_.arguments_.end(), {DNNL_ARG_MEAN, DNNL_ARG_VARIANCE});
        made_.describe_ = [=](const PrimitiveSettings& settings) {
          return describe_batch_normalization(settings, data, 1e-5F,
                                              dnnl::normalization_flags::use_global_stats);
        };
        break;
      case 1:
        name("layer normalization", {Type::bf16}, Type::bf16);
        made_.describe_ = [=](const PrimitiveSettings& settings) {
          return describe_layer_normalization(settings, data, 1e-5F,
                                              dnnl::normalization_flags::none);
        };
        break;
      case 2:
        name("lrn", {Type::bf16}, Type::bf16);
        made_.describe_ = [=, size = one_of<int64_t>({3, 5})](const PrimitiveSettings& settings) {
          return describe_lrn(settings, data, size, 1e-4F, 0.75F, 1);
        };
        break;
      default:
        name("softmax", {Type::bf16}, Type::bf16);
        made_.describe_ =
            [=, axis = static_cast<int>(below(x.size()))](const PrimitiveSettings& settings) {
              return describe_softmax(settings, algorithm::softmax_accurate, data, axis);
            };
    }
  }

  void movement() {
    const Extents x = image();
    if (chance(60)) {
      Type from = any_type(), to = any_type();
      if (!is_new(from) && !is_new(to)) to = new_type();
      name("reorder", {from}, to);
      made_.arguments_ = {DNNL_ARG_FROM, DNNL_ARG_TO};
      const Descriptor source = laid_out(x, from), destination = laid_out(x, to);
      made_.describe_ = [=](const PrimitiveSettings& settings) {
        return describe_reorder(settings, source, destination);
      };
      return;
    }
    const Type type = new_type();
    name("concat", {type}, type);
    const auto axis = below(x.size());
    std::vector<Descriptor> sources;
    Extents y = x;
    y[axis] = 0;
    made_.arguments_ = {DNNL_ARG_DST};
    for (int i = 0; i < 3; ++i) {
      Extents part = x;
      part[axis] = between(1, 19);
      y[axis] += part[axis];
      sources.push_back(laid_out(part, type));
      made_.arguments_.push_back(DNNL_ARG_MULTIPLE_SRC + i);
    }
    const Descriptor output = any(y, type);
    made_.describe_ = [=](const PrimitiveSettings& settings) {
      return describe_concat(settings, sources, static_cast<int>(axis), output);
    };
  }

  void reduction() {
    const Extents x = image();
    Extents y = x;
    for (int64_t& extent : y) extent = chance(50) ? 1 : extent;
    y[1] = 1;
    const Type from = chance(70) ? new_type() : byte_type();
    const Type to = is_new(from) ? one_of({from, Type::f32}) : Type::s32;
    name("reduction", {from}, to);
    made_.arguments_ = {DNNL_ARG_SRC, DNNL_ARG_DST};
    const Descriptor data = laid_out(x, from), output = any(y, to);
    const auto function = one_of({algorithm::reduction_sum, algorithm::reduction_max,
                                  algorithm::reduction_mean, algorithm::reduction_min});
    made_.describe_ = [=](const PrimitiveSettings& settings) {
      return describe_reduction(settings, function, data, output);
    };
  }

  std::mt19937_64 random_;
  RandomPrimitive& made_;
};

RandomPrimitive::RandomPrimitive(uint64_t seed, const dnnl::engine& engine) : engine_(engine) {
  attributes_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  Maker(seed, *this).make();
}

std::pair<dnnl::primitive, std::vector<TrialArgument>> RandomPrimitive::implementation(
    std::size_t number) const {
  const dnnl::primitive_desc_base descriptor = describe_({engine_, attributes_, number});
  std::vector<TrialArgument> arguments;
  const auto add = [&](int argument, const Descriptor& layout) {
    arguments.push_back({argument, layout, static_cast<uint32_t>(arguments.size()), nullptr});
  };
  for (const int one : arguments_) add(one, descriptor.query_md(dnnl::query::exec_arg_md, one));
  for (const auto& [argument, layout] : operands_) add(argument, layout);
  const Descriptor scratchpad = descriptor.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD);
  if (scratchpad.get_size() > 0) add(DNNL_ARG_SCRATCHPAD, scratchpad);
  return {dnnl::primitive(descriptor.get()), std::move(arguments)};
}

}  // namespace ephost_dnnl::test
