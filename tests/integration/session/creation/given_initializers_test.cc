// Initializers that the application gives instead of those in the model's files.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::given_initializers_test {
namespace {

using test::IsOk;
using test::LogCapture;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The scripted model with w0 = 0.5 and w1 = 3: y = -(|relu(x + w0)| * w1).
class GivenInitializers : public ::testing::Test {
 protected:
  static std::vector<float> run(Session& session) {
    const std::vector<NamedValue> inputs = {
        {"x", *Value::of<float>({4}, std::vector<float>{1, 2, 3, -9})}};
    const auto outputs = session.run(inputs);
    EXPECT_THAT(outputs, IsOk());
    if (!outputs.ok()) return {};
    const auto elements = outputs->front().elements<float>();
    return {elements.begin(), elements.end()};
  }
  static Value row(float value) { return *Value::of<float>({4}, std::vector<float>(4, value)); }
  // Where a session reads an initializer.
  static const std::byte* memory_of(const Session& session, std::string_view name) {
    const graph::Graph& graph = inside(session).prepared().model.graph;
    return graph.constant(graph.find_value(name))->data.bytes.data();
  }
  Status refusal(const SessionOptions& options) {
    return Session::create(environment_, external_, options).status();
  }

  test::TempDirectory folder_;
  Environment environment_ = test::scripted_environment();
  std::filesystem::path model_ = test::save(folder_, test::scripted_model());
  std::filesystem::path external_ =
      test::save(folder_, test::scripted_model(), "external.onnx", "weights");
};

TEST_F(GivenInitializers, ReplaceTheModels) {
  for (const auto& options : {SessionOptions(), test::scripted()}) {
    for (const auto& model : {model_, external_}) {
      SessionOptions giving = options;
      giving.add_initializer("w1", row(7)).add_initializer("w1", row(2));
      auto session = Session::create(environment_, model, giving);
      ASSERT_THAT(session, IsOk());
      EXPECT_THAT(run(*session), ElementsAre(-3, -5, -7, 0));
    }
  }
}

TEST_F(GivenInitializers, AreFolded) {
  graph::Model model = test::model_of(graph::testing::GraphBuilder()
                                          .input("x", test::row_type(4))
                                          .constant("w", test::row(4, 3))
                                          .node("Neg", {"w"}, {"n"})
                                          .node("Add", {"x", "n"}, {"y"})
                                          .output("y")
                                          .build());
  const auto path = test::save(folder_, model, "folded.onnx");
  SessionOptions options;
  options.add_initializer("w", row(1));
  auto session = Session::create(environment_, path, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(run(*session), ElementsAre(0, 1, 2, -10));
}

TEST_F(GivenInitializers, AreNotCopiedAndSharedBySessions) {
  std::optional<Value> value = row(2);
  const std::byte* const memory = value->bytes().data();
  SessionOptions options;
  options.add_initializer("w1", *value);
  auto one = Session::create(environment_, model_, options);
  auto two = Session::create(environment_, external_, options);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(two, IsOk());
  EXPECT_EQ(memory_of(*one, "w1"), memory);
  EXPECT_EQ(memory_of(*two, "w1"), memory);
  // The sessions keep the memory, and the value is theirs to read.
  value.reset();
  options = {};
  EXPECT_THAT(run(*one), ElementsAre(-3, -5, -7, 0));
  EXPECT_THAT(run(*two), ElementsAre(-3, -5, -7, 0));
}

TEST_F(GivenInitializers, MayLieInBorrowedMemory) {
  std::vector<float> memory(4, 2);
  SessionOptions options;
  options.add_initializer(
      "w1", *Value::borrow(ElementType::kFloat, {4}, std::as_writable_bytes(std::span(memory))));
  auto session = Session::create(environment_, model_, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(memory_of(*session, "w1"), std::as_bytes(std::span(memory)).data());
  EXPECT_THAT(run(*session), ElementsAre(-3, -5, -7, 0));
}

TEST_F(GivenInitializers, AreCopiedWhereTheirElementsAreNotAligned) {
  std::vector<std::byte> memory(17);
  const std::vector<float> elements(4, 2);
  const std::span<std::byte> place =
      std::span(memory).subspan(reinterpret_cast<uintptr_t>(memory.data()) % 2 == 0 ? 1 : 0, 16);
  std::ranges::copy(std::as_bytes(std::span(elements)), place.begin());
  SessionOptions options;
  options.add_initializer("w1", *Value::borrow(ElementType::kFloat, {4}, place));
  auto session = Session::create(environment_, model_, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory_of(*session, "w1")) % alignof(float), 0U);
  EXPECT_THAT(run(*session), ElementsAre(-3, -5, -7, 0));
}

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

// One copy of a large initializer is in memory, however many sessions read it.
TEST_F(GivenInitializers, DoNotTakeMemoryAgain) {
  constexpr int64_t kElements = int64_t{16} << 20;
  constexpr uint64_t kBytes = kElements * sizeof(float);
  graph::testing::GraphBuilder builder;
  builder.input("x", graph::testing::tensor_type(ElementType::kInt64, graph::Shape{1}));
  builder.constant("w", test::row(kElements, 1)).node("Gather", {"w", "x"}, {"y"}).output("y");
  graph::Model model = test::model_of(builder.build());
  model.graph.values[model.graph.find_value("y")].type = test::row_type(1);
  const auto path = test::save(folder_, model, "large.onnx", "large.weights");
  model = {};
  std::filesystem::remove(folder_ / "large.weights");
  Value large = *Value::allocate(ElementType::kFloat, {kElements});
  std::ranges::fill(large.mutable_elements<float>(), 5.0F);
  SessionOptions options;
  options.add_external_initializers(std::vector<NamedValue>{{"w", large}});
  const uint64_t before = resident_bytes();
  auto one = Session::create(environment_, path, options);
  auto two = Session::create(environment_, path, options);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(two, IsOk());
  const std::vector<NamedValue> inputs = {
      {"x", *Value::of<int64_t>({1}, std::vector<int64_t>{kElements - 1})}};
  const auto outputs = two->run(inputs);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT(outputs->front().elements<float>(), ElementsAre(5));
  if (EPH_BUILD_FLAGS == 0) {  // sanitizers keep what was freed
    EXPECT_LT(resident_bytes(), before + kBytes / 2);
  }
}

TEST_F(GivenInitializers, AreDefaultsOfInputsToo) {
  graph::Model model = test::scripted_model();
  model.graph.inputs.push_back(model.graph.find_value("w1"));
  graph::connect(model.graph);
  SessionOptions options;
  options.add_initializer("w1", row(2));
  auto session = Session::create(environment_, test::save(folder_, model, "d.onnx"), options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->overridable_initializers().size(), 1U);
  EXPECT_THAT(run(*session), ElementsAre(-3, -5, -7, 0));
}

TEST_F(GivenInitializers, StandForExternalDataWhoseFileIsNotThere) {
  std::filesystem::remove(folder_ / "weights");
  EXPECT_EQ(refusal({}).code(), StatusCode::kNoSuchFile);
  SessionOptions options;
  options.add_external_initializers(std::vector<NamedValue>{{"w0", row(0)}, {"w1", row(2)}});
  auto session = Session::create(environment_, external_, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(run(*session), ElementsAre(-2, -4, -6, 0));
}

TEST_F(GivenInitializers, AreRefusedWithAnotherTypeOrShape) {
  SessionOptions shape;
  shape.add_initializer("w1", *Value::of<float>({2, 2}, std::vector<float>(4)));
  EXPECT_EQ(refusal(shape).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal(shape).message(),
              HasSubstr("initializer \"w1\" is given as float[2,2], but the model's is float[4]"));
  SessionOptions type;
  type.add_initializer("w1", *Value::of<int32_t>({4}, std::vector<int32_t>(4)));
  EXPECT_THAT(refusal(type).message(), HasSubstr("is given as int32[4]"));
  SessionOptions sequence;
  sequence.add_initializer("w1", *Value::sequence({row(1)}));
  EXPECT_EQ(refusal(sequence).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal(sequence).message(), HasSubstr("give a tensor"));
}

TEST_F(GivenInitializers, ThatMustBeExternalAreRefusedWhereTheyAreNot) {
  SessionOptions options;
  options.add_external_initializers(std::vector<NamedValue>{{"w1", row(2)}});
  const Status inside = Session::create(environment_, model_, options).status();
  EXPECT_EQ(inside.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(inside.message(), HasSubstr("its data is inside the model"));
  SessionOptions unknown;
  unknown.add_external_initializers(std::vector<NamedValue>{{"w11", row(2)}});
  EXPECT_EQ(refusal(unknown).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal(unknown).message(), AllOf(HasSubstr("the model has no initializer \"w11\""),
                                                HasSubstr("did you mean \"w1\"?")));
}

TEST_F(GivenInitializers, ThatTheModelDoesNotHaveAreAWarning) {
  const LogCapture log;
  SessionOptions options;
  options.add_initializer("w11", row(2));
  EXPECT_THAT(refusal(options), IsOk());
  EXPECT_THAT(log.text(), AllOf(HasSubstr("the model has no initializer \"w11\", so the one given "
                                          "has no effect"),
                                HasSubstr("did you mean \"w1\"?")));
}

TEST_F(GivenInitializers, BelongToTheKeyOfTheCacheStoreByContent) {
  SessionOptions cached = test::scripted();
  cached.add_config_entry("ep.cache_dir", (folder_ / "cache").string());
  const LogCapture log;
  const auto outcome = [&](float value, const std::vector<float>& expected) {
    SessionOptions options = cached;
    options.add_initializer("w1", row(value));
    auto session = Session::create(environment_, external_, options);
    EXPECT_THAT(session, IsOk());
    EXPECT_EQ(run(*session), expected);
    return session->cache_use().outcome;
  };
  EXPECT_EQ(outcome(2, {-3, -5, -7, 0}), CacheUse::Outcome::kMiss);
  EXPECT_EQ(outcome(4, {-6, -10, -14, 0}), CacheUse::Outcome::kMiss);
  EXPECT_EQ(outcome(2, {-3, -5, -7, 0}), CacheUse::Outcome::kHit);
  EXPECT_THAT(log.text(), Not(HasSubstr("has no effect")));
}

// What no provider compiled is an initializer of the entry, too.
TEST_F(GivenInitializers, AreSharedBySessionsThatTheCacheStoreHasCompiled) {
  SessionOptions options = test::scripted({{"claim", "fuse:Neg"}});
  options.add_config_entry("ep.cache_dir", (folder_ / "cache").string());
  const Value value = row(2);
  options.add_initializer("w1", value);
  for (const auto outcome : {CacheUse::Outcome::kMiss, CacheUse::Outcome::kHit}) {
    auto session = Session::create(environment_, external_, options);
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ(session->cache_use().outcome, outcome) << session->cache_use().reason;
    EXPECT_EQ(memory_of(*session, "w1"), value.bytes().data());
    EXPECT_THAT(run(*session), ElementsAre(-3, -5, -7, 0));
  }
}

TEST_F(GivenInitializers, AreWrittenIntoContextModels) {
  SessionOptions options = test::scripted();
  options.add_initializer("w1", row(2));
  ASSERT_THAT(
      compile_model(environment_, options,
                    {.input_model_path = external_, .output_model_path = folder_ / "ctx.onnx"}),
      IsOk());
  auto session = Session::create(environment_, folder_ / "ctx.onnx", test::scripted());
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(run(*session), ElementsAre(-3, -5, -7, 0));
}

TEST_F(GivenInitializers, OfTextKeepTheirStrings) {
  graph::Model model = test::model_of(
      graph::testing::GraphBuilder()
          .input("x", graph::testing::tensor_type(ElementType::kInt64, graph::Shape{1}))
          .constant("names", {.type = ElementType::kString,
                              .shape = {2},
                              .strings = std::make_shared<const std::vector<std::string>>(
                                  std::vector<std::string>{"a", "b"})})
          .node("Gather", {"names", "x"}, {"y"})
          .output("y")
          .build());
  model.graph.values[model.graph.find_value("y")].type =
      graph::testing::tensor_type(ElementType::kString, graph::Shape{1});
  SessionOptions options;
  options.add_initializer("names", *Value::of_strings({2}, {"c", "d"}));
  auto session = Session::create(environment_, test::save(folder_, model, "t.onnx"), options);
  ASSERT_THAT(session, IsOk());
  const std::vector<NamedValue> inputs = {{"x", *Value::of<int64_t>({1}, std::vector<int64_t>{1})}};
  const auto outputs = session->run(inputs);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT(outputs->front().strings(), ElementsAre("d"));
}

class FilesInMemory : public GivenInitializers {
 protected:
  SessionOptions giving(const std::string& name, SessionOptions options = {}) {
    options.add_external_initializers_from_files_in_memory(
        std::vector<FileInMemory>{{name, std::as_bytes(std::span(weights_))}});
    return options;
  }

  std::string weights_ = test::read(folder_ / "weights");
};

TEST_F(FilesInMemory, StandForTheFilesAndAreNotCopied) {
  auto expected = Session::create(environment_, external_);
  ASSERT_THAT(expected, IsOk());
  const std::vector<float> numbers = run(*expected);
  std::filesystem::remove(folder_ / "weights");
  const std::string bytes = test::read(external_);
  for (const bool from_memory : {false, true}) {
    auto session = from_memory
                       ? Session::create(environment_, test::model_bytes(bytes), giving("weights"))
                       : Session::create(environment_, external_, giving("weights"));
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ(run(*session), numbers);
    const auto* const begin = std::as_bytes(std::span(weights_)).data();
    EXPECT_GE(memory_of(*session, "w1"), begin);
    EXPECT_LT(memory_of(*session, "w1"), begin + weights_.size());
  }
}

TEST_F(FilesInMemory, ThatAreTooShortAreRefused) {
  weights_.resize(20);
  const Status refused = refusal(giving("weights"));
  EXPECT_EQ(refused.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(refused.message(), HasSubstr("which has 20 bytes"));
}

TEST_F(FilesInMemory, ThatTheModelDoesNotReadAreAWarning) {
  const LogCapture log;
  EXPECT_THAT(refusal(giving("weight")), IsOk());
  EXPECT_THAT(log.text(), AllOf(HasSubstr("reads no external data in \"weight\""),
                                HasSubstr("did you mean \"weights\"?")));
}

TEST_F(FilesInMemory, BelongToTheKeyOfTheCacheStore) {
  SessionOptions cached = test::scripted();
  cached.add_config_entry("ep.cache_dir", (folder_ / "cache").string());
  const auto outcome = [&] {
    auto session = Session::create(environment_, external_, giving("weights", cached));
    EXPECT_THAT(session, IsOk());
    EXPECT_THAT(run(*session), Not(Each(0)));
    return session->cache_use().outcome;
  };
  EXPECT_EQ(outcome(), CacheUse::Outcome::kMiss);
  EXPECT_EQ(outcome(), CacheUse::Outcome::kHit);
  weights_[3] ^= 1;
  EXPECT_EQ(outcome(), CacheUse::Outcome::kMiss);
}

}  // namespace
}  // namespace ephost::given_initializers_test
