// Every way in which a node is refused: the code, the message, and that it names the node.
#include "tests/unit/plugins/cpu/refusals/refusals.h"

namespace ephost::test::refusal_test {
namespace {

TEST_P(Refusals, NameTheNodeAndTheReason) {
  const Refusal& test = GetParam();
  for (const Stated stated : {Stated::kNothing, Stated::kTypesAndShapes}) {
    const auto node =
        make_node(test.op_type, test.version, test.inputs, test.attributes, test.outputs);
    node->state(stated);
    const Outcome outcome = cpu_session().run(*node);
    EXPECT_THAT(outcome, Refuses(test.code, test.message));
    EXPECT_THAT(outcome.message, ::testing::HasSubstr(test.op_type + " node 'tested': "));
  }
}

TEST(Refusing, AnswersWhereNoEntryFits) {
  EXPECT_THAT(run_node("Relu", 99, {kX}),
              Refuses(EPH_NOT_IMPLEMENTED, "Relu node 'tested': no kernel for version 99"));
  EXPECT_THAT(run_node("NoOperator", 12, {kX}), Refuses(EPH_NOT_IMPLEMENTED, "no kernel"));
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
  for (const char* op_type : {"Relu", "GlobalMaxPool", "MeanVarianceNormalization"}) {
    SingleNodeGraph node(op_type, 14);
    node.input(kImage).skip_output().output();
    EXPECT_THAT(cpu_session().run(node), Refuses(EPH_INVALID_ARGUMENT, "output 0 is left out"));
  }
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
}  // namespace ephost::test::refusal_test
