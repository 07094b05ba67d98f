#include <ephost/ephost.h>

#include <utility>
#include <vector>

#include "tests/benchmarks/api_calls.h"

namespace ephost::benchmarks {
namespace {

struct Opened {
  Environment environment;
  Session session;
  IoBinding binding;
  std::vector<NamedValue> inputs;
};

class RunsByClass : public Runs {
 public:
  explicit RunsByClass(Opened opened) : opened_(std::move(opened)) {}

  Status run() override { return opened_.session.run(opened_.inputs).status(); }
  Status run_with_binding() override { return opened_.session.run(opened_.binding); }

 private:
  Opened opened_;
};

Result<Opened> open(const std::filesystem::path& model) {
  EnvironmentOptions options;
  options.plugin_directories = {EPHOST_PLUGINS};
  options.search_default_directories = false;
  EPHOST_ASSIGN_OR_RETURN(Environment environment, Environment::create(options));
  EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment, model));
  const ValueDescription& described = session.inputs().front();
  EPHOST_ASSIGN_OR_RETURN(Value input, Value::allocate(described.element_type, described.shape));
  EPHOST_ASSIGN_OR_RETURN(IoBinding binding, session.create_binding());
  EPHOST_RETURN_IF_ERROR(binding.bind_input(described.name, input));
  std::vector<NamedValue> inputs = {{described.name, std::move(input)}};
  return Opened{std::move(environment), std::move(session), std::move(binding), std::move(inputs)};
}

}  // namespace

Result<std::unique_ptr<Runs>> open_from_cpp(const std::filesystem::path& model) {
  EPHOST_ASSIGN_OR_RETURN(Opened opened, open(model));
  return std::unique_ptr<Runs>(std::make_unique<RunsByClass>(std::move(opened)));
}

}  // namespace ephost::benchmarks
