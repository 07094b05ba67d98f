// Every way in which a node is refused: the code, the message, and that it names the node.
#include "tests/unit/plugins_cpu/cpu_test.h"

namespace ephost::test {
namespace {

struct Refusal {
  std::string name;
  std::string op_type;
  int32_t version;
  std::vector<Tensor> inputs;
  Attributes attributes;
  std::string message;
  int32_t code = EPH_INVALID_ARGUMENT;
  std::size_t outputs = 1;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NameTheNodeAndTheReason) {
  const Refusal& test = GetParam();
  for (const Stated stated : {Stated::kNothing, Stated::kTypesAndShapes}) {
    const auto node =
        make_node(test.op_type, test.version, test.inputs, test.attributes, test.outputs);
    node->state(stated);
    const Outcome outcome = cpu_session().run(*node);
    EXPECT_THAT(outcome, Refuses(test.code, test.message));
    EXPECT_THAT(outcome.message, testing::HasSubstr(test.op_type + " node 'tested': "));
  }
}

const Tensor kX = floats({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor kImage = floats({1, 4, 2, 2}, std::vector<float>(16, 1));
const Tensor kScalar = floats({}, {1});
const Tensor kFive = floats({5}, {1, 1, 1, 1, 1});
using Ints = std::vector<int64_t>;

Tensor of_rank(std::size_t rank) { return floats(Shape(rank, 1), {1}); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, Refusals,
    testing::Values(
        Refusal{
            "ranks", "Relu", 14, {of_rank(17)}, {}, "handles ranks up to 16", EPH_NOT_IMPLEMENTED},
        Refusal{"broadcast",
                "Add",
                14,
                {kX, floats({2}, {1, 2})},
                {},
                "shapes [2,3] and [2] cannot be broadcast"},
        Refusal{"axis",
                "Gather",
                13,
                {kX, ints({0})},
                {{"axis", int64_t{2}}},
                "axis 2 is outside of [-2, 2)"},
        Refusal{"count",
                "Reshape",
                14,
                {kX, ints({4})},
                {},
                "does not hold the 6 elements of the input [2,3]"},
        Refusal{"open", "Reshape", 14, {kX, ints({-1, 4})}, {}, "does not hold the 6 elements"},
        Refusal{
            "two_open", "Reshape", 14, {kX, ints({-1, -1})}, {}, "an extent below -1 or two of -1"},
        Refusal{"copied_zero",
                "Reshape",
                14,
                {kX, ints({2, 3, 0})},
                {},
                "has no such dimension to copy"},
        Refusal{"many", "Reshape", 14, {kX, ints(Ints(17, 1))}, {}, "too many dimensions"},
        Refusal{"more",
                "Reshape",
                14,
                {kX, ints(Ints(40, 1))},
                {},
                "more than 32 entries",
                EPH_NOT_IMPLEMENTED},
        Refusal{"rank_of_list",
                "Reshape",
                14,
                {kX, tensor<int64_t>({1, 1}, {6})},
                {},
                "has rank 2, expected 1"},
        Refusal{"overflow",
                "Reshape",
                14,
                {kX, ints({int64_t{1} << 40, int64_t{1} << 40})},
                {},
                "a size overflows"},
        Refusal{"squeezed", "Squeeze", 13, {kX, ints({0})}, {}, "axis 0 of shape [2,3] is not 1"},
        Refusal{"twice", "Unsqueeze", 13, {kX, ints({0, 0})}, {}, "axis 0 is given twice"},
        Refusal{"no_axes", "Unsqueeze", 11, {kX}, {}, "axes are missing"},
        Refusal{
            "rank", "Unsqueeze", 13, {of_rank(16), ints({0})}, {}, "rank 17", EPH_NOT_IMPLEMENTED},
        Refusal{"expand", "Expand", 13, {kX, ints({-1, 3})}, {}, "has a negative extent"},
        Refusal{"expand_rank", "Expand", 13, {kX, ints(Ints(17, 1))}, {}, "too many dimensions"},
        Refusal{"tile_count",
                "Tile",
                13,
                {kX, ints({2})},
                {},
                "repeats [2] do not match the input [2,3]"},
        Refusal{"tile_sign", "Tile", 13, {kX, ints({2, -1})}, {}, "repeats [2,-1] are negative"},
        Refusal{"tile_size", "Tile", 13, {kX, ints({int64_t{1} << 62, 2})}, {}, "a size overflows"},
        Refusal{
            "perm", "Transpose", 13, {kX}, {{"perm", Ints{0, 0}}}, "perm [0,0] is no permutation"},
        Refusal{"perm_rank", "Transpose", 13, {kX}, {{"perm", Ints{1, 0, 2}}}, "no permutation"},
        Refusal{"of_shape", "ConstantOfShape", 9, {ints({-2})}, {}, "negative extent"},
        Refusal{"of_shapes", "ConstantOfShape", 9, {ints(Ints(17, 1))}, {}, "too many dimensions"},
        Refusal{"of_two",
                "ConstantOfShape",
                9,
                {ints({1})},
                {{"value", ints({1, 2})}},
                "attribute 'value' has shape [2]"},
        Refusal{"of_text",
                "ConstantOfShape",
                9,
                {ints({1})},
                {{"value", strings({1}, {"a"})}},
                "a value of type string",
                EPH_NOT_IMPLEMENTED},
        Refusal{
            "constant", "Constant", 13, {}, {}, "none of the attributes", EPH_NOT_IMPLEMENTED}));

INSTANTIATE_TEST_SUITE_P(
    Movement, Refusals,
    testing::Values(
        Refusal{"no_axis", "Concat", 13, {kX}, {}, "attribute 'axis' is missing"},
        Refusal{"concat",
                "Concat",
                13,
                {kX, floats({1, 2}, {1, 2})},
                {{"axis", int64_t{0}}},
                "input 1 of shape [1,2] differs from the first one, [2,3]"},
        Refusal{"equal",
                "Split",
                13,
                {kX},
                {{"axis", int64_t{1}}},
                "an extent of 3 cannot be split into 2 equal parts",
                EPH_INVALID_ARGUMENT,
                2},
        Refusal{"sizes",
                "Split",
                13,
                {kX, ints({1, 3})},
                {},
                "2 sizes that add up to 4 do not split an extent of 2",
                EPH_INVALID_ARGUMENT,
                2},
        Refusal{"size",
                "Split",
                11,
                {kX},
                {{"split", Ints{3, -1}}},
                "do not split",
                EPH_INVALID_ARGUMENT,
                2},
        Refusal{"split_rank",
                "Split",
                13,
                {kX, tensor<int64_t>({}, {2})},
                {},
                "input 'split' has another rank"},
        Refusal{"lengths", "Slice", 13, {kX, ints({0}), ints({1, 1})}, {}, "different lengths"},
        Refusal{"twice",
                "Slice",
                13,
                {kX, ints({0, 0}), ints({1, 1}), ints({0, -2})},
                {},
                "axis -2 is given twice"},
        Refusal{"step",
                "Slice",
                13,
                {kX, ints({0}), ints({1}), ints({0}), ints({0})},
                {},
                "a step is 0"},
        Refusal{"index",
                "Gather",
                13,
                {kX, ints({2})},
                {},
                "index 2 is out of range for an extent of 2"},
        Refusal{"elements",
                "GatherElements",
                13,
                {kX, tensor<int64_t>({1, 4}, {0, 0, 0, 0})},
                {},
                "indices of shape [1,4] do not fit data of shape [2,3]"},
        Refusal{"element",
                "GatherElements",
                13,
                {kX, tensor<int64_t>({1, 1}, {-3})},
                {},
                "index -3 is out of range"},
        Refusal{"depth",
                "GatherND",
                13,
                {kX, tensor<int64_t>({1, 3}, {0, 0, 0})},
                {},
                "do not fit data"},
        Refusal{"batch",
                "GatherND",
                13,
                {kX, ints({0})},
                {{"batch_dims", int64_t{1}}},
                "batch_dims=1 does not fit"},
        Refusal{"gather_rank",
                "Gather",
                13,
                {of_rank(16), tensor<int64_t>({1, 1}, {0})},
                {},
                "rank 17",
                EPH_NOT_IMPLEMENTED},
        Refusal{"gather_nd_rank",
                "GatherND",
                13,
                {of_rank(16), tensor<int64_t>(Shape(16, 1), {0})},
                {},
                "rank 30",
                EPH_NOT_IMPLEMENTED},
        Refusal{"mode",
                "Pad",
                13,
                {kX, ints({0, 0, 0, 0})},
                {{"mode", std::string("odd")}},
                "attribute mode 'odd' is unknown"},
        Refusal{"pads",
                "Pad",
                13,
                {kX, ints({0, 0})},
                {},
                "do not have two numbers for each dimension"},
        Refusal{"cut", "Pad", 13, {kX, ints({-1, 0, -2, 0})}, {}, "cut away more than [2,3]"},
        Refusal{"nothing",
                "Pad",
                13,
                {floats({0}, {}), ints({1, 1})},
                {{"mode", std::string("edge")}},
                "nothing to repeat"},
        Refusal{"value",
                "Pad",
                13,
                {kX, ints({1, 0, 0, 0}), kFive},
                {},
                "constant_value has shape [5]"},
        Refusal{
            "pad_type", "Pad", 13, {kX, ints({1, 0, 0, 0}), ints({1})}, {}, "do not go together"},
        Refusal{"to",
                "Cast",
                13,
                {kX},
                {{"to", int64_t{99}}},
                "to=99 is no supported element type",
                EPH_NOT_IMPLEMENTED},
        Refusal{"text",
                "Cast",
                13,
                {strings({1}, {"abc"})},
                {{"to", int64_t{1}}},
                "'abc' is no number"},
        Refusal{"block",
                "DepthToSpace",
                13,
                {kImage},
                {{"blocksize", int64_t{0}}},
                "blocksize=0 is not positive"},
        Refusal{"channels",
                "DepthToSpace",
                13,
                {kImage},
                {{"blocksize", int64_t{3}}},
                "4 channels are no multiple"},
        Refusal{"image",
                "DepthToSpace",
                13,
                {kX},
                {{"blocksize", int64_t{1}}},
                "has another rank than 4"},
        Refusal{"depth_mode",
                "DepthToSpace",
                13,
                {kImage},
                {{"blocksize", int64_t{2}}, {"mode", std::string("X")}},
                "attribute mode 'X' is unknown"},
        Refusal{"space",
                "SpaceToDepth",
                13,
                {kImage},
                {{"blocksize", int64_t{3}}},
                "are no multiples of blocksize 3"},
        Refusal{
            "values", "OneHot", 11, {ints({0}), ints({1}), ints({1})}, {}, "values are to be two"},
        Refusal{"depth_shape",
                "OneHot",
                11,
                {ints({0}), ints({1, 2}), ints({1, 2})},
                {},
                "depth is to be a scalar"},
        Refusal{"depth_sign",
                "OneHot",
                11,
                {ints({0}), ints({-1}), ints({1, 2})},
                {},
                "depth -1 is negative"},
        Refusal{"one_hot_rank",
                "OneHot",
                11,
                {of_rank(16), ints({1}), ints({1, 2})},
                {},
                "indices of rank 16",
                EPH_NOT_IMPLEMENTED},
        Refusal{"delta", "Range", 11, {kScalar, kScalar, floats({}, {0})}, {}, "delta is 0"},
        Refusal{"infinite",
                "Range",
                11,
                {kScalar, floats({}, {INFINITY}), kScalar},
                {},
                "infinite or too long"},
        Refusal{"endless",
                "Range",
                11,
                {tensor<int64_t>({}, {INT64_MIN}), tensor<int64_t>({}, {INT64_MAX}),
                 tensor<int64_t>({}, {1})},
                {},
                "the range is too long"},
        Refusal{"bounds", "Range", 11, {kFive, kScalar, kScalar}, {}, "are to be scalars"}));

INSTANTIATE_TEST_SUITE_P(
    Arithmetic, Refusals,
    testing::Values(
        Refusal{"types",
                "Add",
                14,
                {kX, ints({1})},
                {},
                "inputs of types float and int64 do not go together"},
        Refusal{"zero", "Div", 14, {ints({1, 2}), ints({1, 0})}, {}, "integer division by zero"},
        Refusal{"mod_zero", "Mod", 13, {ints({1}), ints({0})}, {}, "integer division by zero"},
        Refusal{"power", "Pow", 15, {ints({0}), ints({-1})}, {}, "zero has no negative power"},
        Refusal{
            "bound", "Clip", 13, {kX, kFive}, {}, "input 'min' has shape [5], expected a scalar"},
        Refusal{"mean", "ReduceMean", 13, {ints({})}, {}, "no mean of no integers"},
        Refusal{"reduced", "ReduceSum", 13, {kX, ints({5})}, {}, "axis 5 is outside"},
        Refusal{"extreme", "ArgMax", 13, {floats({0}, {})}, {}, "no extreme among no elements"},
        Refusal{"k", "TopK", 11, {kX, ints({4})}, {}, "k=4 is outside of an extent of 3"},
        Refusal{
            "ks", "TopK", 11, {kX, ints({1, 1})}, {}, "expected a single number, found shape [2]"},
        Refusal{"cumsum", "CumSum", 14, {kX, ints({0, 1})}, {}, "expected a single number"},
        Refusal{"softmax", "Softmax", 13, {kX}, {{"axis", int64_t{-3}}}, "axis -3 is outside"},
        Refusal{"attribute",
                "Softmax",
                13,
                {kX},
                {{"axis", 1.0F}},
                "attribute 'axis' has kind 1",
                EPH_INVALID_GRAPH},
        Refusal{"inner",
                "MatMul",
                13,
                {kX, kX},
                {},
                "shapes [2,3] and [2,3] differ in the inner dimension"},
        Refusal{"scalar", "MatMul", 13, {kX, kScalar}, {}, "a scalar cannot be multiplied"},
        Refusal{"batch",
                "MatMul",
                13,
                {floats({2, 1, 1}, {1, 1}), floats({3, 1, 1}, {1, 1, 1})},
                {},
                "cannot be broadcast"},
        Refusal{"gemm_inner", "Gemm", 13, {kX, kX}, {}, "differ in the inner dimension"},
        Refusal{"gemm_rank", "Gemm", 13, {kX, kFive}, {}, "are to be matrices"},
        Refusal{"gemm_c",
                "Gemm",
                13,
                {kX, kX, kFive},
                {{"transB", int64_t{1}}},
                "shapes [5] and [2,2] cannot be broadcast"},
        Refusal{"training",
                "Dropout",
                13,
                {kX, kScalar, bools({}, {1})},
                {},
                "training_mode",
                EPH_NOT_IMPLEMENTED},
        Refusal{"statistics",
                "BatchNormalization",
                15,
                {kImage, kFive, kFive, kFive, kFive},
                {},
                "input 'scale' of shape [5] does not have 4 elements"},
        Refusal{"trains",
                "BatchNormalization",
                15,
                {kImage, kFive, kFive, kFive, kFive},
                {{"training_mode", int64_t{1}}},
                "training is not supported",
                EPH_NOT_IMPLEMENTED},
        Refusal{"trained",
                "BatchNormalization",
                9,
                {kImage, kFive, kFive, kFive, kFive},
                {},
                "training is not supported",
                EPH_NOT_IMPLEMENTED,
                5},
        Refusal{
            "instance", "InstanceNormalization", 6, {kFive, kFive, kFive}, {}, "has no channels"},
        Refusal{"layer", "LayerNormalization", 17, {kX, kFive}, {}, "cannot be broadcast"},
        Refusal{"layer_wide",
                "LayerNormalization",
                17,
                {kX, floats({2, 3}, {1, 1, 1, 1, 1, 1})},
                {},
                "cannot be broadcast to the normalised [3]"},
        Refusal{"layer_empty",
                "LayerNormalization",
                17,
                {floats({2, 0}, {}), floats({0}, {})},
                {},
                "nothing to normalise"},
        Refusal{"stash",
                "LayerNormalization",
                17,
                {kX, kFive},
                {{"stash_type", int64_t{16}}},
                "stash_type",
                EPH_NOT_IMPLEMENTED},
        Refusal{"lrn_size", "LRN", 13, {kImage}, {}, "attribute size=0 is not positive"},
        Refusal{"lrn_rank", "LRN", 13, {kFive}, {{"size", int64_t{3}}}, "has no channels"}));

INSTANTIATE_TEST_SUITE_P(
    Windows, Refusals,
    testing::Values(
        Refusal{"stride",
                "MaxPool",
                12,
                {kImage},
                {{"kernel_shape", Ints{1, 1}}, {"strides", Ints{0, 1}}},
                "attribute strides=[0,1] has a value below 1"},
        Refusal{"pad",
                "MaxPool",
                12,
                {kImage},
                {{"kernel_shape", Ints{1, 1}}, {"pads", Ints{0, -1, 0, 0}}},
                "attribute pads=[0,-1,0,0] has a value below 0"},
        Refusal{"huge",
                "MaxPool",
                12,
                {kImage},
                {{"kernel_shape", Ints{1, INT64_MAX}}},
                "beyond all use"},
        Refusal{"auto_pad",
                "MaxPool",
                12,
                {kImage},
                {{"kernel_shape", Ints{1, 1}}, {"auto_pad", std::string("SOME")}},
                "auto_pad 'SOME' is unknown"},
        Refusal{"rank",
                "MaxPool",
                12,
                {kImage},
                {{"kernel_shape", Ints{1}}},
                "do not match an input of 2 spatial dimensions"},
        Refusal{"window",
                "MaxPool",
                12,
                {kImage},
                {{"kernel_shape", Ints{3, 1}}},
                "a window of 3 does not fit into an extent of 2"},
        Refusal{"spatial",
                "AveragePool",
                11,
                {kX},
                {{"kernel_shape", Ints{}}},
                "has no spatial dimensions"},
        Refusal{"dilated",
                "AveragePool",
                11,
                {kImage},
                {{"kernel_shape", Ints{1, 1}}, {"dilations", Ints{2, 2}}},
                "'dilations' does not exist",
                EPH_NOT_IMPLEMENTED},
        Refusal{"global", "GlobalAveragePool", 1, {kFive}, {}, "has no channels"},
        Refusal{"global_empty", "GlobalMaxPool", 1, {floats({1, 1, 0}, {})}, {}, "nothing to pool"},
        Refusal{"groups",
                "Conv",
                11,
                {kImage, kImage},
                {{"group", int64_t{0}}},
                "group=0 is not positive"},
        Refusal{"channels",
                "Conv",
                11,
                {kImage, floats({1, 2, 1, 1}, {1, 1})},
                {},
                "do not agree on channels with 1 groups"},
        Refusal{"group",
                "Conv",
                11,
                {kImage, floats({1, 2, 1, 1}, {1, 1})},
                {{"group", int64_t{2}}},
                "do not agree on channels with 2 groups"},
        Refusal{
            "weights", "Conv", 11, {kImage, kX}, {}, "need the same rank and a spatial dimension"},
        Refusal{"kernel",
                "Conv",
                11,
                {kImage, kImage},
                {{"kernel_shape", Ints{1, 1}}},
                "kernel_shape [1,1] differs from W [1,4,2,2]"},
        Refusal{"empty", "Conv", 11, {kImage, floats({1, 4, 0, 1}, {})}, {}, "has an empty window"},
        Refusal{"bias",
                "Conv",
                11,
                {kImage, kImage, kFive},
                {},
                "bias of shape [5] does not have an element for each of 1"}));

TEST(Refusing, AnswersWhereNoEntryFits) {
  EXPECT_THAT(run_node("Relu", 99, {kX}),
              Refuses(EPH_NOT_IMPLEMENTED, "Relu node 'tested': no kernel for version 99"));
  EXPECT_THAT(run_node("Einsum", 12, {kX}), Refuses(EPH_NOT_IMPLEMENTED, "no kernel"));
}

TEST(Refusing, NamesAnElementTypeThatIsKnownOnlyAtTheRun) {
  const auto node = make_node("Relu", 14, {strings({1}, {"a"})});
  node->state(Stated::kNothing);
  EXPECT_THAT(cpu_session().run(*node),
              Refuses(EPH_NOT_IMPLEMENTED, "Relu node 'tested': input 0 has element type string"));
}

TEST(Refusing, NamesAMissingInput) {
  SingleNodeGraph node("Add", 14);
  node.input(kX).skip_input().output();
  EXPECT_THAT(cpu_session().run(node),
              Refuses(EPH_INVALID_GRAPH, "Add node 'tested': input 1 is required"));
}

TEST(Refusing, NamesAVariadicInputThatIsLeftOut) {
  for (const char* op_type : {"Concat", "Sum"}) {
    SingleNodeGraph node(op_type, 13);
    node.input(kX).skip_input().output().attribute("axis", int64_t{0});
    EXPECT_THAT(cpu_session().run(node), Refuses(EPH_INVALID_ARGUMENT, "input 1 is missing"));
  }
}

TEST(Refusing, NamesAnOutputOfAnotherTypeThanTheModelStates) {
  SingleNodeGraph node("Shape", 15);
  node.input(kX).output(floats({2}, {0, 0}));
  EXPECT_THAT(cpu_session().run(node),
              Refuses(EPH_INVALID_GRAPH, "output 0 is declared as float but is int64"));
}

TEST(Refusing, NamesAFirstOutputThatIsLeftOut) {
  SingleNodeGraph node("Relu", 14);
  node.input(kX).skip_output().output();
  EXPECT_THAT(cpu_session().run(node), Refuses(EPH_INVALID_ARGUMENT, "output 0 is left out"));
}

TEST(Refusing, NamesFloatingPointModWithoutItsAttribute) {
  const auto node = make_node("Mod", 13, {kX, kX});
  EXPECT_THAT(cpu_session().run(*node), Refuses(EPH_INVALID_ARGUMENT, "need the attribute fmod=1"));
}

TEST(Refusing, NamesASlopeThatDoesNotFit) {
  EXPECT_THAT(run_node("PRelu", 16, {kFive, kX}),
              Refuses(EPH_INVALID_ARGUMENT, "cannot be broadcast"));
}

}  // namespace
}  // namespace ephost::test
