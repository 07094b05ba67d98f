#include "host/python/extension/options.h"

#include <ephost/value.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <vector>

namespace ephost::python {
namespace {

using Entries = std::map<std::string, std::string>;

OptionList list_of(const Entries& entries) { return {entries.begin(), entries.end()}; }

void set_timeout(RunOptionsObject& options, std::optional<double> seconds) {
  if (seconds && !(*seconds >= 0)) {
    raise_if_failed(
        {StatusCode::kInvalidArgument, "timeout is " + std::to_string(*seconds) +
                                           "; give a number of seconds from 0 on, or None"});
  }
  options.timeout_seconds = seconds;
}

void set_run_severity(RunOptionsObject& options, int level) {
  if (level < -1 || level > static_cast<int>(LoggingLevel::kFatal)) {
    raise_if_failed(
        {StatusCode::kInvalidArgument, "the severity is " + std::to_string(level) +
                                           "; give a number from 0 (verbose) to 4 (fatal), or -1"});
  }
  options.values.log_severity_level.reset();
  if (level >= 0) options.values.log_severity_level = static_cast<LoggingLevel>(level);
}

std::string run_entry(const RunOptionsObject& options, const std::string& key) {
  for (const auto& [known, value] : options.values.config_entries) {
    if (known == key) return value;
  }
  raise_if_failed(
      {StatusCode::kNotFound, "RunOptions does not have configuration with key: " + key});
  return {};
}

void bind_run_options(py::module_& module) {
  using Options = RunOptionsObject;
  py::class_<Options>(module, "RunOptions")
      .def(py::init<>())
      .def_property(
          "terminate", [](const Options& self) { return self.terminate(); },
          [](Options& self, bool value) { self.set_terminate(value); },
          "True ends the runs that have these options, and further ones at once.")
      .def_property(
          "timeout", [](const Options& self) { return self.timeout_seconds; }, &set_timeout,
          "Seconds after which a run ends with an error; None: never.")
      .def_property(
          "logid", [](const Options& self) { return self.values.tag; },
          [](Options& self, std::string tag) { self.values.tag = std::move(tag); },
          "Names the run in messages, for providers, and in the profile.")
      .def_property(
          "log_severity_level",
          [](const Options& self) {
            const auto level = self.values.log_severity_level;
            return level ? static_cast<int>(*level) : -1;
          },
          &set_run_severity, "Messages below it are dropped; -1: as the session has it.")
      .def_readwrite("log_verbosity_level", &Options::log_verbosity_level, "Has no effect.")
      .def_readwrite("only_execute_path_to_fetches", &Options::only_execute_path_to_fetches,
                     "Has no effect.")
      .def_readwrite("synchronize_execution_providers", &Options::synchronize_execution_providers,
                     "Has no effect.")
      .def_readwrite("training_mode", &Options::training_mode, "Has no effect.")
      .def(
          "add_run_config_entry",
          [](Options& self, std::string key, std::string value) {
            self.values.add_config_entry(std::move(key), std::move(value));
          },
          py::arg("key"), py::arg("value"), "Sets an option of a provider for the run.")
      .def("get_run_config_entry", &run_entry, py::arg("key"));
}

// The function may be called by the thread that creates a session, without the GIL.
void set_progress(SessionOptionsObject& self, const py::function& progress) {
  const auto kept = keep(progress);
  self.values.set_progress_func(
      [kept, error = self.error, cancellation = self.cancellation](
          std::string_view provider, double fraction, std::string_view message) {
        if (!interpreter_lives()) return;
        const auto* const function = static_cast<const PyObject*>(kept.get());
        in_python([&] {
          try {
            static_cast<void>(call_function(
                const_cast<PyObject*>(function),
                py::make_tuple(std::string(provider), fraction, std::string(message))));
          } catch (py::error_already_set& raised) {
            error->keep(raised);
            cancellation->interrupt();
          }
        });
      });
}

void add_files_in_memory(SessionOptionsObject& self,
                         const std::vector<std::pair<std::string, py::buffer>>& files) {
  std::vector<FileInMemory> given;
  for (const auto& [name, buffer] : files) {
    const py::buffer_info info = buffer.request();
    const auto size = static_cast<size_t>(info.size * info.itemsize);
    given.push_back({name, {static_cast<const std::byte*>(info.ptr), size}});
  }
  self.values.add_external_initializers_from_files_in_memory(given);
}

void bind_providers(py::class_<SessionOptionsObject>& options) {
  using Self = SessionOptionsObject;
  options
      .def(
          "append_execution_provider",
          [](Self& self, std::string name, const Entries& entries, std::string version_range,
             std::vector<std::string> devices) {
            self.values.append_execution_provider({.name = std::move(name),
                                                   .version_range = std::move(version_range),
                                                   .options = list_of(entries),
                                                   .devices = std::move(devices)});
          },
          py::arg("name"), py::arg("options") = Entries(), py::arg("version_range") = "",
          py::arg("devices") = std::vector<std::string>())
      .def(
          "append_devices",
          [](Self& self, const std::vector<EpDevice>& devices, const Entries& entries) {
            raise_if_failed(self.values.append_execution_provider_v2(devices, list_of(entries)));
          },
          py::arg("devices"), py::arg("options"))
      .def(
          "set_policy",
          [](Self& self, int policy) {
            self.values.set_ep_selection_policy(static_cast<EpDevicePolicy>(policy));
          },
          py::arg("policy"))
      .def(
          "load_selection",
          [](Self& self, const std::filesystem::path& file) {
            raise_if_failed(self.values.load_selection(file));
          },
          py::arg("file"));
}

}  // namespace

void RunOptionsObject::set_terminate(bool value) {
  terminate_ = value;
  for (Cancellation* run : runs_) run->request(value);
}

RunScope::RunScope(RunOptionsObject* options) : given_(options) {
  if (given_ != nullptr) {
    options_ = given_->values;
    if (const auto seconds = given_->timeout_seconds) {
      constexpr double kLongest = 1e9;
      options_.set_timeout(
          std::chrono::nanoseconds(std::llround(std::min(*seconds, kLongest) * 1e9)));
    }
    cancellation_.request(given_->terminate_);
    given_->runs_.push_back(&cancellation_);
  }
  options_.cancelled = &cancellation_.flag();
}

RunScope::~RunScope() {
  if (given_ != nullptr) std::erase(given_->runs_, &cancellation_);
}

void bind_options(py::module_& module) {
  bind_run_options(module);
  using Self = SessionOptionsObject;
  py::class_<Self> options(module, "SessionOptions");
  options.def(py::init<>())
      .def(
          "add_config_entry",
          [](Self& self, const std::string& key, const std::string& value) {
            self.values.add_config_entry(key, value);
          },
          py::arg("key"), py::arg("value"))
      .def(
          "cancel", [](Self& self, bool value) { self.cancellation->request(value); },
          py::arg("value"))
      .def(
          "enable_mem_pattern",
          [](Self& self, bool enable) { self.values.enable_mem_pattern(enable); },
          py::arg("enable"))
      .def(
          "enable_mem_reuse", [](Self& self, bool enable) { self.values.enable_mem_reuse(enable); },
          py::arg("enable"))
      .def(
          "enable_profiling",
          [](Self& self, const std::filesystem::path& file) { self.values.enable_profiling(file); },
          py::arg("file"))
      .def(
          "set_optimized_model_file_path",
          [](Self& self, const std::filesystem::path& file) {
            self.values.set_optimized_model_file_path(file);
          },
          py::arg("file"))
      .def(
          "set_log_id", [](Self& self, const std::string& id) { self.values.set_log_id(id); },
          py::arg("log_id"))
      .def(
          "set_log_severity_level",
          [](Self& self, int level) {
            self.values.set_log_severity_level(static_cast<LoggingLevel>(level));
          },
          py::arg("level"))
      .def(
          "add_initializer",
          [](Self& self, const std::string& name, const Value& value) {
            self.values.add_initializer(name, value);
          },
          py::arg("name"), py::arg("value"))
      .def(
          "add_external_initializers",
          [](Self& self, const std::vector<std::pair<std::string, Value>>& initializers) {
            std::vector<NamedValue> given;
            for (const auto& [name, value] : initializers) given.push_back({name, value});
            self.values.add_external_initializers(given);
          },
          py::arg("initializers"))
      .def("add_files_in_memory", &add_files_in_memory, py::arg("files"))
      .def("set_progress", &set_progress, py::arg("function"));
  bind_providers(options);
}

}  // namespace ephost::python
