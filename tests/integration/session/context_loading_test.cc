// Loading context models: which nodes are partitioned, and where binaries come from.
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "host/context/file_names.h"
#include "host/context/metadata.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::context_loading_test {
namespace {

using test::IsOk;
using test::scripted;
using test::scripted_environment;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ContextLoading : public ::testing::Test {
 protected:
  std::filesystem::path compile(const SessionOptions& options = scripted()) {
    const auto report = compile_model(environment_, options, compilation_);
    EXPECT_THAT(report, IsOk());
    return folder_ / "m_ctx.onnx";
  }
  session::PreparedModel prepare(const std::filesystem::path& model,
                                 const SessionOptions& options) {
    auto prepared = prepare_inside(environment_, model, options, session::Stage::kCompiled);
    EXPECT_THAT(prepared, IsOk());
    return std::move(prepared).value();
  }

  TempDirectory folder_;
  TempDirectory source_;
  Environment environment_ = scripted_environment();
  std::filesystem::path model_ = test::save(source_, test::scripted_model());
  std::vector<Value> expected_ = test::expected_outputs(model_);
  ModelCompilationOptions compilation_{.input_model_path = model_,
                                       .output_model_path = folder_ / "m_ctx.onnx"};
};

// A context model that is replaced by another generation while it is read.
class ReplacedContext : public ContextLoading {
 protected:
  // Two generations with different binaries, in `one` and `other`.
  void SetUp() override {
    for (const auto& [name, claim] : {std::pair("one", "fuse:*"), std::pair("other", "fuse:Neg")}) {
      std::filesystem::create_directory(folder_ / name);
      compilation_.output_model_path = folder_ / name / "m_ctx.onnx";
      const auto report = compile_model(environment_, scripted({{"claim", claim}}), compilation_);
      ASSERT_THAT(report, IsOk());
    }
  }

  // Publishes a copy of a generation: renames each file into place, the model last.
  void publish(const std::string& generation) const {
    for (const char* name : {"m_scripted.bin", "m_ctx.onnx"}) {
      const auto copy = folder_.write("copy", test::read(folder_ / generation / name));
      std::filesystem::rename(copy, folder_ / name);
    }
  }

  // The status of a load during which `replace` is called each time after the model is read and
  // before its binaries are.
  Status load(const std::function<void()>& replace) {
    session::PipelineHooks hooks;
    hooks.after_import = [&](const session::PreparedModel&) {
      ++readings_;
      replace();
      return Status::ok_status();
    };
    return prepare_inside(environment_, folder_ / "m_ctx.onnx", scripted(),
                          session::Stage::kCompiled, hooks)
        .status();
  }

  int readings_ = 0;
};

TEST_F(ReplacedContext, IsReadAgain) {
  publish("one");
  const Status status = load([&] {
    if (readings_ == 1) publish("other");
  });
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(readings_, 2);
}

TEST_F(ReplacedContext, IsReadALimitedNumberOfTimes) {
  publish("one");
  const Status status = load([&] { publish(readings_ % 2 == 1 ? "other" : "one"); });
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_GT(readings_, 1);
  EXPECT_LT(readings_, 10);
}

TEST_F(ReplacedContext, IsReadOnceWhenItIsMerelyDamaged) {
  publish("one");
  folder_.write("m_scripted.bin", "damaged");
  EXPECT_EQ(load([] {}).code(), StatusCode::kInvalidGraph);
  EXPECT_EQ(readings_, 1);
}

TEST_F(ContextLoading, PartitionsTheWholeModelWithoutContextNodes) {
  const session::PreparedModel prepared = prepare(model_, scripted());
  EXPECT_FALSE(prepared.is_context_model());
  EXPECT_EQ(prepared.main.partitioning.partitions.size(), 2U);
}

// The provider would now fuse nodes that it did not claim when the context was made; they still go
// to kernels.
TEST_F(ContextLoading, PartitionsOnlyContextNodesOfAContextModel) {
  const auto context = compile(scripted({{"claim", "fuse:Neg"}}));
  const session::PreparedModel prepared = prepare(context, scripted({{"claim", "fuse:*"}}));
  EXPECT_TRUE(prepared.is_context_model());
  EXPECT_THAT(prepared.main.partitioning.partitions, IsEmpty());
  const graph::Graph& graph = prepared.model.graph;
  ASSERT_EQ(graph.nodes.size(), 5U);
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const bool is_context = graph.nodes[id].op_type == "EPContext";
    EXPECT_EQ(is_context, id == 4U);
    EXPECT_EQ(prepared.providers[prepared.main.partitioning.owner[id]]->short_name(),
              is_context ? "scripted" : "cpu");
  }
  test::expect_runs(Session::create(environment_, context, scripted()), expected_);
}

TEST_F(ContextLoading, AssignsOtherNodesToKernelsByPriority) {
  const auto context = compile(scripted({{"claim", "fuse:Neg"}}));
  const session::PreparedModel prepared =
      prepare(context, scripted({{"claim", "fuse:*;kernels:Relu"}}));
  std::vector<std::string> owners;
  for (const uint32_t owner : prepared.main.partitioning.owner) {
    owners.push_back(prepared.providers[owner]->short_name());
  }
  EXPECT_THAT(owners, ElementsAre("cpu", "scripted", "cpu", "cpu", "scripted"));
}

TEST_F(ContextLoading, CompilesNothingForAContextModel) {
  const auto context = compile();
  const SessionOptions options = scripted({{"cannot_compile", "*"}});
  auto session = Session::create(environment_, context, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(session->fallbacks(), IsEmpty());
  test::expect_runs(std::move(session), expected_);
}

// Stores binaries as an application that encrypts them would.
class Vault {
 public:
  EpContextDataWriteFunction writer() {
    return [this](std::string_view name, std::span<const std::byte> bytes) {
      std::vector<std::byte>& kept = binaries[std::string(name)];
      kept.assign(bytes.begin(), bytes.end());
      for (std::byte& byte : kept) byte ^= std::byte{0x5a};
      return Status::ok_status();
    };
  }
  EpContextDataReadFunction reader() {
    return [this](std::string_view name) -> Result<EpContextData> {
      ++reads;
      const auto kept = binaries.find(std::string(name));
      if (kept == binaries.end()) return Status(StatusCode::kNotFound, "no such secret");
      auto bytes = std::make_shared<std::vector<std::byte>>(kept->second);
      for (std::byte& byte : *bytes) byte ^= std::byte{0x5a};
      return EpContextData{*bytes, bytes};
    };
  }

  std::map<std::string, std::vector<std::byte>> binaries;
  int reads = 0;
};

class ContextVault : public ContextLoading {
 protected:
  ContextVault() { compilation_.ep_context_data_write_func = vault_.writer(); }
  SessionOptions with_reader() {
    return SessionOptions(scripted()).set_ep_context_data_read_func(vault_.reader());
  }

  Vault vault_;
};

TEST_F(ContextVault, BinariesGoToTheFunctionAndComeFromTheFunction) {
  const auto context = compile();
  EXPECT_THAT(test::files_in(folder_.path()), ElementsAre("m_ctx.onnx"));
  ASSERT_EQ(vault_.binaries.size(), 1U);
  EXPECT_EQ(vault_.binaries.begin()->first, "m_scripted.bin");
  test::expect_runs(Session::create(environment_, context, with_reader()), expected_);
  EXPECT_EQ(vault_.reads, 1);
  const auto refused = Session::create(environment_, context, scripted());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidGraph);
}

TEST_F(ContextVault, EachPayloadHasItsName) {
  const auto context = compile(scripted({{"payloads", "each"}}));
  EXPECT_EQ(vault_.binaries.size(), 2U);
  EXPECT_TRUE(vault_.binaries.contains("m_scripted_1.bin"));
  test::expect_runs(Session::create(environment_, context, with_reader()), expected_);
}

TEST_F(ContextVault, AModelFromMemoryNeedsNoFileAtAll) {
  std::vector<std::byte> model;
  compilation_.output_model_path.clear();
  compilation_.output_model_buffer = &model;
  ASSERT_THAT(compile_model(environment_, scripted(), compilation_), IsOk());
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
  EXPECT_TRUE(vault_.binaries.contains("model_scripted.bin"));
  test::expect_runs(Session::create(environment_, ModelBytes{model}, with_reader()), expected_);
}

TEST_F(ContextVault, ChecksumsAreCheckedOfWhatTheFunctionGives) {
  const auto context = compile();
  vault_.binaries.begin()->second.back() ^= std::byte{1};
  const auto damaged = Session::create(environment_, context, with_reader());
  EXPECT_EQ(damaged.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(damaged.status().message(), HasSubstr("has the checksum"));
}

TEST_F(ContextVault, AFailureOfTheReadFunctionSaysWhichNodeAndWhy) {
  const auto context = compile();
  vault_.binaries.clear();
  const auto refused = Session::create(environment_, context, with_reader());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("EPContext node"), HasSubstr("m_scripted.bin"),
                    HasSubstr("NOT_FOUND: no such secret")));
}

TEST_F(ContextVault, NamesThatLeadElsewhereNeverReachTheReadFunction) {
  const auto context = compile();
  for (const char* name : {"", "../m_scripted.bin", "/m_scripted.bin"}) {
    graph::Model model = test::import_file(context);
    for (graph::Node& node : model.graph.nodes) {
      for (graph::Attribute& attribute : node.attributes) {
        if (attribute.name == "ep_cache_context") attribute.value = std::string(name);
      }
    }
    const auto refused =
        Session::create(environment_, test::save(folder_, model, "odd.onnx"), with_reader());
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidGraph);
  }
  EXPECT_EQ(vault_.reads, 0);
}

TEST_F(ContextVault, AFailureOfTheWriteFunctionIsReturnedAsItIs) {
  compilation_.ep_context_data_write_func = [](std::string_view, std::span<const std::byte>) {
    return Status(StatusCode::kEngineError, "the vault is shut");
  };
  EXPECT_EQ(compile_model(environment_, scripted(), compilation_).status().to_string(),
            "ENGINE_ERROR: the vault is shut");
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
}

TEST_F(ContextVault, BytesWithoutAnOwnerAreCopied) {
  const auto context = compile();
  std::vector<std::byte> buffer;
  SessionOptions options = scripted();
  options.set_ep_context_data_read_func([&](std::string_view name) -> Result<EpContextData> {
    EPHOST_ASSIGN_OR_RETURN(const EpContextData data, vault_.reader()(name));
    buffer.assign(data.bytes.begin(), data.bytes.end());
    return EpContextData{buffer, nullptr};
  });
  auto session = Session::create(environment_, context, options);
  buffer.assign(buffer.size(), std::byte{0});
  test::expect_runs(std::move(session), expected_);
}

// A crash between the publication of the initializers and of the model leaves the old ones under
// another name.
TEST_F(ContextLoading, LoadsTheSupersededInitializersThatTheModelStates) {
  compilation_.output_model_external_initializers_file = "weights";
  const auto context = compile(scripted({{"claim", "fuse:Neg"}}));
  const std::string weights = test::read(folder_ / "weights");
  const auto hash = to_hex(content_checksum(std::as_bytes(std::span(weights))));
  std::filesystem::rename(folder_ / "weights", folder_ / context::superseded_name("weights", hash));
  test::write(folder_ / "weights", std::string(weights.size(), '\0'));
  test::expect_runs(Session::create(environment_, context, scripted()), expected_);
}

// The context model without the entries of its metadata, as if from this host or from another one.
void strip(const std::filesystem::path& context, bool as_of_this_host) {
  graph::Model model = test::import_file(context);
  model.metadata.clear();
  if (!as_of_this_host) model.producer_name.clear();
  ASSERT_THAT(onnx_io::export_model(model, {})->write(context), IsOk());
}

TEST_F(ContextLoading, RefusesAModelOfThisHostWithoutItsChecksums) {
  const auto context = compile();
  strip(context, true);
  const auto session = Session::create(environment_, context, scripted());
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(session.status().message(), HasSubstr("no checksum of file \"m_scripted.bin\""));
  SessionOptions options = scripted();
  options.add_config_entry("ep.require_checksums", "0");
  test::expect_runs(Session::create(environment_, context, options), expected_);
}

TEST_F(ContextLoading, WarnsOfAModelOfAnotherHostWithoutChecksums) {
  const auto context = compile();
  strip(context, false);
  const test::LogCapture log;
  test::expect_runs(Session::create(environment_, context, scripted()), expected_);
  EXPECT_THAT(log.text(), HasSubstr("has no checksum for file \"m_scripted.bin\""));
  SessionOptions options = scripted();
  options.add_config_entry("ep.require_checksums", "1");
  EXPECT_EQ(Session::create(environment_, context, options).status().code(),
            StatusCode::kInvalidGraph);
}

}  // namespace
}  // namespace ephost::context_loading_test
