// Sessions and their runs. Everything that may take long, or call a function of the program, runs
// without the GIL.
#include <ephost/session.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/python/extension/arrays.h"
#include "host/python/extension/options.h"

namespace ephost::python {
namespace {

using Names = std::optional<std::vector<std::string>>;

// For one thread at a time. The GIL guards the flag, and everything but a run, which gives it up.
class BindingObject {
 public:
  explicit BindingObject(IoBinding binding) : binding_(std::move(binding)) {}

  [[nodiscard]] IoBinding& unused() {
    if (is_running_) {
      raise_if_failed({StatusCode::kFail,
                       "the binding is in use by a run in another thread; give each thread a "
                       "binding of its own"});
    }
    return binding_;
  }

  template <class Run>
  void run(const Run& run) {
    IoBinding& binding = unused();
    is_running_ = true;
    const Status status = [&] {
      try {
        return run(binding);
      } catch (...) {
        is_running_ = false;
        throw;
      }
    }();
    is_running_ = false;
    raise_if_failed(status);
  }

 private:
  IoBinding binding_;
  bool is_running_ = false;
};

class SessionObject {
 public:
  SessionObject(const Environment& environment, const std::filesystem::path& path,
                const SessionOptionsObject& options)
      : cancellation_(options.cancellation),
        session_(
            create(options, [&] { return Session::create(environment, path, options.values); })) {}
  SessionObject(const Environment& environment, const py::bytes& model,
                const SessionOptionsObject& options)
      : cancellation_(options.cancellation), model_(model), session_(create(options, [&] {
          const auto bytes = std::as_bytes(std::span(view_.data(), view_.size()));
          return Session::create(environment, ModelBytes{bytes}, options.values);
        })) {}
  ~SessionObject() {
    wait_for_background_runs(this);
    const GilRelease released;
    session_.reset();  // waits for callbacks, which need the GIL
  }
  SessionObject(const SessionObject&) = delete;
  SessionObject& operator=(const SessionObject&) = delete;

  [[nodiscard]] Session& session() const { return *session_; }

  py::list run(const Names& names, const py::dict& feeds, RunOptionsObject* options) {
    const std::vector<NamedValue> inputs = values_of(feeds);
    RunScope scope(options);
    auto outputs = interruptible(scope.cancellation(), [&] {
      return session_->run(inputs, wanted(names), scope.options());
    });
    raise_if_failed(outputs.status());
    return objects_of(*std::move(outputs));
  }

  // The same with values in the place of numpy's arrays.
  std::vector<Value> run_values(const Names& names,
                                const std::vector<std::pair<std::string, Value>>& feeds,
                                RunOptionsObject* options) {
    std::vector<NamedValue> inputs;
    for (const auto& [name, value] : feeds) inputs.push_back({name, value});
    RunScope scope(options);
    return value_of(interruptible(scope.cancellation(), [&] {
      return session_->run(inputs, wanted(names), scope.options());
    }));
  }

  // Calls `callback(outputs, user_data, error)`, where error is None or an exception.
  void run_async(const Names& names, const py::dict& feeds, const py::function& callback,
                 const py::object& user_data, const py::object& options) {
    const std::vector<NamedValue> inputs = values_of(feeds);
    auto* const given = options.is_none() ? nullptr : options.cast<RunOptionsObject*>();
    auto run =
        std::make_shared<BackgroundRun>(this, given, py::make_tuple(callback, user_data, options));
    const Status started = [&] {
      const GilRelease released;
      return session_->run_async(
          inputs, wanted(names),
          [run](const Status& status, std::vector<Value> outputs) mutable {
            finish(*run, status, std::move(outputs));
            run.reset();
          },
          run->scope->options());
    }();
    if (!started.ok()) run->end();
    raise_if_failed(started);
  }

  void run_with_binding(BindingObject& binding, RunOptionsObject* options) {
    RunScope scope(options);
    binding.run([&](IoBinding& bound) {
      return interruptible(scope.cancellation(),
                           [&] { return session_->run(bound, scope.options()); });
    });
  }

 private:
  struct BackgroundRun {
    BackgroundRun(const void* owner, RunOptionsObject* options, py::object needed)
        : objects(std::move(needed)),
          scope(std::make_unique<RunScope>(options)),
          work(owner, scope->cancellation()) {}
    void end() {
      work.begin_callback();
      scope.reset();
    }
    py::object objects;  // callback, user data, options
    std::unique_ptr<RunScope> scope;
    BackgroundWork work;
  };

  // In the thread of the run. Nothing may leave it.
  static void finish(BackgroundRun& run, const Status& status, std::vector<Value> outputs) {
    if (!interpreter_lives()) {
      static_cast<void>(run.scope.release());  // what it refers to is Python's
      static_cast<void>(run.objects.release());
      return;
    }
    in_python([&] { call_back(run, status, std::move(outputs)); });
  }

  static void call_back(BackgroundRun& run, const Status& status, std::vector<Value> outputs) {
    run.end();
    const py::tuple objects = py::reinterpret_steal<py::tuple>(run.objects.release());
    try {
      py::object error = py::none();
      py::list results;
      try {
        raise_if_failed(status);
        results = objects_of(std::move(outputs));
      } catch (py::error_already_set& failure) {
        error = failure.value();
      }
      static_cast<void>(call_function(objects[0], py::make_tuple(results, objects[1], error)));
    } catch (py::error_already_set& raised) {
      raised.restore();
      PyErr_WriteUnraisable(objects[0].ptr());
    } catch (const std::exception& raised) {
      PyErr_SetString(PyExc_RuntimeError, raised.what());
      PyErr_WriteUnraisable(objects[0].ptr());
    }
  }

  template <class Create>
  static std::unique_ptr<Session> create(const SessionOptionsObject& options, const Create& make) {
    return std::make_unique<Session>(
        value_of(interruptible(*options.cancellation, *options.error, make)));
  }

  static std::span<const std::string> wanted(const Names& names) {
    return names ? std::span<const std::string>(*names) : std::span<const std::string>();
  }

  std::vector<NamedValue> values_of(const py::dict& feeds) const {
    std::vector<NamedValue> inputs;
    inputs.reserve(feeds.size());
    const size_t size = feeds.size();
    for (const auto& [key, object] : feeds) {
      if (!py::isinstance<py::str>(key) || PyUnicode_AsUTF8(key.ptr()) == nullptr) {
        PyErr_Clear();
        throw py::type_error(
            "a run is given a dict whose keys are not all texts; use the names of inputs");
      }
      std::string name = key.cast<std::string>();
      const bool is_plain = py::isinstance<py::array>(object) &&
                            element_type_of(py::reinterpret_borrow<py::array>(object).dtype()) !=
                                ElementType::kUndefined;
      Value value = is_plain
                        ? value_of_array(py::reinterpret_borrow<py::array>(object))
                        : value_of_object(py::reinterpret_borrow<py::object>(object), input(name));
      inputs.push_back({std::move(name), std::move(value)});
      if (feeds.size() != size) {
        throw std::runtime_error("the dict of inputs changed size while a run read it");
      }
    }
    return inputs;
  }

  [[nodiscard]] const ValueDescription* input(const std::string& name) const {
    for (const ValueDescription& description : session_->inputs()) {
      if (description.name == name) return &description;
    }
    return nullptr;
  }

  static py::list objects_of(std::vector<Value> values) {
    py::list objects(values.size());
    for (size_t i = 0; i < values.size(); ++i) objects[i] = object_of(std::move(values[i]));
    return objects;
  }

  std::shared_ptr<Cancellation> cancellation_;  // which the session looks at
  py::bytes model_;
  std::string_view view_ = model_;
  std::unique_ptr<Session> session_;
};

void bind_descriptions(py::module_& module) {
  py::class_<ValueDescription>(module, "ValueDescription")
      .def_readonly("name", &ValueDescription::name)
      .def_readonly("type", &ValueDescription::type)
      .def_property_readonly(
          "kind", [](const ValueDescription& self) { return static_cast<int>(self.kind); })
      .def_property_readonly(
          "element_type",
          [](const ValueDescription& self) { return static_cast<int>(self.element_type); })
      .def_readonly("is_optional", &ValueDescription::is_optional)
      .def_readonly("has_default", &ValueDescription::has_default)
      .def_readonly("has_shape", &ValueDescription::has_shape)
      .def_readonly("shape", &ValueDescription::shape)
      .def_readonly("dim_names", &ValueDescription::dim_names);
  py::class_<ModelMetadata>(module, "ModelMetadata")
      .def_readonly("producer_name", &ModelMetadata::producer_name)
      .def_readonly("graph_name", &ModelMetadata::graph_name)
      .def_readonly("domain", &ModelMetadata::domain)
      .def_readonly("description", &ModelMetadata::description)
      .def_readonly("graph_description", &ModelMetadata::graph_description)
      .def_readonly("version", &ModelMetadata::version)
      .def_property_readonly("custom_metadata_map", [](const ModelMetadata& self) {
        return std::map<std::string, std::string>(self.custom_metadata_map.begin(),
                                                  self.custom_metadata_map.end());
      });
  py::class_<MemoryInfo>(module, "MemoryInfo")
      .def_readonly("name", &MemoryInfo::name)
      .def_readonly("device_type", &MemoryInfo::device_type)
      .def_readonly("device_id", &MemoryInfo::device_id)
      .def_property_readonly(
          "memory_type", [](const MemoryInfo& self) { return static_cast<int>(self.memory_type); })
      .def_readonly("dlpack_type", &MemoryInfo::dlpack_type)
      .def_readonly("dlpack_id", &MemoryInfo::dlpack_id);
  py::class_<Fallback>(module, "Fallback")
      .def_readonly("provider", &Fallback::provider)
      .def_readonly("partition", &Fallback::partition)
      .def_readonly("nodes", &Fallback::nodes)
      .def_property_readonly("reason",
                             [](const Fallback& self) { return self.reason.to_string(); });
  py::class_<CacheUse>(module, "CacheUse")
      .def_property_readonly("outcome",
                             [](const CacheUse& self) {
                               constexpr const char* kNames[] = {"off", "hit", "miss", "uncached"};
                               return kNames[static_cast<size_t>(self.outcome)];
                             })
      .def_readonly("key", &CacheUse::key)
      .def_readonly("reused_contexts", &CacheUse::reused_contexts)
      .def_readonly("reason", &CacheUse::reason);
}

void bind_binding(py::module_& module) {
  using Self = BindingObject;
  py::class_<Self>(module, "IoBinding")
      .def(
          "bind_input",
          [](Self& self, const std::string& name, const Value& value) {
            raise_if_failed(self.unused().bind_input(name, value));
          },
          py::arg("name"), py::arg("value"))
      .def(
          "bind_output",
          [](Self& self, const std::string& name, const Value& value) {
            raise_if_failed(self.unused().bind_output(name, value));
          },
          py::arg("name"), py::arg("value"))
      .def(
          "bind_output_to_memory",
          [](Self& self, const std::string& name, const std::string& memory,
             const std::string& device_type, int device_id) {
            raise_if_failed(self.unused().bind_output(
                name, {.name = memory, .device_type = device_type, .device_id = device_id}));
          },
          py::arg("name"), py::arg("memory"), py::arg("device_type"), py::arg("device_id"))
      .def("clear_inputs", [](Self& self) { self.unused().clear_bound_inputs(); })
      .def("clear_outputs", [](Self& self) { self.unused().clear_bound_outputs(); })
      .def("outputs", [](Self& self) { return self.unused().outputs(); })
      .def("output_names", [](Self& self) { return self.unused().output_names(); });
}

}  // namespace

void bind_session(py::module_& module) {
  bind_descriptions(module);
  bind_binding(module);
  using Self = SessionObject;
  const auto optional_options = py::arg("options").none(true) = py::none();
  py::class_<Self>(module, "Session")
      .def(py::init<const Environment&, const py::bytes&, const SessionOptionsObject&>(),
           py::arg("environment"), py::arg("model"), py::arg("options"))
      .def(
          py::init<const Environment&, const std::filesystem::path&, const SessionOptionsObject&>(),
          py::arg("environment"), py::arg("model"), py::arg("options"))
      .def("run", &Self::run, py::arg("output_names").none(true), py::arg("feeds"),
           optional_options)
      .def("run_values", &Self::run_values, py::arg("output_names").none(true), py::arg("feeds"),
           optional_options)
      .def("run_async", &Self::run_async, py::arg("output_names").none(true), py::arg("feeds"),
           py::arg("callback"), py::arg("user_data"), optional_options)
      .def("run_with_binding", &Self::run_with_binding, py::arg("binding"), optional_options)
      .def(
          "create_binding",
          [](const Self& self) { return BindingObject{value_of(self.session().create_binding())}; },
          py::keep_alive<0, 1>())
      .def("inputs", [](const Self& self) { return self.session().inputs(); })
      .def("outputs", [](const Self& self) { return self.session().outputs(); })
      .def("overridable_initializers",
           [](const Self& self) { return self.session().overridable_initializers(); })
      .def("model_metadata", [](const Self& self) { return self.session().model_metadata(); })
      .def("memory_info_for_inputs",
           [](const Self& self) { return self.session().memory_info_for_inputs(); })
      .def("memory_info_for_outputs",
           [](const Self& self) { return self.session().memory_info_for_outputs(); })
      .def("providers",
           [](const Self& self) {
             std::vector<std::string> names;
             for (const SessionProvider& one : self.session().providers())
               names.push_back(one.name);
             return names;
           })
      .def("fallbacks", [](const Self& self) { return self.session().fallbacks(); })
      .def("cache_use", [](const Self& self) { return self.session().cache_use(); })
      .def(
          "set_ep_dynamic_options",
          [](const Self& self, const std::map<std::string, std::string>& options) {
            raise_if_failed(
                self.session().set_ep_dynamic_options({options.begin(), options.end()}));
          },
          py::arg("options"))
      .def("shrink", [](const Self& self) { raise_if_failed(self.session().shrink()); })
      .def("end_profiling",
           [](const Self& self) { return value_of(self.session().end_profiling()); });
}

}  // namespace ephost::python
