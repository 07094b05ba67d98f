// Specialisations of models with open extents: when they are made, which are kept, and that they
// compute what the model computes.
#include <gmock/gmock.h>

#include <chrono>
#include <random>
#include <thread>

#include "tests/integration/session/shapes/open_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::specialization_test {
namespace {

using test::fixed;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SpecializationTest : public ::testing::Test {
 protected:
  SpecializationTest() { set_log_level(LoggingLevel::kInfo); }
  ~SpecializationTest() override { set_log_level(LoggingLevel::kWarning); }

  [[nodiscard]] Result<Session> try_create(const SessionOptions& options) const {
    return Session::create(test::scripted_environment(), model_, options);
  }
  [[nodiscard]] Session create(const SessionOptions& options) const {
    auto session = try_create(options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }
  static Status try_run(Session& session, const std::vector<int64_t>& shape, float offset = 0,
                        const RunOptions& options = {}) {
    const auto outputs = session.run({{{"x", test::floats_of(shape)}}}, {}, options);
    if (!outputs.ok()) return outputs.status();
    std::vector<float> wanted = test::open_result(shape);
    for (float& element : wanted) element += offset;
    const std::span<const float> got = (*outputs)[0].elements<float>();
    EXPECT_THAT((*outputs)[0].shape(), ::testing::ElementsAreArray(shape));
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()), wanted);
    return Status::ok_status();
  }
  static void run(Session& session, const std::vector<int64_t>& shape, float offset = 0) {
    const Status status = try_run(session, shape, offset);
    EXPECT_THAT(status, IsOk());
  }
  // The extents of the specialisations that are ready, as text, sorted.
  static std::vector<std::string> ready(const Session& session) {
    std::vector<std::string> texts;
    for (const Specialization& one : session.specializations()) {
      if (one.state != SpecializationState::kReady) continue;
      std::string text;
      for (const FixedExtent& extent : one.extents) {
        text += (text.empty() ? "" : ",") + extent.name + "=" + std::to_string(extent.extent);
      }
      texts.push_back(text);
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  size_t count(const std::string& text) const {
    size_t found = 0;
    const std::string log = log_.text();
    for (size_t at = log.find(text); at != log.npos; at = log.find(text, at + 1)) ++found;
    return found;
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::open_model());
  test::LogCapture log_;
};

TEST_F(SpecializationTest, IsMadeForAShapeThatComesAgain) {
  Session session = create(fixed("*"));
  run(session, {2, 3});
  EXPECT_EQ(count("compiles partition"), 0U);
  EXPECT_THAT(ready(session), ElementsAre());
  run(session, {2, 3});
  EXPECT_EQ(count("compiles partition"), 1U);
  EXPECT_THAT(ready(session), ElementsAre("batch=2,seq=3"));
  for (int i = 0; i < 3; ++i) run(session, {2, 3});
  EXPECT_EQ(count("compiles partition"), 1U);
  ASSERT_EQ(session.specializations().size(), 1U);
  EXPECT_EQ(session.specializations()[0].runs, 4U);
  EXPECT_GT(session.specializations()[0].seconds, 0);
  EXPECT_EQ(session.specializations()[0].reason, "");
  EXPECT_THAT(log_.text(), HasSubstr("the model was specialised for batch=2, seq=3 in "));
}

TEST_F(SpecializationTest, IsMadeByTheFirstRunIfTheSessionSaysSo) {
  Session session = create(fixed("*", {{"runs_before", "0"}}));
  run(session, {2, 3});
  EXPECT_THAT(ready(session), ElementsAre("batch=2,seq=3"));
  run(session, {4, 1});
  EXPECT_THAT(ready(session), ElementsAre("batch=2,seq=3", "batch=4,seq=1"));
}

TEST_F(SpecializationTest, LeavesOpenWhatNobodyWishesToBeFixed) {
  Session session = create(fixed("batch", {{"runs_before", "0"}}));
  run(session, {2, 3});
  run(session, {2, 7});
  run(session, {2, 1});
  EXPECT_THAT(ready(session), ElementsAre("batch=2"));
  EXPECT_EQ(count("compiles partition"), 1U);
}

TEST_F(SpecializationTest, IsNotMadeWithoutAWish) {
  Session session = create(fixed("", {{"runs_before", "0"}}));
  EXPECT_EQ(count("compiles partition"), 1U);
  run(session, {2, 3});
  run(session, {2, 3});
  EXPECT_TRUE(session.specializations().empty());
  EXPECT_EQ(count("compiles partition"), 1U);
}

TEST_F(SpecializationTest, IsNotMadeWhereItIsSwitchedOff) {
  for (const OptionList& entries :
       {OptionList{{"specialize", "off"}, {"runs_before", "0"}},
        OptionList{{"max_specializations", "0"}, {"runs_before", "0"}}}) {
    Session session = create(fixed("*", entries));
    run(session, {2, 3});
    EXPECT_TRUE(session.specializations().empty());
  }
  EXPECT_EQ(count("compiles partition"), 0U);
}

TEST_F(SpecializationTest, IsDroppedWhereOthersWereUsedLater) {
  Session session = create(fixed("*", {{"runs_before", "0"}, {"max_specializations", "2"}}));
  for (int round = 0; round < 3; ++round) {
    for (int64_t batch = 1; batch <= 3; ++batch) run(session, {batch, 2});
  }
  EXPECT_THAT(ready(session), ElementsAre("batch=2,seq=2", "batch=3,seq=2"));
  EXPECT_EQ(count("compiles partition"), 9U);
}

TEST_F(SpecializationTest, OfShapesThatAlwaysChangeLeavesNothingBehind) {
  Session session = create(fixed("*", {{"runs_before", "0"}}, {{"log_runs", "true"}}));
  constexpr size_t kShapes = 200;
  for (size_t i = 1; i <= kShapes; ++i) run(session, {static_cast<int64_t>(i), 2});
  EXPECT_EQ(ready(session).size(), 4U);
  // Each provider says goodbye when it is destroyed.
  EXPECT_EQ(count("computations ran at the same time"), kShapes - 4);
}

TEST_F(SpecializationTest, CostsNothingForShapesThatComeOnce) {
  Session session = create(fixed("*"));
  for (int64_t i = 1; i <= 200; ++i) run(session, {1, i});
  EXPECT_TRUE(session.specializations().empty());
  EXPECT_EQ(count("compiles partition"), 0U);
}

TEST_F(SpecializationTest, IsMadeEverMoreSeldomWhereShapesComeInTurn) {
  Session session = create(fixed("*", {{"max_specializations", "2"}}));
  for (int round = 0; round < 40; ++round) {
    for (int64_t i = 1; i <= 20; ++i) run(session, {1, i});
  }
  EXPECT_LE(count("compiles partition"), 15U);  // in 800 runs
}

TEST_F(SpecializationTest, LeavesEmptyTensorsToTheModelAsItIs) {
  Session session = create(fixed("*", {{"runs_before", "0"}}));
  run(session, {0, 3});
  run(session, {0, 3});
  EXPECT_TRUE(session.specializations().empty());
}

TEST_F(SpecializationTest, GivesTheErrorsOfTheModelAsItIs) {
  Session open = create(fixed("*", {{"specialize", "off"}}));
  Session session = create(fixed("*", {{"runs_before", "0"}}));
  const std::vector<std::vector<NamedValue>> bad = {
      {}, {{"x", test::floats_of({2})}}, {{"x", *Value::allocate(ElementType::kInt64, {2, 3})}}};
  for (const std::vector<NamedValue>& inputs : bad) {
    const Status wanted = open.run(inputs).status();
    ASSERT_FALSE(wanted.ok());
    EXPECT_EQ(session.run(inputs).status().to_string(), wanted.to_string());
  }
}

TEST_F(SpecializationTest, ThatFailsIsRememberedAndTheModelRunsAsItIs) {
  SessionOptions options = fixed("*", {{"runs_before", "0"}}, {{"cannot_compile", "Relu"}});
  options.add_config_entry("session.disable_ep_fallback", "1");
  Session session = create(options);
  for (int i = 0; i < 3; ++i) run(session, {2, 3});
  const std::vector<Specialization> all = session.specializations();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].state, SpecializationState::kFailed);
  EXPECT_THAT(all[0].reason, HasSubstr("the script cannot compile Relu"));
  EXPECT_EQ(count("the model cannot be specialised for batch=2, seq=3, and runs with open extents"),
            1U);
}

TEST_F(SpecializationTest, IsMadeInTheBackgroundWhileRunsGoOn) {
  Session session = create(fixed("*", {{"runs_before", "0"}, {"specialize", "background"}},
                                 {{"compile_milliseconds", "100"}}));
  run(session, {2, 3});
  EXPECT_THAT(ready(session), ElementsAre());
  for (int i = 0; i < 3000 && ready(session).empty(); ++i) {
    run(session, {2, 3});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(ready(session), ElementsAre("batch=2,seq=3"));
  EXPECT_EQ(count("compiles partition"), 1U);
  run(session, {2, 3});
  EXPECT_GT(session.specializations()[0].runs, 0U);
}

TEST_F(SpecializationTest, InTheBackgroundEndsWithTheSession) {
  const auto start = std::chrono::steady_clock::now();
  {
    Session session = create(fixed("*", {{"runs_before", "0"}, {"specialize", "background"}},
                                   {{"compile_milliseconds", "60000"}}));
    run(session, {2, 3});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_THAT(log_.text(), Not(HasSubstr("cannot be specialised")));
}

TEST_F(SpecializationTest, EndsAtTheDeadlineOfItsRun) {
  Session session = create(fixed("*", {{"runs_before", "0"}}, {{"compile_milliseconds", "60000"}}));
  RunOptions options;
  options.set_timeout(std::chrono::milliseconds(100));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(try_run(session, {2, 3}, 0, options).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_TRUE(session.specializations().empty());
}

TEST_F(SpecializationTest, HasTheDynamicOptionsOfTheSession) {
  Session session = create(fixed("*", {{"runs_before", "0"}}));
  run(session, {2, 3});
  ASSERT_THAT(session.set_ep_dynamic_options({{"ep.scripted.offset", "1"}}), IsOk());
  run(session, {2, 3}, 1);
  run(session, {3, 3}, 1);
  ASSERT_THAT(session.set_ep_dynamic_options({{"ep.scripted.offset", "2"}}), IsOk());
  run(session, {2, 3}, 2);
  run(session, {3, 3}, 2);
  run(session, {4, 3}, 2);
  EXPECT_EQ(session.set_ep_dynamic_options({{"ep.scripted.nothing", "2"}}).code(),
            StatusCode::kInvalidArgument);
  run(session, {4, 3}, 2);
}

TEST_F(SpecializationTest, ServesRunsOfManyThreads) {
  Session session = create(fixed("*", {{"max_specializations", "2"}}));
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&session, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 40; ++i) run(session, {static_cast<int64_t>(1 + random() % 4), 3});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(ready(session).size(), 2U);
  EXPECT_GE(ready(session).size(), 1U);
}

TEST_F(SpecializationTest, ServesBindingsAndRunsInTheBackground) {
  Session session = create(fixed("*", {{"runs_before", "0"}}));
  auto binding = session.create_binding();
  ASSERT_THAT(binding, IsOk());
  for (const int64_t batch : {2, 3, 2}) {
    ASSERT_THAT(binding->bind_input("x", test::floats_of({batch, 2})), IsOk());
    ASSERT_THAT(session.run(*binding), IsOk());
    const std::span<const float> got = binding->outputs()[0].elements<float>();
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()), test::open_result({batch, 2}));
  }
  std::atomic<int> done{0};
  for (int i = 0; i < 8; ++i) {
    const std::vector<NamedValue> inputs = {{"x", test::floats_of({1 + i % 2, 2})}};
    ASSERT_THAT(session.run_async(inputs, {},
                                  [&done](const Status& status, const std::vector<Value>&) {
                                    EXPECT_THAT(status, IsOk());
                                    ++done;
                                  }),
                IsOk());
  }
  while (done < 8) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(ready(session), ElementsAre("batch=1,seq=2", "batch=2,seq=2", "batch=3,seq=2"));
}

TEST_F(SpecializationTest, ComesFromTheCacheStore) {
  SessionOptions options = fixed("*", {{"runs_before", "0"}});
  options.add_config_entry("ep.cache_dir", (folder_ / "store").native());
  {
    Session session = create(options);
    run(session, {2, 3});
    run(session, {3, 3});
  }
  EXPECT_EQ(count("compiles partition"), 2U);
  Session session = create(options);
  run(session, {2, 3});
  run(session, {3, 3});
  EXPECT_EQ(count("compiles partition"), 2U);
  EXPECT_EQ(count("restores partition"), 2U);
  run(session, {4, 3});
  EXPECT_EQ(count("compiles partition"), 3U);
}

TEST_F(SpecializationTest, NeedsNoFileAfterTheSessionWasCreated) {
  Session session = create(fixed("*", {{"runs_before", "0"}}));
  std::filesystem::remove(model_);
  run(session, {2, 3});
  EXPECT_THAT(ready(session), ElementsAre("batch=2,seq=3"));
}

TEST_F(SpecializationTest, IgnoresWishesForWhatDoesNotExist) {
  for (const auto& [misbehave, what] :
       {std::pair{"unknown_node", "for extents of node 4, of 4 nodes"},
        std::pair{"unknown_symbol", "for extents of the symbol \"nowhere\""}}) {
    Session session = create(fixed("batch", {{"runs_before", "0"}}, {{"misbehave", misbehave}}));
    run(session, {2, 3});
    EXPECT_TRUE(session.specializations().empty());
    EXPECT_THAT(log_.text(), HasSubstr(std::string("ScriptedExecutionProvider wishes in "
                                                   "ephost.shapes/1 ") +
                                       what));
  }
}

TEST_F(SpecializationTest, GoesOnWithoutWishesThatCannotBeTold) {
  Session session = create(fixed("*", {{"runs_before", "0"}}, {{"fail", "get_wishes"}}));
  run(session, {2, 3});
  EXPECT_TRUE(session.specializations().empty());
  EXPECT_THAT(log_.text(), HasSubstr("scripted failure at get_wishes; its wishes have no effect"));
}

TEST_F(SpecializationTest, IsMadeForProfilesWhenTheSessionIsCreated) {
  Session session = create(fixed("*", {{"profiles", "batch=1:2:8,seq=3;batch=4,x[1]=1:5:9"}}));
  EXPECT_THAT(ready(session), ElementsAre("batch=2,seq=3", "batch=4,seq=5"));
  EXPECT_EQ(count("compiles partition"), 2U);
  EXPECT_THAT(log_.text(), HasSubstr("profile x[0] 'batch' 1:2:8 x[1] 'seq' 3:3:3\n"));
  EXPECT_THAT(log_.text(), HasSubstr("profile x[0] 'batch' 4:4:4 x[1] 'seq' 1:5:9\n"));
  run(session, {2, 3});
  run(session, {7, 7});
}

TEST_F(SpecializationTest, RefusesProfilesThatDoNotFit) {
  const auto message_of = [&](const OptionList& entries) {
    const Status status = try_create(fixed("*", entries)).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(message_of({{"profiles", "bath=1"}}),
              HasSubstr("a profile of the session names \"bath\", and no input of the model has "
                        "an open dimension of that name; there are: batch, seq"));
  EXPECT_THAT(message_of({{"profiles", "batch=1"}}),
              HasSubstr("a profile of the session has no extent for \"seq\", which has to be "
                        "fixed; give all of batch, seq"));
  EXPECT_THAT(message_of({{"profiles", "batch=1,x[0]=2,seq=1"}}),
              HasSubstr("has the dimension \"x[0]\" twice"));
  EXPECT_THAT(message_of({{"profiles", "batch=1,seq=1"}, {"specialize", "off"}}),
              HasSubstr("session.shapes.specialize=off forbids"));
  EXPECT_THAT(
      message_of({{"profiles", "batch=1,seq=1;batch=2,seq=1"}, {"max_specializations", "1"}}),
      HasSubstr("raise it to 2"));
  graph::Model braced = test::open_model();
  braced.symbols = {"batch{0}", "seq"};
  model_ = test::save(folder_, std::move(braced));
  EXPECT_THAT(message_of({{"profiles", "batch{0}=0,seq=1"}}),
              HasSubstr("gives \"batch{0}\" an extent of 0; extents are at least 1"));
}

TEST_F(SpecializationTest, RefusesShapesOutsideOfTheProfilesThatTheModelWasCompiledFor) {
  Session session = create(fixed("", {{"profiles", "batch=1:2:4"}}));
  EXPECT_EQ(count("compiles partition"), 1U);
  run(session, {1, 9});
  run(session, {4, 9});
  const Status status = try_run(session, {5, 9});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("the inputs lie outside of the session's profiles"));
}

// y = Reshape(Neg(x), sizes).
graph::Model reshaped() {
  const auto sizes = graph::testing::tensor_type(ElementType::kInt64, graph::Shape{2});
  graph::Model model = test::model_of(graph::testing::GraphBuilder()
                                          .input("x", test::open_type())
                                          .input("sizes", sizes)
                                          .node("Neg", {"x"}, {"a"})
                                          .node("Reshape", {"a", "sizes"}, {"y"})
                                          .output("y")
                                          .build());
  model.symbols = {"batch", "seq", "rows", "columns"};
  model.graph.values[model.graph.find_value("y")].type = graph::testing::tensor_type(
      ElementType::kFloat, graph::Shape{graph::symbolic_dim(2), graph::symbolic_dim(3)});
  return model;
}

TEST_F(SpecializationTest, HasRangesForTheElementsOfInputs) {
  model_ = test::save(folder_, reshaped());
  Session session =
      create(fixed("", {{"profiles", "batch=1:2:4,sizes{0}=-1:1:6;seq=3,sizes{1}=7"}}));
  EXPECT_THAT(log_.text(), HasSubstr("profile x[0] 'batch' 1:2:4 sizes{0} -1:1:6\n"));
  EXPECT_THAT(log_.text(), HasSubstr("profile x[1] 'seq' 3:3:3 sizes{1} 7:7:7\n"));
  const auto reshape = [&](const std::vector<int64_t>& shape, const std::vector<int64_t>& sizes) {
    const Value wanted = *Value::of<int64_t>({2}, sizes);
    return session.run({{{"x", test::floats_of(shape)}, {"sizes", wanted}}}).status();
  };
  EXPECT_THAT(reshape({4, 3}, {6, 2}), IsOk());
  EXPECT_THAT(reshape({4, 3}, {-1, 2}), IsOk());
  EXPECT_THAT(reshape({7, 3}, {3, 7}), IsOk());
  for (const auto& sizes : {std::vector<int64_t>{12, 1}, {-1, 12}}) {
    const Status status = reshape({5, 3}, sizes);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("the inputs lie outside of the session's profiles"));
  }
  EXPECT_THAT(try_create(fixed("", {{"profiles", "sizes{2}=1"}})).status().message(),
              HasSubstr("a profile of the session names \"sizes{2}\""));
  EXPECT_THAT(try_create(fixed("", {{"profiles", "x{0}=1"}})).status().message(),
              HasSubstr("there are: batch, seq, sizes{0}, sizes{1}"));
}

}  // namespace
}  // namespace ephost::specialization_test
