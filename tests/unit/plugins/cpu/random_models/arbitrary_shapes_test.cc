// Gives every kernel of the list random types, shapes and numbers, most of which are invalid. A
// kernel may refuse or answer; the sanitizers check that it does nothing undefined.
#include <algorithm>
#include <cmath>

#include "host/conformance/random/numbers/dice.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::arbitrary_shapes_test {

using conformance::Dice;

namespace {

// Mostly `like`, sometimes any shape.
Shape any_shape(Dice& dice, const Shape& like) {
  if (dice.roll(0, 2) != 0) return like;
  Shape made(static_cast<std::size_t>(dice.roll(0, 6)));
  for (int64_t& extent : made) extent = dice.pick<int64_t>({0, 1, 1, 2, 2, 3, 4, 5});
  return made;
}

void set_element(Dice& dice, Tensor& made, std::size_t at, std::size_t size, int64_t kind) {
  char* to = made.bytes.data() + at;
  const int64_t small = dice.roll(-3, 5);
  if (kind == 0) {
    for (std::size_t b = 0; b < size; ++b) to[b] = static_cast<char>(dice.roll(0, 255));
  } else if (made.type == EPH_ELEMENT_FLOAT) {
    const auto value = static_cast<float>(small) / 2;
    std::memcpy(to, &value, size);
  } else if (made.type == EPH_ELEMENT_DOUBLE) {
    const auto value = static_cast<double>(small) / 2;
    std::memcpy(to, &value, size);
  } else if (kind == 1 && size == 8) {
    const auto value = dice.pick<int64_t>({INT64_MIN, INT64_MAX, -1, 0, int64_t{1} << 40});
    std::memcpy(to, &value, size);
  } else {
    std::memcpy(to, &small, std::min(size, sizeof(small)));  // little-endian
  }
}

// Small numbers, the limits of the type, and anything.
Tensor any_tensor(Dice& dice, int32_t type, const Shape& shape) {
  Tensor made = {type, shape, {}, {}};
  const auto count = static_cast<std::size_t>(count_of(shape));
  if (type == EPH_ELEMENT_STRING) {
    made.strings.assign(count, dice.pick<std::string>({"", "a", "-1.5", "1e999", "\xff"}));
    return made;
  }
  const std::size_t size = storage_bytes(type, 1);
  made.bytes.resize(storage_bytes(type, count));
  const int64_t kind = dice.roll(0, 3);
  for (std::size_t at = 0; at + size <= made.bytes.size(); at += size) {
    set_element(dice, made, at, size, kind);
  }
  return made;
}

std::vector<int32_t> types_of(uint64_t set) {
  std::vector<int32_t> types;
  for (int32_t type = 1; type <= EPH_ELEMENT_INT2; ++type) {
    if ((set >> type & 1) != 0) types.push_back(type);
  }
  return types;
}

// Attributes of many operators, most of which a given one does not have.
void add_attributes(Dice& dice, SingleNodeGraph& node) {
  const auto some = [&] { return dice.roll(0, 3) == 0; };
  const auto number = [&] {
    return dice.roll(0, 7) == 0
               ? dice.pick<int64_t>({INT64_MIN, INT64_MAX, INT64_MIN + 1, 1LL << 31, 1LL << 40})
               : dice.roll(-2, 4);
  };
  const auto real = [&] {
    return dice.roll(0, 7) == 0 ? dice.pick<float>({NAN, INFINITY, -INFINITY, 1e38F, -0.0F})
                                : static_cast<float>(dice.roll(-4, 8)) / 4;
  };
  for (const char* name : {"axis",
                           "keepdims",
                           "to",
                           "dtype",
                           "group",
                           "exclusive",
                           "reverse",
                           "fmod",
                           "p",
                           "block_size",
                           "output_dtype",
                           "batch_dims",
                           "num_outputs",
                           "onesided",
                           "inverse",
                           "periodic",
                           "sample_size",
                           "ignore_index",
                           "transA",
                           "transB",
                           "noop_with_empty_axes",
                           "ceil_mode",
                           "count_include_pad",
                           "select_last_index",
                           "largest",
                           "sorted",
                           "size",
                           "blocksize",
                           "output_datatype",
                           "saturate"}) {
    if (some()) node.attribute(name, number());
  }
  for (const char* name : {"axes", "pads", "strides", "dilations", "kernel_shape", "perm", "shape",
                           "split", "starts", "ends", "output_shape", "output_padding"}) {
    if (!some()) continue;
    std::vector<int64_t> values(static_cast<std::size_t>(dice.roll(0, 4)));
    for (int64_t& value : values) value = number();
    node.attribute(name, values);
  }
  for (const char* name : {"alpha", "beta", "epsilon", "low", "high", "bias", "lambd", "seed"}) {
    if (some()) node.attribute(name, real());
  }
  node.attribute("equation",
                 dice.pick<std::string>({"ij,jk->ik", "...i->...", "ii->i", "a,b,c", "ij"}));
  node.attribute("direction", dice.pick<std::string>({"LEFT", "RIGHT"}));
  node.attribute("reduction", dice.pick<std::string>({"mean", "sum", "none"}));
}

TEST(ArbitraryShapes, AreComputedOrRefused) {
  PluginSession& session = cpu_session();
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  FakeError error;
  ASSERT_EQ(session.api().get_kernels(session.provider(), &kernels, &count, &error), EPH_OK);
  uint32_t answered = 0;
  for (uint64_t k = 0; k < count; ++k) {
    const eph_kernel_def& kernel = kernels[k];
    const std::string op_type(eph::view(kernel.op_type));
    for (uint32_t seed = 0; seed < 40; ++seed) {
      Dice dice(std::to_string(seed) + " of kernel " + std::to_string(k));
      SingleNodeGraph node(op_type,
                           dice.roll(0, 1) == 0 ? kernel.since_version : kernel.until_version);
      node.domain(std::string(eph::view(kernel.domain)));
      const Shape like = any_shape(dice, {2, 3, 4});
      std::vector<uint64_t> sets;
      for (uint64_t r = 0; r < kernel.rule_count; ++r) {
        const eph_type_rule& rule = kernel.rules[r];
        if ((rule.flags & EPH_RULE_OUTPUT) != 0) continue;
        const int64_t copies = (rule.flags & EPH_RULE_VARIADIC) != 0 ? dice.roll(1, 4) : 1;
        sets.resize(std::max<std::size_t>(sets.size(), rule.slot),
                    uint64_t{1} << EPH_ELEMENT_FLOAT);
        for (int64_t i = 0; i < copies; ++i) sets.push_back(rule.element_types);
      }
      const int32_t first = sets.empty() ? 0 : dice.pick(types_of(sets[0]));
      for (std::size_t i = 0; i < sets.size(); ++i) {
        const bool same = (sets[i] >> first & 1) != 0 && dice.roll(0, 3) != 0;
        const Tensor tensor =
            any_tensor(dice, same ? first : dice.pick(types_of(sets[i])), any_shape(dice, like));
        if (dice.roll(0, 9) == 0 && i > 0) {
          node.skip_input();
        } else if (dice.roll(0, 3) == 0) {
          node.constant(tensor);
        } else {
          node.input(tensor);
        }
      }
      for (int64_t i = dice.roll(1, 4); i > 0; --i) {
        dice.roll(0, 5) == 0 ? node.skip_output() : node.output();
      }
      add_attributes(dice, node);
      node.state(dice.pick<Stated>({Stated::kNothing, Stated::kTypes, Stated::kTypesAndShapes}));
      const Outcome outcome = session.run(node);
      if (outcome.ok()) {
        ++answered;
      } else {
        EXPECT_THAT(outcome.message, ::testing::HasSubstr(op_type + " node 'tested': ")) << seed;
      }
    }
  }
  EXPECT_GT(answered, count * 4);
}

}  // namespace
}  // namespace ephost::test::arbitrary_shapes_test
