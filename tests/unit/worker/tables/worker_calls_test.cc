// What a worker may ask and answer in calls that run nothing.
#include <cmath>
#include <limits>
#include <mutex>

#include "host/base/log.h"
#include "host/bridge/extensions/host_services.h"
#include "host/bridge/graph_view.h"
#include "host/worker/protocol/calls.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/worker/tables/replayed_calls.h"

namespace ephost::worker::worker_calls_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

std::string with_text(wire::Asked asked, const std::string& text, int32_t severity = EPH_LOG_INFO) {
  wire::Callback callback = asking(asked);
  callback.set_severity(severity);
  callback.set_text(text);
  return callback.SerializeAsString();
}

std::string progress(double fraction) {
  wire::Callback callback = asking(wire::PROGRESS_REPORT);
  callback.set_fraction(fraction);
  return callback.SerializeAsString();
}

std::string reading(wire::Asked asked, uint32_t graph, uint32_t index = 0, bool is_value = false) {
  wire::Callback callback = asking(asked);
  callback.set_graph(graph);
  callback.set_index(index);
  callback.set_is_value(is_value);
  return callback.SerializeAsString();
}

std::string reading_whole(uint32_t graph) {
  wire::Callback callback = asking(wire::READ_GRAPH);
  callback.set_graph(graph);
  callback.set_is_whole(true);
  return callback.SerializeAsString();
}

class LoggedText {
 public:
  LoggedText() {
    set_log_level(LoggingLevel::kVerbose);
    set_log_sink([this](LoggingLevel, std::string_view text) { text_.append(text).append("\n"); });
  }
  LoggedText(const LoggedText&) = delete;
  LoggedText& operator=(const LoggedText&) = delete;
  ~LoggedText() {
    set_log_sink({});
    set_log_level(LoggingLevel::kWarning);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Notes : public ReplayedCalls {
 protected:
  // The failure of the worker in a call without anything to ask for.
  std::string rejection_of_call(const Replay& replay) {
    start();
    const auto answer = call(replay, {});
    EXPECT_FALSE(answer.ok());
    EXPECT_FALSE(worker_->status().ok());
    return answer.ok() ? "" : answer.status().message();
  }
};

TEST_F(Notes, GoToTheProvidersHost) {
  const auto answer = call(Replay()
                               .post(with_text(wire::HOST_LOG, "posted"))
                               .ask(with_text(wire::HOST_LOG, "asked"))
                               .relay(),
                           {.host = &tables_});
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(host_.logged(), ::testing::ElementsAre("posted", "asked"));
}

// Such as infer, which a plugin's own thread may log beside.
TEST_F(Notes, GoToTheHostsLogInCallsWithoutAProvider) {
  const LoggedText log;
  const auto answer = call(Replay()
                               .post(with_text(wire::HOST_LOG, "posted"))
                               .ask(with_text(wire::HOST_LOG, "asked"))
                               .post(progress(0.5))
                               .ask(progress(0.5))
                               .ask(asking(wire::PROGRESS_IS_CANCELLED).SerializeAsString())
                               .ask(asking(wire::CONSTANTS_RELEASE).SerializeAsString())
                               .relay(),
                           {});
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->code(), EPH_OK) << answer->message();
  EXPECT_THAT(log.text(), AllOf(HasSubstr("posted"), HasSubstr("asked")));
}

TEST_F(Notes, AreMadePrintable) {
  const LoggedText log;
  const std::string hostile(32000, '\x1b');
  Replay replay;
  for (const int32_t severity : {INT32_MIN, INT32_MAX}) {
    replay.post(with_text(wire::HOST_LOG, hostile, severity));
    replay.ask(with_text(wire::HOST_LOG, hostile, severity));
  }
  const auto answer = call(replay.relay(), {});
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(log.text(), HasSubstr("\\x1b\\x1b"));
  EXPECT_THAT(log.text(), Not(Contains('\x1b')));
}

TEST_F(Notes, MayHaveAnyFraction) {
  std::vector<double> fractions;
  const bridge::HostServices services(
      "acme", {}, {.report = [&](std::string_view, double fraction, std::string_view) {
        fractions.push_back(fraction);
      }});
  const HostTables tables(&services);
  Replay replay;
  for (const double fraction : {std::nan(""), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(), -1.0, 2.0}) {
    replay.post(progress(fraction)).ask(progress(fraction));
  }
  const auto answer = call(replay.relay(), {.host = &tables});
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(fractions.size(), 10U);
  EXPECT_THAT(fractions, Each(AllOf(Ge(0), Le(1))));
}

TEST_F(Notes, AreAllThatCanBePosted) {
  for (int asked = wire::PROGRESS_IS_CANCELLED; asked <= wire::WRITER_ADD_NODE + 1; ++asked) {
    SCOPED_TRACE(asked);
    EXPECT_THAT(rejection_of_call(
                    Replay().post(asking(static_cast<wire::Asked>(asked)).SerializeAsString())),
                HasSubstr("it sent a post of " + std::to_string(asked)));
  }
}

TEST_F(Notes, AreAllThatCanBeAskedInAnyCall) {
  for (int asked = wire::READ_GRAPH; asked <= wire::WRITER_ADD_NODE + 1; ++asked) {
    SCOPED_TRACE(asked);
    EXPECT_THAT(rejection_of_call(
                    Replay().ask(asking(static_cast<wire::Asked>(asked)).SerializeAsString())),
                HasSubstr("it sent asks " + std::to_string(asked) +
                          " in a call that has nothing to do with it"));
  }
}

TEST_F(Notes, AreReadable) {
  EXPECT_THAT(rejection_of_call(Replay().post("\xff")), HasSubstr("a post that cannot be read"));
  EXPECT_THAT(rejection_of_call(Replay().ask("\xff")), HasSubstr("a callback that cannot be read"));
  EXPECT_THAT(rejection_of_call(Replay().answer("\xff")),
              HasSubstr("an answer that cannot be read"));
}

// Each of them would take a hundred bytes.
TEST_F(Notes, DoNotTurnIntoObjectsWithoutEnd) {
  const auto claims = [](size_t count) {
    std::string bytes;
    for (size_t i = 0; i < count; ++i) bytes += std::string("\x42\x00", 2);  // field 8, empty
    return bytes;
  };
  wire::Answer two;
  ASSERT_TRUE(two.ParseFromString(claims(2)));
  ASSERT_EQ(two.claims_size(), 2);
  EXPECT_THAT(rejection_of_call(Replay().answer(claims(10000000))),
              HasSubstr("a message of 20000000 bytes is too large"));
  EXPECT_THAT(rejection_of_call(Replay().answer(claims(2000000))),
              HasSubstr("it sent an answer with more than 1048576 entries"));
  EXPECT_THAT(rejection_of_call(Replay().ask(std::string(std::size_t{4} << 20, '\x68'))),
              HasSubstr("it sent a callback with more than 1048576 entries"));
}

// y = If(c) { z = Abs(k) }, s = x + w, and names, which are text.
class GraphsOfACall : public ReplayedCalls {
 protected:
  static graph::Model model() {
    using graph::testing::GraphBuilder;
    graph::Model model;
    graph::Graph body = GraphBuilder()
                            .constant("k", graph::testing::float_tensor({1}))
                            .node("Abs", {"k"}, {"z"})
                            .output("z")
                            .build();
    graph::Tensor names{.type = ElementType::kString, .shape = {1}};
    names.strings = std::make_shared<const std::vector<std::string>>(1, "name");
    model.graph = GraphBuilder()
                      .input("c", runtime::testing::floats({1}))
                      .input("x", runtime::testing::floats({2}))
                      .constant("w", graph::testing::float_tensor(std::vector<float>(4000, 1)))
                      .constant("names", std::move(names))
                      .node("If", {"c"}, {"y"})
                      .subgraph("then_branch", std::move(body))
                      .node("Add", {"x", "w"}, {"s"})
                      .output("y")
                      .build();
    model.ir_version = 8;
    model.opset_imports = {{"", 13}};
    return model;
  }

  Result<wire::Answer> call_with_graph(const Replay& replay,
                                       size_t descriptors = kManyDescriptors) {
    this->replay(replay);
    const FewDescriptors few(descriptors);
    Outgoing outgoing(worker_->regions());
    HostGraphs graphs(outgoing);
    wire::Request request;
    request.set_call(kCall<&eph_provider_api::compile>);
    EPHOST_RETURN_IF_ERROR(graphs.write_all(&view_, *request.mutable_graph()));
    return worker_->call(request, outgoing, {.graphs = &graphs});
  }
  std::string rejection_of_read(const std::string& read) {
    start();
    const auto answer = call_with_graph(Replay().ask(read).relay());
    EXPECT_FALSE(answer.ok());
    EXPECT_FALSE(worker_->status().ok());
    return answer.ok() ? "" : answer.status().message();
  }
  int32_t code_of(const std::string& read, size_t descriptors = kManyDescriptors) {
    const auto answer = call_with_graph(Replay().ask(read).relay(), descriptors);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->code() : EPH_EP_FAIL;
  }
  uint32_t value(std::string_view name) const { return model_.graph.find_value(name); }

  const graph::Model model_ = model();
  const bridge::GraphView view_{model_.graph, model_};
};

TEST_F(GraphsOfACall, AreKnownByTheirNumbers) {
  const auto count = static_cast<uint32_t>(model_.graph.values.size());
  EXPECT_EQ(code_of(reading(wire::READ_GRAPH, 1)), EPH_OK);
  EXPECT_EQ(code_of(reading(wire::READ_GRAPH, 1, count - 1, true)), EPH_OK);
  EXPECT_EQ(code_of(reading_whole(1)), EPH_OK);
  EXPECT_THAT(rejection_of_read(reading_whole(3)), HasSubstr("asks for graph 3, which it was"));
  for (const wire::Asked asked : {wire::READ_GRAPH, wire::READ_CONSTANT, wire::GRAPH_GET_ONNX}) {
    SCOPED_TRACE(asked);
    EXPECT_THAT(rejection_of_read(reading(asked, 0)), HasSubstr("asks for graph 0, which it was"));
    EXPECT_THAT(rejection_of_read(reading(asked, 3)), HasSubstr("asks for graph 3, which it was"));
    EXPECT_THAT(rejection_of_read(reading(asked, UINT32_MAX)),
                HasSubstr("asks for graph 4294967295"));
  }
}

TEST_F(GraphsOfACall, RefuseNodesAndValuesThatTheyDoNotHave) {
  const auto nodes = static_cast<uint32_t>(model_.graph.nodes.size());
  const auto values = static_cast<uint32_t>(model_.graph.values.size());
  for (const uint32_t index : {nodes, UINT32_MAX}) {
    EXPECT_EQ(code_of(reading(wire::READ_GRAPH, 1, index)), EPH_INVALID_ARGUMENT) << index;
  }
  for (const uint32_t index : {values, UINT32_MAX}) {
    EXPECT_EQ(code_of(reading(wire::READ_GRAPH, 1, index, true)), EPH_INVALID_ARGUMENT) << index;
    EXPECT_EQ(code_of(reading(wire::READ_CONSTANT, 1, index)), EPH_INVALID_ARGUMENT) << index;
  }
  EXPECT_THAT(worker_->status(), IsOk());
}

TEST_F(GraphsOfACall, HaveDataOfConstantsAlone) {
  EXPECT_EQ(code_of(reading(wire::READ_CONSTANT, 1, value("w"))), EPH_OK);
  for (const char* const name : {"x", "y", "names"}) {
    EXPECT_THAT(rejection_of_read(reading(wire::READ_CONSTANT, 1, value(name))),
                HasSubstr("asks for the data of value " + std::to_string(value(name))));
  }
}

TEST_F(GraphsOfACall, HaveOneNumberHoweverOftenTheyAreRead) {
  const auto answer = call_with_graph(Replay()
                                          .ask(reading(wire::READ_GRAPH, 1, 0), 1000)
                                          .ask(reading(wire::READ_GRAPH, 2))
                                          .relay());
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->code(), EPH_OK) << answer->message();
  const auto beyond = call_with_graph(Replay()
                                          .ask(reading(wire::READ_GRAPH, 1, 0), 1000)
                                          .ask(reading(wire::READ_GRAPH, 3))
                                          .relay());
  EXPECT_THAT(beyond.status().message(), HasSubstr("asks for graph 3, which it was not given"));
}

TEST_F(GraphsOfACall, FailACallbackWhereTheHostHasNoDescriptorLeft) {
  if (kNeedsDescriptors) GTEST_SKIP() << "the sanitizer opens some itself";
  EXPECT_EQ(code_of(reading(wire::READ_CONSTANT, 1, value("w"))), EPH_OK);
  EXPECT_EQ(code_of(reading(wire::READ_CONSTANT, 1, value("w")), 0), EPH_FAIL);
  EXPECT_EQ(code_of(reading(wire::GRAPH_GET_ONNX, 1), 0), EPH_FAIL);
  EXPECT_EQ(code_of(reading_whole(1), 0), EPH_FAIL);
  EXPECT_EQ(code_of(reading(wire::READ_CONSTANT, 1, value("w"))), EPH_OK);
}

}  // namespace
}  // namespace ephost::worker::worker_calls_test
