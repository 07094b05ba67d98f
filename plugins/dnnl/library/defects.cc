#include "plugins/dnnl/library/defects.h"

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "plugins/dnnl/library/descriptor.h"
#include "plugins/dnnl/library/guarded_memory.h"
#include "plugins/dnnl/library/primitives.h"
#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr float kFirst = 1, kSecond = 2;

// x + kFirst + kSecond, as two post-ops of one algorithm.
dnnl::primitive_attr two_additions() {
  dnnl::post_ops post_ops;
  append_eltwise(post_ops, dnnl::algorithm::eltwise_linear, 1, kFirst);
  append_eltwise(post_ops, dnnl::algorithm::eltwise_linear, 1, kSecond);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops);
  return attributes;
}

Descriptor floats(const dnnl::memory::dims& dims, Tag tag) {
  return {dims, dnnl::memory::data_type::f32, tag};
}

// Whether a primitive that maps zeros to zeros applies both additions, and stays inside its memory.
bool adds_both(const dnnl::primitive_desc_base& descriptor, const std::vector<int>& inputs,
               GuardedMemory::Side side) {
  const dnnl::engine engine = descriptor.get_engine();
  const Descriptor output = descriptor.query_md(dnnl::query::dst_md, 0);
  std::vector<std::size_t> sizes = {output.get_size()};
  for (const int input : inputs) {
    sizes.push_back(descriptor.query_md(dnnl::query::exec_arg_md, input).get_size());
  }
  const GuardedMemory guarded(sizes, side);  // of zeros
  std::unordered_map<int, dnnl::memory> arguments;
  arguments[DNNL_ARG_DST] = dnnl::memory(output, engine, guarded.data(0));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    arguments[inputs[i]] = dnnl::memory(descriptor.query_md(dnnl::query::exec_arg_md, inputs[i]),
                                        engine, guarded.data(i + 1));
  }
  dnnl::stream stream(engine);
  dnnl::primitive(descriptor.get()).execute(stream, arguments);
  stream.wait();
  const auto* result = static_cast<const float*>(guarded.data(0));
  return !guarded.touch() && std::all_of(result, result + output.get_size() / sizeof(float),
                                         [](float value) { return value == kFirst + kSecond; });
}

bool adds_both(const dnnl::primitive_desc_base& descriptor, const std::vector<int>& inputs) {
  return adds_both(descriptor, inputs, GuardedMemory::Side::kBehind) &&
         adds_both(descriptor, inputs, GuardedMemory::Side::kBefore);
}

bool product_adds_both(const dnnl::engine& engine, const dnnl::primitive_attr& attributes) {
  const Descriptor a = floats({4, 16}, Tag::ab), b = floats({16, 16}, Tag::any);
  return adds_both(describe_matmul({engine, attributes}, a, b, nullptr, a),
                   {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS});
}

bool convolution_adds_both(const dnnl::engine& engine, const dnnl::primitive_attr& attributes) {
  const Descriptor data = floats({1, 16, 4, 4}, Tag::any),
                   weights = floats({16, 16, 3, 3}, Tag::any);
  return adds_both(describe_convolution({engine, attributes}, {data, weights, data, nullptr},
                                        {{1, 1}, {0, 0}, {1, 1}, {1, 1}}),
                   {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS});
}

bool binary_adds_both(const dnnl::engine& engine, const dnnl::primitive_attr& attributes) {
  const Descriptor data = floats({4, 16}, Tag::ab);
  return adds_both(
      describe_binary({engine, attributes}, dnnl::algorithm::binary_add, data, data, data),
      {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1});
}

// A library that cannot be probed is not trusted.
bool probe() {
  const ThreadScope scope(1);  // waking other threads takes longer than the work
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const dnnl::primitive_attr attributes = two_additions();
    // The cheapest primitive comes first: if one is wrong, the others do not run.
    return !(binary_adds_both(engine, attributes) && product_adds_both(engine, attributes) &&
             convolution_adds_both(engine, attributes));
  } catch (const dnnl::error&) {
    return true;
  }
}

}  // namespace

bool mixes_up_equal_post_ops() {
  static const bool answer = probe();
  return answer;
}

}  // namespace ephost_dnnl
