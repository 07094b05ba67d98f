#include <ephost/c_api.h>

#include <utility>

#include "tests/benchmarks/api_calls.h"

namespace ephost::benchmarks {
namespace {

const ephost_api& api() {
  static const ephost_api& table = *ephost_api_v1();
  return table;
}

Status take(ephost_status* status) {
  if (status == nullptr) return {};
  Status taken(static_cast<StatusCode>(api().status->code(status)), api().status->message(status));
  api().status->release(status);
  return taken;
}

class RunsFromC : public Runs {
 public:
  RunsFromC() = default;
  RunsFromC(const RunsFromC&) = delete;
  RunsFromC& operator=(const RunsFromC&) = delete;
  ~RunsFromC() override {
    api().session->release_binding(binding_);
    api().value->release(input_);
    api().session->release(session_);
    api().environment->release(environment_);
  }

  Status open(const std::filesystem::path& model) {
    ephost_environment_options options = {};
    options.struct_size = sizeof(options);
    const char* const plugins = EPHOST_PLUGINS;
    options.plugin_directories = &plugins;
    options.plugin_directory_count = 1;
    EPHOST_RETURN_IF_ERROR(take(api().environment->create(&options, &environment_)));
    EPHOST_RETURN_IF_ERROR(
        take(api().session->create(environment_, model.c_str(), nullptr, &session_)));
    const ephost_value_description& described = *api().session->info(session_)->inputs[0];
    name_ = described.name;
    EPHOST_RETURN_IF_ERROR(take(api().value->create_tensor(described.element_type, described.shape,
                                                           described.rank, &input_)));
    EPHOST_RETURN_IF_ERROR(take(api().session->create_binding(session_, &binding_)));
    return take(api().session->bind_input(binding_, name_, input_));
  }

  Status run() override {
    ephost_value* output = nullptr;
    const ephost_value* const input = input_;
    const Status done =
        take(api().session->run(session_, nullptr, &name_, &input, 1, nullptr, 1, &output));
    api().value->release(output);
    return done;
  }
  Status run_with_binding() override {
    return take(api().session->run_with_binding(binding_, nullptr));
  }

 private:
  ephost_environment* environment_ = nullptr;
  ephost_session* session_ = nullptr;
  const char* name_ = nullptr;
  ephost_value* input_ = nullptr;
  ephost_binding* binding_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Runs>> open_from_c(const std::filesystem::path& model) {
  auto opened = std::make_unique<RunsFromC>();
  EPHOST_RETURN_IF_ERROR(opened->open(model));
  return std::unique_ptr<Runs>(std::move(opened));
}

}  // namespace ephost::benchmarks
