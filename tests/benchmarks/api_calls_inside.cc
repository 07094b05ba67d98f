#include <utility>
#include <vector>

#include "host/session/facade/binding.h"
#include "host/session/facade/session_creation.h"
#include "tests/benchmarks/api_calls.h"

namespace ephost::benchmarks {
namespace {

class RunsInside : public Runs {
 public:
  explicit RunsInside(std::unique_ptr<session::SessionState> session)
      : session_(std::move(session)), binding_(*session_) {}

  Status bind() {
    const ValueDescription& described = session_->inputs.front();
    EPHOST_ASSIGN_OR_RETURN(input_,
                            runtime::Value::allocate(described.element_type, described.shape));
    return binding_.bind_input(described.name, input_);
  }

  Status run() override {
    const std::vector<const runtime::Value*> inputs = {&input_};
    std::vector<runtime::Value> outputs(session_->outputs.size());
    return session_->run(inputs, outputs, {});
  }
  Status run_with_binding() override { return binding_.run({}); }

 private:
  std::unique_ptr<session::SessionState> session_;
  session::Binding binding_;
  runtime::Value input_;
};

}  // namespace

Result<std::unique_ptr<Runs>> open_inside(const std::filesystem::path& model) {
  EnvironmentOptions options;
  options.plugin_directories = {EPHOST_PLUGINS};
  options.search_default_directories = false;
  EPHOST_ASSIGN_OR_RETURN(const auto environment, session::create_environment(options));
  EPHOST_ASSIGN_OR_RETURN(auto session, session::create_session(*environment, {model, {}}, {}));
  auto runs = std::make_unique<RunsInside>(std::move(session));
  EPHOST_RETURN_IF_ERROR(runs->bind());
  return std::unique_ptr<Runs>(std::move(runs));
}

}  // namespace ephost::benchmarks
