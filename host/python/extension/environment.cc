// Environments: plugins and devices.
#include <ephost/environment.h>
#include <ephost/inspect_plugin.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <string>

#include "host/python/extension/objects.h"

namespace ephost::python {
namespace {

using Metadata = std::map<std::string, std::string>;

// Calls the function of the program for each message. It may come from any thread.
LoggingFunction logging_of(const py::object& function) {
  if (function.is_none()) return {};
  return [kept = keep(function)](const LogMessage& message) {
    if (!interpreter_lives()) return;
    const auto* const object = static_cast<const PyObject*>(kept.get());
    const py::handle called(const_cast<PyObject*>(object));
    in_python([&] {
      try {
        static_cast<void>(call_function(
            called, py::make_tuple(static_cast<int>(message.severity), message.category,
                                   message.log_id, message.code_location, message.message)));
      } catch (py::error_already_set& raised) {
        raised.restore();
        PyErr_WriteUnraisable(called.ptr());
      }
    });
  };
}

Environment create(const std::vector<std::filesystem::path>& folders,
                   bool search_default_directories, int log_severity_level, std::string log_id,
                   uint32_t intra_op_num_threads, uint32_t inter_op_num_threads,
                   const py::object& logging_function) {
  EnvironmentOptions options;
  options.plugin_directories.assign(folders.begin(), folders.end());
  options.search_default_directories = search_default_directories;
  if (log_severity_level >= 0) {
    options.log_severity_level = static_cast<LoggingLevel>(log_severity_level);
  }
  options.log_id = std::move(log_id);
  options.threading.intra_op_num_threads = intra_op_num_threads;
  options.threading.inter_op_num_threads = inter_op_num_threads;
  options.logging_function = logging_of(logging_function);
  auto environment = [&] {
    const GilRelease released;
    return Environment::create(options);
  }();
  return value_of(std::move(environment));
}

EpDeviceList listed(const Environment& environment,
                    Result<EpDeviceList> (Environment::*list)() const) {
  auto devices = [&] {
    const GilRelease released;
    return (environment.*list)();
  }();
  return value_of(std::move(devices));
}

// Also gives up the GIL for the functions that load plugins.
template <class Function>
void call(const Function& function) {
  const Status status = [&]() -> Status {
    const GilRelease released;
    return function();
  }();
  raise_if_failed(status);
}

void bind_devices(py::module_& module) {
  py::class_<EpDevice>(module, "EpDevice")
      .def_readonly("provider", &EpDevice::provider)
      .def_readonly("provider_name", &EpDevice::provider_name)
      .def_readonly("provider_vendor", &EpDevice::provider_vendor)
      .def_readonly("id", &EpDevice::id)
      .def_readonly("type", &EpDevice::type)
      .def_readonly("name", &EpDevice::name)
      .def_readonly("vendor", &EpDevice::vendor)
      .def_readonly("vendor_id", &EpDevice::vendor_id)
      .def_readonly("device_id", &EpDevice::device_id)
      .def_readonly("architecture", &EpDevice::architecture)
      .def_readonly("driver_version", &EpDevice::driver_version)
      .def_readonly("memory_bytes", &EpDevice::memory_bytes)
      .def_readonly("is_virtual", &EpDevice::is_virtual)
      .def_property_readonly("metadata", [](const EpDevice& device) {
        return Metadata(device.metadata.begin(), device.metadata.end());
      });
  py::class_<InstalledPlugin>(module, "InstalledPlugin")
      .def_readonly("provider", &InstalledPlugin::provider)
      .def_readonly("name", &InstalledPlugin::name)
      .def_readonly("vendor", &InstalledPlugin::vendor)
      .def_readonly("version", &InstalledPlugin::version)
      .def_property_readonly("manifest", path_of(&InstalledPlugin::manifest))
      .def_property_readonly("library", path_of(&InstalledPlugin::library));
}

}  // namespace

void bind_environment(py::module_& module) {
  bind_devices(module);
  py::class_<Environment>(module, "Environment")
      .def(py::init(&create), py::kw_only(),
           py::arg("plugin_directories") = std::vector<std::filesystem::path>(),
           py::arg("search_default_directories") = true, py::arg("log_severity_level") = -1,
           py::arg("log_id") = "", py::arg("intra_op_num_threads") = 0,
           py::arg("inter_op_num_threads") = 0, py::arg("logging_function").none(true) = py::none())
      .def("plugins", [](const Environment& self) { return self.plugins(); })
      .def("devices",
           [](const Environment& self) { return listed(self, &Environment::devices).devices; })
      .def("targets",
           [](const Environment& self) { return listed(self, &Environment::targets).devices; })
      .def(
          "register_execution_provider_library",
          [](const Environment& self, const std::string& name, const std::filesystem::path& path) {
            call([&] { return self.register_execution_provider_library(path, name); });
          },
          py::arg("registration_name"), py::arg("path"))
      .def(
          "unregister_execution_provider_library",
          [](const Environment& self, const std::string& name) {
            call([&] { return self.unregister_execution_provider_library(name); });
          },
          py::arg("registration_name"));
  module.def(
      "parse_policy",
      [](const std::string& name) {
        return static_cast<int>(value_of(parse_ep_device_policy(name)));
      },
      py::arg("name"));
}

}  // namespace ephost::python
