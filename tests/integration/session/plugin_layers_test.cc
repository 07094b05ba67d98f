// Sessions with a layer that a plugin ships (tests/fixtures/counting_layer).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/manifest/platform.h"
#include "tests/fixtures/fixtures.h"
#include "tests/integration/session/sample.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::plugin_layers_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

bool is_mapped(std::string_view library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/" + std::string(library))) return true;
  }
  return false;
}

class PluginLayers : public ::testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("EPHOST_COUNTING_LAYER");
    ::unsetenv("EPHOST_LAYERS");
  }

  // What the plugin directories besides that of the providers are.
  Environment open(std::vector<std::string> folders) {
    EnvironmentOptions options;
    options.plugin_directories = std::move(folders);
    options.plugin_directories.emplace_back(EPHOST_PLUGINS);
    options.search_default_directories = false;
    options.log_severity_level = LoggingLevel::kInfo;
    options.logging_function = [this](const LogMessage& message) {
      const std::lock_guard lock(mutex_);
      messages_.emplace_back(message.message);
    };
    auto created = Environment::create(options);
    EXPECT_THAT(created, IsOk());
    return std::move(created).value();
  }
  Environment open() { return open({test::fixture_directory("counting_layer")}); }

  static Result<Session> create(const Environment& environment, const SessionOptions& options) {
    return Session::create(environment, test::model_path("tiny_diamond"), options);
  }
  static Result<std::vector<Value>> run(const Environment& environment,
                                        const SessionOptions& options) {
    EPHOST_ASSIGN_OR_RETURN(Session session, create(environment, options));
    return session.run(test::random_inputs(session));
  }
  static SessionOptions with(const std::string& key, const std::string& layers) {
    SessionOptions options = test::with_dnnl();
    options.add_config_entry(key, layers);
    return options;
  }

  std::vector<std::string> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
  test::TempDirectory folder_;
};

TEST_F(PluginLayers, LieOverAllProvidersAndLeaveResultsAsTheyAre) {
  const auto plain = run(open(), test::with_dnnl());
  ASSERT_THAT(plain, IsOk());
  EXPECT_THAT(messages(), Not(Contains(HasSubstr("counting"))));
  const auto layered = run(open(), with("session.layers", "counting"));
  ASSERT_THAT(layered, IsOk());
  test::expect_close(*layered, *plain);
  EXPECT_THAT(messages(), AllOf(Contains(HasSubstr("counting layer: creates dnnl, 1 created")),
                                Contains(HasSubstr("counting layer: creates cpu, 1 created"))));
}

TEST_F(PluginLayers, MayLieOverOneProviderOnly) {
  ASSERT_THAT(run(open(), with("session.layers.dnnl", "counting")), IsOk());
  EXPECT_THAT(messages(), AllOf(Contains(HasSubstr("counting layer: creates dnnl")),
                                Not(Contains(HasSubstr("counting layer: creates cpu")))));
}

// The counting layer asks the one below it for the table of devices.
TEST_F(PluginLayers, LeaveDevicesToTheLayersBelow) {
  const Environment environment =
      open({test::fixture_directory("counting_layer"), test::fixture_directory("device")});
  const auto outputs_with = [&](const std::string& layers) -> Result<std::vector<Value>> {
    SessionOptions options;
    options.append_execution_provider("device", {});
    options.add_config_entry("session.layers", layers);
    EPHOST_ASSIGN_OR_RETURN(
        Session session, Session::create(environment, test::model_path("tiny_residual"), options));
    return session.run(test::random_inputs(session));
  };
  const auto plain = outputs_with("");
  ASSERT_THAT(plain, IsOk());
  for (const std::string layers : {"counting", "counting;validate", "validate;counting;regroup"}) {
    const auto layered = outputs_with(layers);
    ASSERT_THAT(layered, IsOk()) << layers;
    test::expect_close(*layered, *plain);
  }
  EXPECT_THAT(messages(), Contains(HasSubstr("counting layer: creates device")));
}

TEST_F(PluginLayers, AreNamedByTheEnvironmentVariable) {
  ::setenv("EPHOST_LAYERS", "counting", 1);
  ASSERT_THAT(run(open(), test::with_dnnl()), IsOk());
  EXPECT_THAT(messages(), Contains(HasSubstr("counting layer: creates dnnl")));
}

// The trace shows what is said through the host that the layer below it gets, and no more.
TEST_F(PluginLayers, AreOrderedWithThoseOfTheHost) {
  const auto trace_of = [&](const std::string& layers) {
    const std::filesystem::path file = folder() / (layers + ".trace");
    SessionOptions options = with("session.layers", layers);
    options.add_config_entry("session.trace.file", file.string());
    const auto outputs = run(open(), options);
    EXPECT_THAT(outputs, IsOk());
    return test::read(file);
  };
  const std::string above = trace_of("trace;counting");
  EXPECT_THAT(above, AllOf(HasSubstr("-> dnnl create"), HasSubstr("counting layer: creates dnnl")));
  const std::string below = trace_of("counting;trace");
  EXPECT_THAT(below, AllOf(HasSubstr("-> dnnl create"), Not(HasSubstr("counting layer"))));
}

TEST_F(PluginLayers, AreWatchedByTheLayerThatValidates) {
  for (const char* layers : {"validate;counting", "counting;validate"}) {
    const auto outputs = run(open(), with("session.layers", layers));
    ASSERT_THAT(outputs, IsOk()) << layers;
  }
  EXPECT_THAT(messages(), Not(Contains(HasSubstr("validation: "))));
}

TEST_F(PluginLayers, AreReleasedAndUnloadedWithTheSession) {
  const Environment environment = open();
  {
    const auto session = create(environment, with("session.layers", "counting"));
    ASSERT_THAT(session, IsOk());
    EXPECT_TRUE(is_mapped("libcounting_layer.so"));
    EXPECT_THAT(messages(), Not(Contains(HasSubstr("releases"))));
  }
  EXPECT_THAT(messages(), AllOf(Contains(HasSubstr("counting layer: releases dnnl, 1 created")),
                                Contains(HasSubstr("counting layer: releases cpu, 1 created"))));
  EXPECT_FALSE(is_mapped("libcounting_layer.so"));
}

TEST_F(PluginLayers, OfUnknownNamesAreRefusedWithTheNearestOne) {
  const auto session = create(open(), with("session.layers", "countng"));
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(session.status().message(),
              AllOf(HasSubstr("there is no layer \"countng\"; did you mean \"counting\"?"),
                    HasSubstr("the layers are: trace, validate, regroup, counting")));
}

TEST_F(PluginLayers, AreNotProviders) {
  SessionOptions options;
  options.append_execution_provider("counting");
  const auto session = create(open(), options);
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(session.status().message(),
              HasSubstr("\"counting\" is a layer, not a provider; name it with --layer"));
}

TEST_F(PluginLayers, AreNoLibrariesToRegister) {
  const Status status = test::environment().register_execution_provider_library(
      test::fixture_directory("counting_layer") / "counting_layer.yaml", "counting");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("is the manifest of the layer \"counting\""));
}

TEST_F(PluginLayers, AreListedWithoutAProvider) {
  const Environment environment = open();
  const std::vector<InstalledPlugin> plugins = environment.plugins();
  const InstalledPlugin& layer = plugins.back();
  EXPECT_EQ(layer.name, "counting");
  EXPECT_EQ(layer.provider, "");
  EXPECT_THAT(environment.check_loadable(layer), IsOk());
}

TEST_F(PluginLayers, FailTheSessionWhereTheyFail) {
  const struct {
    const char* what;
    StatusCode code;
    const char* message;
  } cases[] = {
      {"fails", StatusCode::kEngineError,
       "the layer \"counting\" failed decorating DnnlExecutionProvider: nothing is counted today; "
       "leave the layer out of this session"},
      {"null", StatusCode::kEpFail,
       "decorate of counting for DnnlExecutionProvider: "
       "eph_provider_api is null"},
      {"short", StatusCode::kEpFail, "eph_provider_api is too short: its struct_size is 16"},
      {"renames", StatusCode::kEpFail,
       "the layer \"counting\" changes the short name of DnnlExecutionProvider, which is \"dnnl\""},
  };
  for (const auto& one : cases) {
    ::setenv("EPHOST_COUNTING_LAYER", one.what, 1);
    const auto session = create(open(), with("session.layers.dnnl", "counting"));
    EXPECT_EQ(session.status().code(), one.code) << one.what;
    EXPECT_THAT(session.status().message(), HasSubstr(one.message)) << one.what;
    EXPECT_FALSE(is_mapped("libcounting_layer.so")) << one.what;
  }
}

TEST_F(PluginLayers, AreOfTheHighestVersionThatWorks) {
  const std::filesystem::path next = folder() / "next";
  const std::filesystem::path library = test::copy_fixture("next_counting_layer", next);
  const std::filesystem::path first = test::fixture_directory("counting_layer");
  const auto session = create(open({first, next}), with("session.layers", "counting"));
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(is_mapped("libnext_counting_layer.so"));
  EXPECT_FALSE(is_mapped("libcounting_layer.so"));

  std::filesystem::copy(next, folder() / "broken", std::filesystem::copy_options::recursive);
  test::write_bytes(folder() / "broken" / library.filename(), "no library");
  const auto other = create(open({first, folder() / "broken"}), with("session.layers", "counting"));
  ASSERT_THAT(other, IsOk());
  EXPECT_TRUE(is_mapped("libcounting_layer.so"));
  EXPECT_THAT(messages(), Contains(AllOf(HasSubstr("counting: version 1.1.0 of"),
                                         HasSubstr("is passed over for version 1.0.0"))));
}

// A layer may change what is compiled, so that its sessions have entries of their own.
TEST_F(PluginLayers, ArePartOfTheKeyOfACacheStore) {
  const auto outcome = [&](SessionOptions options) {
    options.add_config_entry("ep.cache_dir", (folder() / "store").string());
    const auto session = create(open(), options);
    EXPECT_THAT(session, IsOk());
    return session.ok() ? session->cache_use().outcome : CacheUse::Outcome::kUncached;
  };
  EXPECT_EQ(outcome(test::with_dnnl()), CacheUse::Outcome::kMiss);
  EXPECT_EQ(outcome(with("session.layers", "counting")), CacheUse::Outcome::kMiss);
  EXPECT_EQ(outcome(with("session.layers", "counting")), CacheUse::Outcome::kHit);
  EXPECT_EQ(outcome(test::with_dnnl()), CacheUse::Outcome::kHit);
}

TEST_F(PluginLayers, AreRefusedWithAWrongChecksum) {
  test::copy_fixture("counting_layer", folder() / "layer");
  std::ofstream(folder() / "layer" / "counting_layer.yaml", std::ios::app)
      << "sha256: { " << manifest::host_platform() << ": \"" << std::string(64, '1') << "\" }\n";
  const auto session = create(open({folder() / "layer"}), with("session.layers", "counting"));
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(session.status().message(),
              AllOf(HasSubstr("loading layer \"counting\" from"), HasSubstr("but its manifest")));
}

}  // namespace
}  // namespace ephost::plugin_layers_test
