// Operators that move elements without computing: every width of element, strings, empty tensors,
// negative axes, and views with unusual strides.
#include <limits>
#include <numeric>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::data_movement_test {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(count_of(shape)));
  std::iota(values.begin(), values.end(), 0.0F);
  return floats(shape, values);
}

// The same numbers as elements of another type.
std::vector<Tensor> in_all_types(const Shape& shape, const std::vector<int>& values) {
  std::vector<Tensor> all = {tensor<int8_t>(shape, {values.begin(), values.end()}),
                             tensor<int16_t>(shape, {values.begin(), values.end()}),
                             tensor<float>(shape, {values.begin(), values.end()}),
                             tensor<int64_t>(shape, {values.begin(), values.end()})};
  Tensor complex = {EPH_ELEMENT_COMPLEX128, shape, {}, {}};
  Tensor texts = {EPH_ELEMENT_STRING, shape, {}, {}};
  for (const int value : values) {
    complex.bytes.insert(complex.bytes.end(), 16, static_cast<char>(value));
    texts.strings.push_back("text number " + std::to_string(value));
  }
  all.push_back(complex);
  all.push_back(texts);
  return all;
}

// Runs nodes with one data input on every type; further inputs stay as they are.
void expect_in_all_types(const std::string& op_type, int32_t version, const Shape& shape,
                         const std::vector<int>& values, const std::vector<Tensor>& more,
                         const Attributes& attributes, const Shape& out,
                         const std::vector<int>& expected) {
  const std::vector<Tensor> from = in_all_types(shape, values);
  const std::vector<Tensor> to = in_all_types(out, expected);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::vector<Tensor> inputs = {from[i]};
    inputs.insert(inputs.end(), more.begin(), more.end());
    EXPECT_THAT(run_node(op_type, version, inputs, attributes), Gives(std::vector<Tensor>{to[i]}))
        << op_type << " of type " << from[i].type;
  }
}

const std::vector<int> kSix = {1, 2, 3, 4, 5, 6};

TEST(DataMovement, WorksOnEveryElementType) {
  expect_in_all_types("Transpose", 13, {2, 3}, kSix, {}, {}, {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_in_all_types("Transpose", 13, {2, 3}, kSix, {}, {{"perm", std::vector<int64_t>()}}, {3, 2},
                      {1, 4, 2, 5, 3, 6});
  expect_in_all_types("Reshape", 14, {2, 3}, kSix, {ints({3, -1})}, {}, {3, 2}, kSix);
  expect_in_all_types("Identity", 14, {2, 3}, kSix, {}, {}, {2, 3}, kSix);
  expect_in_all_types("Slice", 13, {2, 3}, kSix,
                      {ints({2}), ints({kLowest}), ints({1}), ints({-2})}, {}, {2, 2},
                      {3, 1, 6, 4});
  expect_in_all_types("Expand", 13, {3}, {1, 2, 3}, {ints({2, 1})}, {}, {2, 3}, {1, 2, 3, 1, 2, 3});
  expect_in_all_types("Tile", 13, {1, 2}, {1, 2}, {ints({2, 2})}, {}, {2, 4},
                      {1, 2, 1, 2, 1, 2, 1, 2});
  expect_in_all_types("Gather", 13, {3, 2}, kSix, {ints({-1, 0})}, {}, {2, 2}, {5, 6, 1, 2});
  expect_in_all_types("GatherElements", 13, {3, 2}, kSix, {tensor<int32_t>({1, 2}, {2, -2})}, {},
                      {1, 2}, {5, 4});
  expect_in_all_types("GatherND", 13, {3, 2}, kSix, {tensor<int64_t>({2, 2}, {0, 1, -1, 0})}, {},
                      {2}, {2, 5});
  expect_in_all_types("Pad", 13, {2}, {1, 2}, {ints({2, 1})}, {{"mode", std::string("edge")}}, {5},
                      {1, 1, 1, 2, 2});
  expect_in_all_types("DepthToSpace", 13, {1, 4, 1, 1}, {1, 2, 3, 4}, {},
                      {{"blocksize", int64_t{2}}}, {1, 1, 2, 2}, {1, 2, 3, 4});
}

TEST(Concat, JoinsAlongAnyAxisAndSkipsEmptyInputs) {
  const Tensor a = floats({2, 1}, {1, 2});
  const Tensor b = floats({2, 2}, {3, 4, 5, 6});
  const Tensor none = floats({2, 0}, {});
  EXPECT_THAT(run_node("Concat", 13, {a, none, b}, {{"axis", int64_t{-1}}}),
              Gives(std::vector<Tensor>{floats({2, 3}, {1, 3, 4, 2, 5, 6})}));
  EXPECT_THAT(run_node("Concat", 13, {strings({1}, {"a"}), strings({2}, {"b", "c"})},
                       {{"axis", int64_t{0}}}),
              Gives(std::vector<Tensor>{strings({3}, {"a", "b", "c"})}));
}

TEST(Split, TakesSizesFromAttributeOrInputAndOmitsUnwantedParts) {
  const Tensor x = floats({5}, {1, 2, 3, 4, 5});
  EXPECT_THAT(
      run_node("Split", 11, {x}, {{"split", std::vector<int64_t>{2, 0, 3}}}, 3),
      Gives(std::vector<Tensor>{floats({2}, {1, 2}), floats({0}, {}), floats({3}, {3, 4, 5})}));
  SingleNodeGraph node("Split", 13);
  node.input(x).input(ints({4, 1})).skip_output().output();
  const Outcome outcome = cpu_session().run(node);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(outcome.outputs[1], floats({1}, {5})), "");
}

TEST(Transpose, ReordersLargeTensorsInTiles) {
  const Shape shape = {3, 37, 5, 70};
  const Tensor x = counting(shape);
  for (const std::vector<int64_t>& order :
       {std::vector<int64_t>{0, 2, 1, 3}, {0, 3, 1, 2}, {3, 2, 1, 0}, {1, 3, 0, 2}, {0, 1, 2, 3}}) {
    Shape out;
    for (const int64_t axis : order) out.push_back(shape[static_cast<std::size_t>(axis)]);
    const std::vector<float> y = values_of<float>(run_one("Transpose", 13, {x}, {{"perm", order}}));
    ASSERT_EQ(y.size(), static_cast<std::size_t>(count_of(shape)));
    for (int64_t i = 0; i < count_of(shape); i += 7) {
      int64_t rest = i;
      Shape index(4);
      for (std::size_t d = 4; d-- > 0;) {
        index[static_cast<std::size_t>(order[d])] = rest % out[d];
        rest /= out[d];
      }
      const int64_t from = ((index[0] * 37 + index[1]) * 5 + index[2]) * 70 + index[3];
      ASSERT_EQ(y[static_cast<std::size_t>(i)], static_cast<float>(from));
    }
  }
}

TEST(Slice, ClampsBoundsAsPythonDoes) {
  const Tensor x = counting({6});
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return values_of<float>(
        run_one("Slice", 13, {x, ints({start}), ints({end}), ints({0}), ints({step})}));
  };
  EXPECT_EQ(slice(-100, 100, 4), (std::vector<float>{0, 4}));
  EXPECT_EQ(slice(100, -100, -2), (std::vector<float>{5, 3, 1}));
  EXPECT_EQ(slice(4, 2, 1), std::vector<float>{});
  EXPECT_EQ(slice(0, kHighest, kHighest), std::vector<float>{0});
  EXPECT_EQ(slice(kHighest, kLowest, kLowest), std::vector<float>{5});
  EXPECT_EQ(values_of<float>(
                run_one("Slice", 1, {x},
                        {{"starts", std::vector<int64_t>{1}}, {"ends", std::vector<int64_t>{-1}}})),
            (std::vector<float>{1, 2, 3, 4}));
}

TEST(Reshape, CopiesOrKeepsZeros) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(run_one("Reshape", 5, {x, ints({0, -1})}).shape, (Shape{2, 12}));
  EXPECT_EQ(
      run_one("Reshape", 14, {floats({0, 3}, {}), ints({3, 0})}, {{"allowzero", int64_t{1}}}).shape,
      (Shape{3, 0}));
  EXPECT_EQ(run_one("Reshape", 14, {floats({0, 3}, {}), ints({0, -1})}).shape, (Shape{0, 0}));
  EXPECT_EQ(run_one("Reshape", 14, {floats({1}, {7}), ints({})}).shape, Shape{});
}

TEST(ReshapingOperators, TakeAxesInEitherForm) {
  const Tensor x = counting({1, 3, 1, 2});
  const Attributes axes = {{"axes", std::vector<int64_t>{0, -2}}};
  EXPECT_EQ(run_one("Squeeze", 11, {x}, axes).shape, (Shape{3, 2}));
  EXPECT_EQ(run_one("Squeeze", 13, {x, ints({2})}).shape, (Shape{1, 3, 2}));
  EXPECT_EQ(run_one("Squeeze", 13, {x}).shape, (Shape{3, 2}));
  EXPECT_EQ(run_one("Unsqueeze", 11, {counting({3})}, {{"axes", std::vector<int64_t>{2, 0}}}).shape,
            (Shape{1, 3, 1}));
  EXPECT_EQ(run_one("Unsqueeze", 13, {counting({3}), ints({-1})}).shape, (Shape{3, 1}));
  EXPECT_EQ(run_one("Flatten", 13, {x}, {{"axis", int64_t{-1}}}).shape, (Shape{3, 2}));
  EXPECT_EQ(run_one("Flatten", 13, {x}, {{"axis", int64_t{4}}}).shape, (Shape{6, 1}));
}

TEST(ReshapingOperators, CopyNothingWhereTheMemoryIsShared) {
  for (const char* op_type : {"Identity", "Flatten", "Dropout"}) {
    SingleNodeGraph node(op_type, 13);
    node.input(counting({2, 3})).output(counting({2, 3}));
    Outcome outcome;
    const auto kernel = cpu_session().create(node, &outcome);
    ASSERT_NE(kernel, nullptr) << outcome.message;
    ASSERT_EQ(kernel->info().alias_count, 1U) << op_type;
    const Outcome shared = kernel->run(eph_slot_pair{0, 0});
    ASSERT_THAT(shared, IsOk());
    EXPECT_EQ(difference(shared.outputs[0], counting({2, 3})), "");
  }
}

TEST(Dropout, KeepsEverythingAndSaysSoInTheMask) {
  const Tensor x = counting({3});
  EXPECT_THAT(run_node("Dropout", 7, {x}, {}, 2),
              Gives(std::vector<Tensor>{x, floats({3}, {1, 1, 1})}));
  EXPECT_THAT(run_node("Dropout", 10, {x}, {}, 2),
              Gives(std::vector<Tensor>{x, bools({3}, {1, 1, 1})}));
  EXPECT_THAT(run_node("Dropout", 13, {x, floats({}, {0.5F}), bools({}, {0})}, {}, 2),
              Gives(std::vector<Tensor>{x, bools({3}, {1, 1, 1})}));
}

TEST(Pad, RepeatsFourBitNumbers) {
  const auto nibbles = [](Shape shape, std::vector<char> bytes) {
    return Tensor{EPH_ELEMENT_UINT4, std::move(shape), std::move(bytes), {}};
  };
  const Tensor x = nibbles({3}, {0x21, 0x03});  // 1 2 3
  const auto pad = [&](const char* mode) {
    return run_one("Pad", 21, {x, ints({2, 2})}, {{"mode", std::string(mode)}}).bytes;
  };
  EXPECT_EQ(pad("reflect"), (std::vector<char>{0x23, 0x21, 0x23, 0x01}));  // 3 2 1 2 3 2 1
  EXPECT_EQ(pad("edge"), (std::vector<char>{0x11, 0x21, 0x33, 0x03}));     // 1 1 1 2 3 3 3
  EXPECT_EQ(pad("wrap"), (std::vector<char>{0x32, 0x21, 0x13, 0x02}));     // 2 3 1 2 3 1 2
}

TEST(Pad, RepeatsTwoBitNumbers) {
  const Tensor x = {EPH_ELEMENT_INT2, {3}, {0x39}, {}};  // the codes 1 2 3
  const auto pad = [&](const char* mode) {
    return run_one("Pad", 25, {x, ints({2, 2})}, {{"mode", std::string(mode)}}).bytes;
  };
  const auto packed = [](int first, int second) {
    return std::vector<char>{static_cast<char>(first), static_cast<char>(second)};
  };
  EXPECT_EQ(pad("reflect"), packed(0x9b, 0x1b));  // 3 2 1 2, 3 2 1
  EXPECT_EQ(pad("edge"), packed(0x95, 0x3f));     // 1 1 1 2, 3 3 3
  EXPECT_EQ(pad("wrap"), packed(0x9e, 0x27));     // 2 3 1 2, 3 1 2
}

TEST(Pad, CropsWithNegativePadsAndReflectsFarBeyondTheEdge) {
  const Tensor x = counting({2, 4});
  EXPECT_THAT(run_node("Pad", 13, {x, ints({0, -1, 1, -2}), floats({}, {9})}),
              Gives(std::vector<Tensor>{floats({3, 1}, {1, 5, 9})}));
  EXPECT_THAT(
      run_node("Pad", 13, {counting({3}), ints({5, 4})}, {{"mode", std::string("reflect")}}),
      Gives(std::vector<Tensor>{floats({12}, {1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2})}));
  EXPECT_THAT(
      run_node("Pad", 13, {counting({1}), ints({2, 1})}, {{"mode", std::string("reflect")}}),
      Gives(std::vector<Tensor>{floats({4}, {0, 0, 0, 0})}));
  EXPECT_THAT(
      run_node("Pad", 2, {counting({2})}, {{"pads", std::vector<int64_t>{1, 0}}, {"value", 5.0F}}),
      Gives(std::vector<Tensor>{floats({3}, {5, 0, 1})}));
  EXPECT_THAT(run_node("Pad", 13, {strings({1}, {"a"}), ints({0, 1}), strings({}, {"z"})}),
              Gives(std::vector<Tensor>{strings({2}, {"a", "z"})}));
}

TEST(Constants, ComeInEveryForm) {
  EXPECT_THAT(run_node("Constant", 13, {}, {{"value", floats({2}, {1, 2})}}),
              Gives(std::vector<Tensor>{floats({2}, {1, 2})}));
  EXPECT_THAT(run_node("Constant", 13, {}, {{"value_int", int64_t{7}}}),
              Gives(std::vector<Tensor>{tensor<int64_t>({}, {7})}));
  EXPECT_THAT(run_node("Constant", 13, {}, {{"value_floats", std::vector<float>{1, 2}}}),
              Gives(std::vector<Tensor>{floats({2}, {1, 2})}));
  EXPECT_THAT(run_node("Constant", 13, {}, {{"value_strings", std::vector<std::string>{"x", "y"}}}),
              Gives(std::vector<Tensor>{strings({2}, {"x", "y"})}));
  EXPECT_THAT(run_node("ConstantOfShape", 9, {ints({2, 2})}, {{"value", tensor<int8_t>({1}, {3})}}),
              Gives(std::vector<Tensor>{tensor<int8_t>({2, 2}, {3, 3, 3, 3})}));
  EXPECT_THAT(run_node("ConstantOfShape", 9, {ints({0})}),
              Gives(std::vector<Tensor>{floats({0}, {})}));
}

TEST(Range, CountsInBothDirectionsUpToTheEndOfTheType) {
  const auto range = [](int64_t start, int64_t limit, int64_t delta) {
    const auto scalar = [](int64_t value) { return tensor<int64_t>({}, {value}); };
    return values_of<int64_t>(run_one("Range", 11, {scalar(start), scalar(limit), scalar(delta)}));
  };
  EXPECT_EQ(range(0, 7, 3), (std::vector<int64_t>{0, 3, 6}));
  EXPECT_EQ(range(5, -1, -4), (std::vector<int64_t>{5, 1}));
  EXPECT_EQ(range(5, 5, 1), std::vector<int64_t>{});
  EXPECT_EQ(range(kLowest, kHighest, kHighest), (std::vector<int64_t>{kLowest, -1, kHighest - 1}));
}

TEST(Cast, SaturatesRoundsAndReadsText) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto to = [](int32_t type) { return Attributes{{"to", int64_t{type}}}; };
  EXPECT_THAT(
      run_node("Cast", 13, {floats({5}, {1.9F, -1.9F, 300, -300, nan})}, to(EPH_ELEMENT_INT8)),
      Gives(std::vector<Tensor>{tensor<int8_t>({5}, {1, -1, 127, -128, 0})}));
  EXPECT_THAT(run_node("Cast", 13, {floats({3}, {-5, 0.5F, 1e30F})}, to(EPH_ELEMENT_UINT64)),
              Gives(std::vector<Tensor>{
                  tensor<uint64_t>({3}, {0, 0, std::numeric_limits<uint64_t>::max()})}));
  EXPECT_THAT(run_node("Cast", 13, {ints({257, -1})}, to(EPH_ELEMENT_UINT8)),
              Gives(std::vector<Tensor>{tensor<uint8_t>({2}, {1, 255})}));
  EXPECT_THAT(run_node("Cast", 13, {floats({3}, {0, nan, 0.25F})}, to(EPH_ELEMENT_BOOL)),
              Gives(std::vector<Tensor>{bools({3}, {0, 1, 1})}));
  EXPECT_THAT(run_node("Cast", 13, {strings({4}, {" 42 ", "+7", "-9223372036854775808", "1e2"})},
                       to(EPH_ELEMENT_INT64)),
              Gives(std::vector<Tensor>{ints({42, 7, kLowest, 100})}));
  EXPECT_THAT(run_node("Cast", 13, {strings({3}, {"INF", "-inf", "NaN"})}, to(EPH_ELEMENT_FLOAT)),
              Gives(std::vector<Tensor>{floats({3}, {INFINITY, -INFINITY, nan})}));
  EXPECT_THAT(run_node("Cast", 13, {floats({3}, {0.1F, -INFINITY, nan})}, to(EPH_ELEMENT_STRING)),
              Gives(std::vector<Tensor>{strings({3}, {"0.1", "-INF", "NaN"})}));
}

// Each half-precision number, and the points half-way between neighbours.
TEST(Cast, RoundsEveryHalfToNearestEven) {
  std::vector<int16_t> bits;
  for (int i = 0; i < 0x7c01; ++i) bits.push_back(static_cast<int16_t>(i));
  Tensor halves = tensor<int16_t>({0x7c01}, bits);
  halves.type = EPH_ELEMENT_FLOAT16;
  const Tensor wide = run_one("Cast", 13, {halves}, {{"to", int64_t{EPH_ELEMENT_DOUBLE}}});
  EXPECT_EQ(
      difference(run_one("Cast", 13, {wide}, {{"to", int64_t{EPH_ELEMENT_FLOAT16}}}), halves, 0, 0),
      "");
  const std::vector<double> values = values_of<double>(wide);
  std::vector<double> between;
  std::vector<int16_t> expected;
  for (std::size_t i = 0; i + 2 < values.size(); ++i) {
    const double middle = (values[i] + values[i + 1]) / 2;
    between.insert(between.end(), {middle, std::nextafter(middle, 0), std::nextafter(middle, 1e9)});
    const auto even = static_cast<int16_t>(i % 2 == 0 ? i : i + 1);
    expected.insert(expected.end(), {even, static_cast<int16_t>(i), static_cast<int16_t>(i + 1)});
  }
  const auto count = static_cast<int64_t>(between.size());
  const Tensor y = run_one("Cast", 13, {tensor<double>({count}, between)},
                           {{"to", int64_t{EPH_ELEMENT_FLOAT16}}});
  EXPECT_EQ(values_of<int16_t>(y), expected);
}

TEST(OneHot, LeavesOutIndicesOutOfRange) {
  EXPECT_THAT(
      run_node("OneHot", 11, {ints({1, -1, 5}), ints({3}), strings({2}, {"-", "X"})}),
      Gives(std::vector<Tensor>{strings({3, 3}, {"-", "X", "-", "-", "-", "X", "-", "-", "-"})}));
  EXPECT_THAT(run_node("OneHot", 11, {floats({2}, {0, 1}), floats({}, {2}), ints({4, 9})},
                       {{"axis", int64_t{0}}}),
              Gives(std::vector<Tensor>{tensor<int64_t>({2, 2}, {9, 4, 4, 9})}));
}

TEST(NonZero, ListsPositionsByDimension) {
  EXPECT_THAT(run_node("NonZero", 13, {bools({2, 2}, {1, 0, 2, 1})}),
              Gives(std::vector<Tensor>{tensor<int64_t>({2, 3}, {0, 1, 1, 0, 0, 1})}));
  EXPECT_THAT(run_node("NonZero", 13, {floats({3}, {0, 0, 0})}),
              Gives(std::vector<Tensor>{tensor<int64_t>({1, 0}, {})}));
}

TEST(ShapeOperators, SliceTheShapeAndCountElements) {
  const Tensor x = floats({2, 0, 5}, {});
  EXPECT_THAT(run_node("Shape", 15, {x}, {{"start", int64_t{-2}}, {"end", int64_t{100}}}),
              Gives(std::vector<Tensor>{ints({0, 5})}));
  EXPECT_THAT(run_node("Shape", 15, {x}, {{"start", int64_t{2}}, {"end", int64_t{1}}}),
              Gives(std::vector<Tensor>{ints({})}));
  EXPECT_THAT(run_node("Size", 13, {x}), Gives(std::vector<Tensor>{tensor<int64_t>({}, {0})}));
}

// Extents whose products overflow are fine as long as there are no elements.
TEST(DataMovement, TakesHugeShapesWithoutElements) {
  const int64_t huge = int64_t{1} << 40;
  const Tensor x = floats({0, huge, huge}, {});
  EXPECT_THAT(run_node("Transpose", 13, {x}), IsOk());
  EXPECT_THAT(run_node("Concat", 13, {x, x}, {{"axis", int64_t{1}}}), IsOk());
  EXPECT_THAT(run_node("Split", 13, {x}, {{"axis", int64_t{1}}}, 2), IsOk());
  EXPECT_THAT(run_node("Slice", 13, {x, ints({5}), ints({9}), ints({1})}), IsOk());
  EXPECT_THAT(run_node("Add", 14, {x, x}), IsOk());
  EXPECT_THAT(run_node("ReduceSum", 13, {x, ints({2})}), IsOk());
}

}  // namespace
}  // namespace ephost::test::data_movement_test
