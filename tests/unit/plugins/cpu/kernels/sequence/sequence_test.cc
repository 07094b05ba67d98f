// Operators on sequences and optionals.
#include "tests/unit/plugins/cpu/composite_run.h"

namespace ephost::test::sequence_test {
namespace {

const Tensor kFirst = floats({1, 2}, {1, 2});
const Tensor kSecond = floats({2, 2}, {3, 4, 5, 6});
const Tensor kThird = floats({1, 2}, {7, 8});
const Composite kThree = sequence({kFirst, kSecond, kThird});

Composite position(int64_t value) { return one(tensor<int64_t>({}, {value})); }

TEST(Sequences, AreConstructedFromTensors) {
  EXPECT_THAT(run_composite("SequenceConstruct", 11, {one(kFirst), one(kSecond), one(kThird)}),
              Yields(kThree));
  EXPECT_THAT(run_composite("SequenceEmpty", 11, {}), Yields(sequence({})));
  EXPECT_THAT(run_composite("SequenceConstruct", 11, {one(kFirst), std::nullopt}),
              Refuses(EPH_INVALID_ARGUMENT, "input 1"));
}

TEST(Sequences, YieldElementsCountedFromEitherEnd) {
  const auto at = [](Composite given) { return run_composite("SequenceAt", 11, {kThree, given}); };
  EXPECT_THAT(at(position(0)), Yields(one(kFirst)));
  EXPECT_THAT(at(position(2)), Yields(one(kThird)));
  EXPECT_THAT(at(position(-2)), Yields(one(kSecond)));
  EXPECT_THAT(at(one(tensor<int32_t>({1}, {1}))), Yields(one(kSecond)));
  EXPECT_THAT(at(position(3)), Refuses(EPH_INVALID_ARGUMENT, "position 3"));
  EXPECT_THAT(at(position(-4)), Refuses(EPH_INVALID_ARGUMENT, "position -4"));
  EXPECT_THAT(at(position(INT64_MIN)), Refuses(EPH_INVALID_ARGUMENT, "position"));
}

TEST(Sequences, InsertTensorsAnywhere) {
  const Composite two = sequence({kFirst, kThird});
  const auto insert = [&](std::optional<Composite> given) {
    return run_composite("SequenceInsert", 11, {two, one(kSecond), std::move(given)});
  };
  EXPECT_THAT(insert(position(0)), Yields(sequence({kSecond, kFirst, kThird})));
  EXPECT_THAT(insert(position(1)), Yields(kThree));
  EXPECT_THAT(insert(position(-1)), Yields(kThree));
  EXPECT_THAT(insert(position(2)), Yields(sequence({kFirst, kThird, kSecond})));
  EXPECT_THAT(insert(std::nullopt), Yields(sequence({kFirst, kThird, kSecond})));
  EXPECT_THAT(insert(position(3)), Refuses(EPH_INVALID_ARGUMENT, "position 3"));
  EXPECT_THAT(insert(position(-3)), Refuses(EPH_INVALID_ARGUMENT, "position -3"));
  EXPECT_THAT(run_composite("SequenceInsert", 11, {sequence({}), one(kFirst)}),
              Yields(sequence({kFirst})));
}

TEST(Sequences, EraseTensorsAnywhere) {
  const auto erase = [](std::optional<Composite> given) {
    return run_composite("SequenceErase", 11, {kThree, std::move(given)});
  };
  EXPECT_THAT(erase(position(0)), Yields(sequence({kSecond, kThird})));
  EXPECT_THAT(erase(position(-2)), Yields(sequence({kFirst, kThird})));
  EXPECT_THAT(erase(std::nullopt), Yields(sequence({kFirst, kSecond})));
  EXPECT_THAT(erase(position(3)), Refuses(EPH_INVALID_ARGUMENT, "position 3"));
  EXPECT_THAT(run_composite("SequenceErase", 11, {sequence({})}),
              Refuses(EPH_INVALID_ARGUMENT, "nothing to erase"));
}

TEST(Sequences, KnowTheirLength) {
  EXPECT_THAT(run_composite("SequenceLength", 11, {kThree}), Yields(position(3)));
  EXPECT_THAT(run_composite("SequenceLength", 11, {sequence({})}), Yields(position(0)));
  EXPECT_THAT(run_composite("SequenceLength", 11, {one(kFirst)}),
              Refuses(EPH_INVALID_ARGUMENT, "SequenceLength"));
}

TEST(SplitToSequence, SplitsAsRequested) {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto split = [&](std::optional<Composite> sizes, int64_t axis, int64_t keeps = 1) {
    return run_composite("SplitToSequence", 11, {one(x), std::move(sizes)},
                         {{"axis", axis}, {"keepdims", keeps}});
  };
  const Tensor last = floats({1, 2}, {5, 6});
  EXPECT_THAT(split(position(2), 0), Yields(sequence({floats({2, 2}, {1, 2, 3, 4}), last})));
  EXPECT_THAT(split(position(9), -2), Yields(sequence({x})));
  EXPECT_THAT(split(one(ints({0, 2})), 1), Yields(sequence({floats({3, 0}, {}), x})));
  EXPECT_THAT(split(one(tensor<int32_t>({2}, {2, 1})), 0),
              Yields(sequence({floats({2, 2}, {1, 2, 3, 4}), last})));
  EXPECT_THAT(split(std::nullopt, 1),
              Yields(sequence({floats({3, 1}, {1, 3, 5}), floats({3, 1}, {2, 4, 6})})));
  EXPECT_THAT(split(std::nullopt, 1, 0),
              Yields(sequence({floats({3}, {1, 3, 5}), floats({3}, {2, 4, 6})})));
  EXPECT_THAT(split(position(2), 0, 0),  // keepdims counts only without sizes
              Yields(sequence({floats({2, 2}, {1, 2, 3, 4}), last})));
}

TEST(SplitToSequence, SplitsStringsAndEmptyTensors) {
  EXPECT_THAT(
      run_composite("SplitToSequence", 11, {one(strings({3}, {"a", "b", "c"})), position(2)}),
      Yields(sequence({strings({2}, {"a", "b"}), strings({1}, {"c"})})));
  EXPECT_THAT(run_composite("SplitToSequence", 11, {one(floats({0, 2}, {}))}),
              Yields(sequence({})));
}

TEST(SplitToSequence, RefusesSizesThatDoNotFit) {
  const auto split = [](Composite sizes) {
    return run_composite("SplitToSequence", 11, {one(kSecond), std::move(sizes)});
  };
  EXPECT_THAT(split(one(ints({1, 2}))), Refuses(EPH_INVALID_ARGUMENT, "add up to 3"));
  EXPECT_THAT(split(one(ints({3, -1}))), Refuses(EPH_INVALID_ARGUMENT, "split of -1"));
  EXPECT_THAT(split(position(0)), Refuses(EPH_INVALID_ARGUMENT, "split of 0"));
  EXPECT_THAT(split(one(tensor<int64_t>({1, 1}, {2}))), Refuses(EPH_INVALID_ARGUMENT, "rank"));
  EXPECT_THAT(run_composite("SplitToSequence", 11, {one(kSecond)}, {{"axis", int64_t{2}}}),
              Refuses(EPH_INVALID_ARGUMENT, "axis"));
}

TEST(ConcatFromSequence, JoinsAlongAnAxis) {
  const auto join = [](Composite given, int64_t axis, int64_t adds = 0) {
    return run_composite("ConcatFromSequence", 11, {std::move(given)},
                         {{"axis", axis}, {"new_axis", adds}});
  };
  EXPECT_THAT(join(kThree, 0), Yields(one(floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))));
  const Composite equal = sequence({kFirst, kThird});
  EXPECT_THAT(join(equal, -1), Yields(one(floats({1, 4}, {1, 2, 7, 8}))));
  EXPECT_THAT(join(equal, 0, 1), Yields(one(floats({2, 1, 2}, {1, 2, 7, 8}))));
  EXPECT_THAT(join(equal, -1, 1), Yields(one(floats({1, 2, 2}, {1, 7, 2, 8}))));
  EXPECT_THAT(join(sequence({strings({1}, {"a"}), strings({2}, {"b", "c"})}), 0),
              Yields(one(strings({3}, {"a", "b", "c"}))));
  EXPECT_THAT(join(sequence({}), 0), Refuses(EPH_INVALID_ARGUMENT, "empty sequence"));
  EXPECT_THAT(join(kThree, 1), Refuses(EPH_INVALID_ARGUMENT, "cannot be concatenated"));
  EXPECT_THAT(join(kThree, 0, 1), Refuses(EPH_INVALID_ARGUMENT, "cannot be concatenated"));
  EXPECT_THAT(join(kThree, 2), Refuses(EPH_INVALID_ARGUMENT, "axis"));
  EXPECT_THAT(run_composite("ConcatFromSequence", 11, {kThree}),
              Refuses(EPH_INVALID_ARGUMENT, "attribute 'axis' is missing"));
}

TEST(Optionals, HoldWhatTheyAreMadeOf) {
  EXPECT_THAT(run_composite("Optional", 15, {one(kFirst)}), Yields(one(kFirst)));
  EXPECT_THAT(run_composite("Optional", 15, {kThree}), Yields(kThree));
  EXPECT_THAT(run_composite("Optional", 15, {}), Yields(Composite()));
}

TEST(Optionals, SayWhetherTheyHaveAnElement) {
  const Composite yes = one(bools({}, {1}));
  const Composite no = one(bools({}, {0}));
  for (const int32_t version : {15, 18}) {
    EXPECT_THAT(run_composite("OptionalHasElement", version, {Composite()}), Yields(no));
    EXPECT_THAT(run_composite("OptionalHasElement", version, {one(kFirst)}), Yields(yes));
    EXPECT_THAT(run_composite("OptionalHasElement", version, {kThree}), Yields(yes));
  }
  EXPECT_THAT(run_composite("OptionalHasElement", 18, {}), Yields(no));
}

TEST(Optionals, GiveTheirElement) {
  for (const int32_t version : {15, 18}) {
    EXPECT_THAT(run_composite("OptionalGetElement", version, {one(kFirst)}), Yields(one(kFirst)));
    EXPECT_THAT(run_composite("OptionalGetElement", version, {kThree}), Yields(kThree));
    EXPECT_THAT(run_composite("OptionalGetElement", version, {Composite()}),
                Refuses(EPH_INVALID_ARGUMENT, "has no element"));
  }
}

}  // namespace
}  // namespace ephost::test::sequence_test
