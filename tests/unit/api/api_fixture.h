// The fixture of tests of the C API's functions: an environment with the CPU provider, and a
// session of a model that adds two constants.
#pragma once

#include <ephost/c_api.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/temp_directory.h"
#include "tests/unit/api/tiny_model.h"

namespace ephost::test {

inline const ephost_api& c_api() { return *ephost_api_v1(); }

// The code of a status, and its message in `out_message` if that is not null. Releases it.
inline int32_t code_of(ephost_status* status, std::string* out_message = nullptr) {
  const int32_t code = c_api().status->code(status);
  if (out_message != nullptr) *out_message = c_api().status->message(status);
  c_api().status->release(status);
  return code;
}

class CApi : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = EPHOST_PLUGINS;
    ephost_environment_options options = {};
    options.struct_size = sizeof(options);
    options.plugin_directories = &folder;
    options.plugin_directory_count = 1;
    options.skip_default_directories = 1;
    ASSERT_EQ(c_api().environment->create(&options, &environment_), nullptr);
    ASSERT_EQ(c_api().session_options->create(&options_), nullptr);
    ASSERT_EQ(c_api().session->create(environment_, model_.c_str(), nullptr, &session_), nullptr);
    ASSERT_EQ(c_api().session->create_binding(session_, &binding_), nullptr);
    const std::array<int64_t, 1> shape = {2};
    ASSERT_EQ(c_api().value->create_tensor(EPHOST_ELEMENT_FLOAT, shape.data(), 1, &value_),
              nullptr);
  }
  void TearDown() override {
    c_api().value->release(value_);
    c_api().session->release_binding(binding_);
    c_api().session->release(session_);
    c_api().session_options->release(options_);
    c_api().environment->release(environment_);
  }

  // Runs the session; the status is the caller's. The output is dropped.
  ephost_status* run(const ephost_run_options* options) {
    const char* const name = "x";
    const ephost_value* const input = value_;
    ephost_value* output = nullptr;
    ephost_status* const status =
        c_api().session->run(session_, options, &name, &input, 1, nullptr, 1, &output);
    c_api().value->release(output);
    return status;
  }

  TempDirectory folder_;
  std::string model_ = folder_.write("tiny.onnx", tiny_add_model()).string();
  std::string context_model_ = folder_.write("tiny_ctx.onnx", tiny_context_model()).string();
  std::string nowhere_ = (folder_.path() / "missing" / "file").string();
  ephost_environment* environment_ = nullptr;
  ephost_session_options* options_ = nullptr;
  ephost_session* session_ = nullptr;
  ephost_binding* binding_ = nullptr;
  ephost_value* value_ = nullptr;  // float[2]
};

}  // namespace ephost::test
