// Functions of the application that the library calls: what they throw becomes a status, and
// nothing crosses the C interface.
#include <ephost/ephost.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "tests/support/temp_directory.h"
#include "tests/unit/api/tiny_model.h"

namespace ephost::callbacks_test {
namespace {

using ::testing::HasSubstr;

class ApiCallbacks : public ::testing::Test {
 protected:
  static Environment make_environment() {
    EnvironmentOptions options;
    options.plugin_directories = {EPHOST_PLUGINS};
    options.search_default_directories = false;
    return Environment::create(options).value();
  }
  Status compile(const ModelCompilationOptions& compilation, const SessionOptions& options = {}) {
    return compile_model(environment_, options, compilation).status();
  }
  // From the model's path to a buffer.
  ModelCompilationOptions given() {
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_;
    compilation.output_model_buffer = &output_;
    compilation.ep_context_binary_folder = folder_.path();
    compilation.ep_context_binary_model_name = "tiny";
    return compilation;
  }

  const test::TempDirectory folder_;
  const std::filesystem::path model_ = folder_.write("tiny.onnx", test::tiny_add_model());
  Environment environment_ = make_environment();
  std::vector<std::byte> output_;
};

void expect_thrown(const Status& status) {
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), HasSubstr("on purpose"));
}

TEST_F(ApiCallbacks, ThatReadAModelMayThrow) {
  ModelCompilationOptions compilation = given();
  compilation.input_model_path.clear();
  compilation.input_model_read_func = [](std::span<std::byte>) -> Result<size_t> {
    throw std::runtime_error("on purpose");
  };
  expect_thrown(compile(compilation));
}

TEST_F(ApiCallbacks, ThatWriteAModelMayThrow) {
  ModelCompilationOptions compilation = given();
  compilation.output_model_buffer = nullptr;
  compilation.output_model_write_func = [](std::span<const std::byte>) -> Status {
    throw std::runtime_error("on purpose");
  };
  expect_thrown(compile(compilation));
}

TEST_F(ApiCallbacks, ThatPlaceInitializersMayThrow) {
  ModelCompilationOptions compilation = given();
  compilation.output_model_get_initializer_location_func =
      [](const InitializerInfo&) -> Result<InitializerLocation> {
    throw std::runtime_error("on purpose");
  };
  expect_thrown(compile(compilation));
}

TEST_F(ApiCallbacks, MayThrowWhatIsNoException) {
  ModelCompilationOptions compilation = given();
  compilation.output_model_buffer = nullptr;
  compilation.output_model_write_func = [](std::span<const std::byte>) -> Status { throw 42; };
  const Status status = compile(compilation);
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), HasSubstr("threw an exception"));
}

TEST_F(ApiCallbacks, FailWithTheirOwnStatus) {
  ModelCompilationOptions compilation = given();
  compilation.output_model_buffer = nullptr;
  compilation.output_model_write_func = [](std::span<const std::byte>) {
    return Status(StatusCode::kNotFound, "no room left");
  };
  const Status status = compile(compilation);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no room left");
}

TEST_F(ApiCallbacks, ThatReadBinariesMayThrow) {
  const EpContextDataReadFunction read = [](std::string_view) -> Result<EpContextData> {
    throw std::runtime_error("on purpose");
  };
  auto data = detail::sized<ephost_context_data>();
  expect_thrown(
      detail::take_status(detail::call_context_data_read(read.context(), "a.bin", &data)));
  EXPECT_EQ(data.release, nullptr);
}

TEST_F(ApiCallbacks, ThatWriteBinariesMayThrow) {
  ModelCompilationOptions compilation = given();
  compilation.ep_context_data_write_func = [](std::string_view,
                                              std::span<const std::byte>) -> Status {
    throw std::runtime_error("on purpose");
  };
  const detail::CompilationRecord record(compilation);
  const ephost_compilation& of = *record.get();
  expect_thrown(
      detail::take_status(of.ep_context_data_write_func(of.context, "a.bin", nullptr, 0)));
}

TEST_F(ApiCallbacks, ThatAreToldOfProgressMayThrow) {
  const ProgressFunction throwing = [](std::string_view, double, std::string_view) { throw 42; };
  static_assert(noexcept(detail::call_progress(nullptr, "", 0, "")));
  detail::call_progress(throwing.context(), "acme", 0.5, "compiling");
}

}  // namespace
}  // namespace ephost::callbacks_test
