// What a provider wants unchanged (ephost.graph_wishes/1).

#include "tests/integration/session/quantization_sample.h"

namespace ephost::graph_wishes_session_test {
namespace {

using graph::testing::GraphBuilder;
using test::scripted;
using ::testing::ElementsAre;

class GraphWishesSession : public test::QuantizationSession {
 protected:
  // y = Relu(Identity(x) + Neg(Abs(w)))
  void save_chain() {
    model_ = test::save(folder_, test::model_of(GraphBuilder()
                                                    .input("x", test::row_type(4))
                                                    .constant("w", test::row(4, 0.5F))
                                                    .node("Abs", {"w"}, {"a"})
                                                    .node("Neg", {"a"}, {"n"})
                                                    .node("Identity", {"x"}, {"i"})
                                                    .node("Add", {"i", "n"}, {"s"})
                                                    .node("Relu", {"s"}, {"y"})
                                                    .output("y")
                                                    .build()));
  }
};

TEST_F(GraphWishesSession, KeepNodesForTheProviders) {
  save_chain();
  const auto stage = session::Stage::kPartitioned;
  EXPECT_THAT(operators_at(stage, scripted()), ElementsAre("Add", "Relu"));
  EXPECT_THAT(operators_at(stage, scripted({{"keep", "Neg"}})), ElementsAre("Neg", "Add", "Relu"));
  EXPECT_THAT(operators_at(stage, scripted({{"keep", "Add"}})),
              ElementsAre("Identity", "Add", "Relu"));
  EXPECT_THAT(operators_at(stage, scripted({{"keep", "com.example:Neg,Sub"}})),
              ElementsAre("Add", "Relu"));
  test::expect_close(run(scripted({{"keep", "Neg,Add,Identity,Abs"}})), run());
}

TEST_F(GraphWishesSession, EndWithTheClaims) {
  save_chain();
  const SessionOptions options = scripted({{"keep", "Neg"}, {"claim", "fuse:Relu"}});
  EXPECT_THAT(operators_at(session::Stage::kPartitioned, options),
              ElementsAre("Neg", "Add", "Relu"));
  EXPECT_THAT(operators_at(session::Stage::kPlanned, options), ElementsAre("Add", "Relu"));
  test::expect_close(run(options), run());
}

}  // namespace
}  // namespace ephost::graph_wishes_session_test
