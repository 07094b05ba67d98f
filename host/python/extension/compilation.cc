// compile_model.
#include <ephost/compile_model.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/python/extension/arrays.h"
#include "host/python/extension/options.h"

namespace ephost::python {
namespace {

// Takes the values of a dict for a compilation; what is in it is set by the package alone
// (compile.py).
class Compilation {
 public:
  Compilation(const py::dict& given, CallbackError& error) : error_(error) {
    for (const auto& [key, value] : given) {
      set(key.cast<std::string>(), py::reinterpret_borrow<py::object>(value));
    }
  }

  [[nodiscard]] ModelCompilationOptions& options() { return options_; }
  // Whether functions of the program take what is written.
  [[nodiscard]] bool has_functions() const { return has_functions_; }
  [[nodiscard]] py::object output() const {
    if (options_.output_model_buffer == nullptr) return py::none();
    return py::bytes(reinterpret_cast<const char*>(output_.data()), output_.size());
  }

 private:
  void set(const std::string& key, const py::object& value) {
    if (key == "input_path") {
      options_.input_model_path = value.cast<std::filesystem::path>();
    } else if (key == "input_bytes") {
      input_ = value.cast<py::bytes>();
      const std::string_view view = input_;
      options_.input_model_buffer = std::as_bytes(std::span(view.data(), view.size()));
    } else if (key == "output_path") {
      options_.output_model_path = value.cast<std::filesystem::path>();
    } else if (key == "to_bytes") {
      options_.output_model_buffer = &output_;
    } else if (key == "embed") {
      options_.ep_context_embed_mode = value.cast<bool>();
    } else if (key == "binary_folder") {
      options_.ep_context_binary_folder = value.cast<std::filesystem::path>();
    } else if (key == "binary_model_name") {
      options_.ep_context_binary_model_name = value.cast<std::string>();
    } else if (key == "external_initializers_file") {
      options_.output_model_external_initializers_file = value.cast<std::string>();
    } else if (key == "external_initializers_size_threshold") {
      options_.external_initializers_size_threshold = value.cast<uint64_t>();
    } else if (key == "target") {
      options_.target = value.cast<std::string>();
    } else {
      set_flag_or_function(key, value);
    }
  }

  void set_flag_or_function(const std::string& key, const py::object& value) {
    if (key == "error_if_no_nodes_compiled") {
      options_.error_if_no_nodes_compiled = value.cast<bool>();
    } else if (key == "error_if_output_exists") {
      options_.error_if_output_exists = value.cast<bool>();
    } else if (key == "force_overwrite") {
      options_.force_overwrite = value.cast<bool>();
    } else if (key == "check_deterministic") {
      options_.check_deterministic = value.cast<bool>();
    } else if (key == "write") {
      set_write(value.cast<py::function>());
    } else if (key == "write_data") {
      set_write_data(value.cast<py::function>());
    } else if (key == "place_initializer") {
      set_place_initializer(value.cast<py::function>());
    } else {
      throw py::key_error("there is no compilation option \"" + key + "\"");
    }
  }

  // Calls Python for the host; what it raises ends the compilation.
  template <class Call>
  Status guarded(const Call& call) {
    if (!interpreter_lives()) return {StatusCode::kCancelled, "the interpreter ends"};
    Status status;
    in_python([&] { status = raised_by(call); });
    return status;
  }

  template <class Call>
  Status raised_by(const Call& call) {
    try {
      call();
      return {};
    } catch (py::error_already_set& raised) {
      error_.keep(raised);
      return {StatusCode::kFail, "a function of the program raised an exception"};
    } catch (const std::exception& error) {
      return {StatusCode::kFail, std::string("a function of the program: ") + error.what()};
    }
  }

  static py::bytes copy_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void set_write(const py::function& write) {
    has_functions_ = true;
    options_.output_model_write_func = [this,
                                        write = shared(write)](std::span<const std::byte> bytes) {
      return guarded(
          [&] { static_cast<void>(call_function(*write, py::make_tuple(copy_of(bytes)))); });
    };
  }

  void set_write_data(const py::function& write) {
    has_functions_ = true;
    options_.ep_context_data_write_func = [this, write = shared(write)](
                                              std::string_view name,
                                              std::span<const std::byte> bytes) {
      return guarded([&] {
        static_cast<void>(call_function(*write, py::make_tuple(std::string(name), copy_of(bytes))));
      });
    };
  }

  // The function takes name, value and None or (file, offset, size), and returns a number.
  void set_place_initializer(const py::function& place) {
    has_functions_ = true;
    options_.output_model_get_initializer_location_func =
        [this, place = shared(place)](const InitializerInfo& info) -> Result<InitializerLocation> {
      auto location = InitializerLocation::kEmbedded;
      EPHOST_RETURN_IF_ERROR(guarded([&] {
        Value value = value_of(Value::allocate(info.element_type, info.shape));
        std::ranges::copy(info.bytes, value.mutable_bytes().begin());
        py::object external = py::none();
        if (info.external != nullptr) {
          external = py::make_tuple(info.external->file_path, info.external->file_offset,
                                    info.external->byte_size);
        }
        location = static_cast<InitializerLocation>(
            call_function(*place,
                          py::make_tuple(std::string(info.name), std::move(value), external))
                .cast<int>());
      }));
      return location;
    };
  }

  // Functions of the API are copied, without the GIL.
  static std::shared_ptr<py::function> shared(const py::function& function) {
    return std::make_shared<py::function>(function);
  }

  CallbackError& error_;
  ModelCompilationOptions options_;
  bool has_functions_ = false;
  py::bytes input_;
  std::vector<std::byte> output_;
};

// The report, and the model where it goes to bytes.
py::tuple compile(const Environment& environment, const SessionOptionsObject& options,
                  const py::dict& given) {
  Compilation compilation(given, *options.error);
  bool was_tried = false;
  auto report =
      interruptible(*options.cancellation, *options.error, [&]() -> Result<CompileReport> {
        if (was_tried && compilation.has_functions()) {
          return Status(
              StatusCode::kCancelled,
              "a signal interrupted the compilation, which cannot begin again because functions "
              "of the program may have received parts of its output; start it again");
        }
        was_tried = true;
        return compile_model(environment, options.values, compilation.options());
      });
  CompileReport done = value_of(std::move(report));
  return py::make_tuple(std::move(done), compilation.output());
}

}  // namespace

void bind_compilation(py::module_& module) {
  py::class_<CompiledFile>(module, "CompiledFile")
      .def_property_readonly("path", path_of(&CompiledFile::path))
      .def_readonly("bytes", &CompiledFile::bytes);
  py::class_<CompiledPartition>(module, "CompiledPartition")
      .def_readonly("name", &CompiledPartition::name)
      .def_readonly("provider", &CompiledPartition::provider)
      .def_readonly("nodes", &CompiledPartition::nodes);
  py::class_<SessionProvider>(module, "SessionProvider")
      .def_readonly("name", &SessionProvider::name)
      .def_property_readonly("library", path_of(&SessionProvider::library))
      .def_readonly("node_count", &SessionProvider::node_count)
      .def_readonly("wished_node_count", &SessionProvider::wished_node_count);
  py::class_<CompileReport>(module, "CompileReport")
      .def_property_readonly("output_path", path_of(&CompileReport::output_path))
      .def_readonly("files", &CompileReport::files)
      .def_readonly("partitions", &CompileReport::partitions)
      .def_readonly("fallbacks", &CompileReport::fallbacks)
      .def_readonly("remaining_nodes", &CompileReport::remaining_nodes)
      .def_readonly("cache_use", &CompileReport::cache_use)
      .def_readonly("providers", &CompileReport::providers);
  module.def("compile", &compile, py::arg("environment"), py::arg("options"),
             py::arg("compilation"));
}

}  // namespace ephost::python
