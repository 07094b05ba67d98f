#include "tests/unit/api/failing_calls.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/allocation_counter.h"

namespace ephost::failures_test {
namespace {

using test::c_api;

// A call with one out_ parameter, which `call` takes.
template <class T, class Call>
FailingCall with_out(std::string function, int32_t code, Call call) {
  return {function, code, [function, call] {
            T* out = poison<T>();
            ephost_status* const status = call(&out);
            EXPECT_EQ(out, nullptr) << function;
            return status;
          }};
}

// The same where nothing else can go wrong than that memory runs out.
template <class T, class Call>
FailingCall without_memory(std::string function, Call call) {
  return with_out<T>(std::move(function), EPHOST_OUT_OF_MEMORY, [call](T** out) {
    const test::FailingAllocations none(0);
    return call(out);
  });
}
FailingCall without_memory(std::string function, std::function<ephost_status*()> call) {
  return {std::move(function), EPHOST_OUT_OF_MEMORY, [call] {
            const test::FailingAllocations none(0);
            return call();
          }};
}

}  // namespace

ephost_status* CApiFailures::sparse_to_dense(ephost_value** out) {
  const ephost_value_api& api = *c_api().value;
  static constexpr std::array<int64_t, 1> kShape = {1000};
  static constexpr std::array<int64_t, 1> kNoElements = {0};
  ephost_value* none = nullptr;
  EXPECT_EQ(api.create_tensor(EPHOST_ELEMENT_FLOAT, kNoElements.data(), 1, &none), nullptr);
  ephost_value* sparse = nullptr;
  EXPECT_EQ(api.create_sparse_tensor(EPHOST_SPARSE_COO, kShape.data(), 1, none, nullptr, 0, nullptr,
                                     0, &sparse),
            nullptr);
  ephost_status* const status = api.to_dense(sparse, 8, out);
  api.release(sparse);
  api.release(none);
  return status;
}

std::vector<FailingCall> CApiFailures::of_values() {
  const ephost_value_api& api = *c_api().value;
  static constexpr std::array<int64_t, 1> kShape = {2};
  static constexpr ephost_memory_info kNoMemory = {sizeof(kNoMemory), "", "gpu", 99, 0};
  static constexpr std::array<int64_t, 1> kNegative = {-1};
  static std::array<float, 2> memory = {};
  const ephost_value* const tensor = value_;
  return {
      with_out<ephost_value>("value.create_tensor", EPHOST_INVALID_ARGUMENT,
                             [&](auto** out) {
                               return api.create_tensor(EPHOST_ELEMENT_FLOAT, kNegative.data(), 1,
                                                        out);
                             }),
      with_out<ephost_value>("value.create_tensor_with_data", EPHOST_INVALID_ARGUMENT,
                             [&](auto** out) {
                               return api.create_tensor_with_data(
                                   EPHOST_ELEMENT_FLOAT, kShape.data(), 1, memory.data(), 7,
                                   [](void*) { ADD_FAILURE() << "released"; }, nullptr, out);
                             }),
      with_out<ephost_value>("value.create_tensor_in", EPHOST_INVALID_ARGUMENT,
                             [&](auto** out) {
                               return api.create_tensor_in(&kNoMemory, EPHOST_ELEMENT_FLOAT,
                                                           kShape.data(), 1, out);
                             }),
      with_out<ephost_value>("value.import_tensor", EPHOST_INVALID_ARGUMENT,
                             [&](auto** out) {
                               const ephost_external from = {sizeof(from)};
                               return api.import_tensor(
                                   &kNoMemory, &from, EPHOST_ELEMENT_FLOAT, kShape.data(), 1,
                                   [](void*) { ADD_FAILURE() << "released"; }, nullptr, out);
                             }),
      {"value.export_tensor", EPHOST_INVALID_ARGUMENT,
       [&, tensor] {
         ephost_external made = {sizeof(made)};
         return api.export_tensor(tensor, EPHOST_EXTERNAL_POINTER, &made);
       }},
      {"value.wait_for", EPHOST_INVALID_ARGUMENT,
       [&] {
         const ephost_external fence = {sizeof(fence), EPHOST_EXTERNAL_QUEUE};
         return api.wait_for(&kNoMemory, &fence);
       }},
      with_out<ephost_value>("value.create_string_tensor", EPHOST_INVALID_ARGUMENT,
                             [&](auto** out) {
                               const ephost_string text = {"a", 1};
                               return api.create_string_tensor(kShape.data(), 1, &text, 1, out);
                             }),
      with_out<ephost_value>(
          "value.create_sequence", EPHOST_INVALID_ARGUMENT,
          [&, tensor](auto** out) {
            ephost_value* other = nullptr;
            EXPECT_EQ(api.create_tensor(EPHOST_ELEMENT_INT64, kShape.data(), 1, &other), nullptr);
            const std::array<const ephost_value*, 2> parts = {tensor, other};
            ephost_status* const status = api.create_sequence(parts.data(), 2, 0, out);
            api.release(other);
            return status;
          }),
      with_out<ephost_value>(
          "value.create_map", EPHOST_INVALID_ARGUMENT,
          [&, tensor](auto** out) { return api.create_map(tensor, tensor, out); }),
      with_out<ephost_value>("value.create_sparse_tensor", EPHOST_INVALID_ARGUMENT,
                             [&, tensor](auto** out) {
                               return api.create_sparse_tensor(EPHOST_SPARSE_COO, kNegative.data(),
                                                               1, tensor, nullptr, 0, nullptr, 0,
                                                               out);
                             }),
      with_out<ephost_value>("value.to_dense", EPHOST_INVALID_ARGUMENT,
                             [&](auto** out) { return sparse_to_dense(out); }),
      without_memory<ephost_value>("value.create_none",
                                   [&](auto** out) { return api.create_none(out); }),
      {"value.get_strings", EPHOST_INVALID_ARGUMENT,
       [&, tensor] {
         ephost_string text = {poison<char>(), 1};
         ephost_status* const status = api.get_strings(tensor, &text, 1);
         EXPECT_EQ(text.data, nullptr);
         EXPECT_EQ(text.size, 0U);
         return status;
       }},
      with_out<ephost_value>("value.get_part", EPHOST_INVALID_ARGUMENT,
                             [&, tensor](auto** out) { return api.get_part(tensor, 0, out); }),
      with_out<ephost_value>(
          "value.copy_to", EPHOST_INVALID_ARGUMENT,
          [&, tensor](auto** out) { return api.copy_to(tensor, &kNoMemory, out); }),
      {"value.copy_elements", EPHOST_INVALID_ARGUMENT,
       [&, tensor] {
         ephost_value* other = nullptr;
         EXPECT_EQ(api.create_tensor(EPHOST_ELEMENT_INT64, kShape.data(), 1, &other), nullptr);
         ephost_status* const status = api.copy_elements(tensor, other);
         api.release(other);
         return status;
       }},
      with_out<ephost_value>("value.read_file", EPHOST_NO_SUCHFILE,
                             [&](auto** out) {
                               char* name = poison<char>();
                               ephost_status* const status = api.read_file(
                                   nowhere_.c_str(), EPHOST_KIND_TENSOR, 0, 0, &name, out);
                               EXPECT_EQ(name, nullptr);
                               return status;
                             }),
      {"value.write_file", EPHOST_NO_SUCHFILE,
       [&, tensor] { return api.write_file(nowhere_.c_str(), "x", tensor, 0); }},
  };
}

std::vector<FailingCall> CApiFailures::of_environments() {
  const ephost_environment_api& api = *c_api().environment;
  return {
      with_out<ephost_environment>("environment.create", EPHOST_INVALID_ARGUMENT,
                                   [&](auto** out) {
                                     const ephost_environment_options sizeless = {};
                                     return api.create(&sizeless, out);
                                   }),
      without_memory<const ephost_plugin_list>(
          "environment.plugins", [&](auto** out) { return api.plugins(environment_, out); }),
      {"environment.check_loadable", EPHOST_NOT_FOUND,
       [&] { return api.check_loadable(environment_, "no/manifest.yaml"); }},
      without_memory<const ephost_device_list>(
          "environment.devices", [&](auto** out) { return api.devices(environment_, out); }),
      without_memory<const ephost_device_list>(
          "environment.targets", [&](auto** out) { return api.targets(environment_, out); }),
      {"environment.parse_policy", EPHOST_INVALID_ARGUMENT,
       [&] {
         int32_t policy = 99;
         ephost_status* const status = api.parse_policy("FASTEST", &policy);
         EXPECT_EQ(policy, 0);
         return status;
       }},
      {"environment.register_execution_provider_library", EPHOST_NO_SUCHFILE,
       [&] {
         return api.register_execution_provider_library(environment_, "name", nowhere_.c_str());
       }},
      {"environment.unregister_execution_provider_library", EPHOST_NOT_FOUND,
       [&] { return api.unregister_execution_provider_library(environment_, "nobody"); }},
      without_memory<const ephost_session_group_list>(
          "environment.session_groups",
          [&](auto** out) { return api.session_groups(environment_, out); }),
      {"environment.abandon_session_group", EPHOST_NOT_FOUND,
       [&] { return api.abandon_session_group(environment_, "nobody's"); }},
      with_out<const ephost_metrics>("environment.metrics", EPHOST_INVALID_ARGUMENT,
                                     [&](auto** out) { return api.metrics(environment_, out); }),
      with_out<char>("environment.prometheus_text", EPHOST_INVALID_ARGUMENT,
                     [&](auto** out) { return api.prometheus_text(environment_, out); }),
  };
}

std::vector<FailingCall> CApiFailures::of_session_options() {
  const ephost_session_options_api& api = *c_api().session_options;
  const char* const text = long_text_.c_str();
  return {
      without_memory<ephost_session_options>("session_options.create",
                                             [&](auto** out) { return api.create(out); }),
      without_memory<ephost_session_options>("session_options.clone",
                                             [&](auto** out) { return api.clone(options_, out); }),
      without_memory("session_options.add_config_entry",
                     [&, text] { return api.add_config_entry(options_, text, text); }),
      without_memory<const ephost_session_options_info>(
          "session_options.info", [&](auto** out) { return api.info(options_, out); }),
      without_memory<const ephost_config_entry_list>(
          "session_options.known_config_entries",
          [&](auto** out) { return api.known_config_entries(out); }),
      {"session_options.append_execution_provider", EPHOST_INVALID_ARGUMENT,
       [&] {
         const ephost_provider_request sizeless = {};
         return api.append_execution_provider(options_, &sizeless);
       }},
      {"session_options.append_execution_provider_v2", EPHOST_INVALID_ARGUMENT,
       [&] { return api.append_execution_provider_v2(options_, nullptr, 0, nullptr, 0); }},
      {"session_options.set_ep_selection_policy", EPHOST_INVALID_ARGUMENT,
       [&] { return api.set_ep_selection_policy(options_, -1); }},
      {"session_options.load_selection", EPHOST_NO_SUCHFILE,
       [&] { return api.load_selection(options_, nowhere_.c_str()); }},
      {"session_options.set_graph_optimization_level", EPHOST_INVALID_ARGUMENT,
       [&] { return api.set_graph_optimization_level(options_, 4); }},
      {"session_options.set_execution_mode", EPHOST_INVALID_ARGUMENT,
       [&] { return api.set_execution_mode(options_, 2); }},
      {"session_options.set_log_severity_level", EPHOST_INVALID_ARGUMENT,
       [&] { return api.set_log_severity_level(options_, 99); }},
      without_memory(
          "session_options.add_free_dimension_override_by_name",
          [&, text] { return api.add_free_dimension_override_by_name(options_, text, 1); }),
      without_memory(
          "session_options.add_free_dimension_override_by_denotation",
          [&, text] { return api.add_free_dimension_override_by_denotation(options_, text, 1); }),
      without_memory("session_options.add_initializer",
                     [&, text] { return api.add_initializer(options_, text, value_); }),
      without_memory("session_options.add_external_initializers",
                     [&, text] {
                       const ephost_value* const value = value_;
                       return api.add_external_initializers(options_, &text, &value, 1);
                     }),
      without_memory("session_options.add_external_initializers_from_files_in_memory",
                     [&, text] {
                       const void* const bytes = text;
                       const uint64_t size = 1;
                       return api.add_external_initializers_from_files_in_memory(options_, &text,
                                                                                 &bytes, &size, 1);
                     }),
      without_memory("session_options.set_optimized_model_file_path",
                     [&, text] { return api.set_optimized_model_file_path(options_, text); }),
      without_memory("session_options.set_log_id",
                     [&, text] { return api.set_log_id(options_, text); }),
      without_memory("session_options.enable_profiling",
                     [&, text] { return api.enable_profiling(options_, text); }),
      without_memory("session_options.add_input_file",
                     [&, text] { return api.add_input_file(options_, text); }),
      without_memory("session_options.add_output_file",
                     [&, text] { return api.add_output_file(options_, text); }),
  };
}

std::vector<FailingCall> CApiFailures::of_sessions() {
  const ephost_session_api& api = *c_api().session;
  static constexpr ephost_key_value kUnknown = {"ep.nobody.option", "1"};
  return {
      with_out<ephost_session>(
          "session.create", EPHOST_NO_SUCHFILE,
          [&](auto** out) { return api.create(environment_, nowhere_.c_str(), options_, out); }),
      with_out<ephost_session>("session.create_from_array", EPHOST_INVALID_PROTOBUF,
                               [&](auto** out) {
                                 return api.create_from_array(environment_, "nonsense", 8, nullptr,
                                                              out);
                               }),
      {"session.run", EPHOST_INVALID_ARGUMENT,
       [&] {
         std::array<ephost_value*, 2> outputs = {poison<ephost_value>(), poison<ephost_value>()};
         ephost_status* const status =
             api.run(session_, nullptr, nullptr, nullptr, 0, nullptr, 2, outputs.data());
         EXPECT_THAT(outputs, ::testing::Each(nullptr));
         return status;
       }},
      {"session.run_async", EPHOST_INVALID_ARGUMENT,
       [&] {
         return api.run_async(session_, nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr);
       }},
      {"session.bind_output_to_memory", EPHOST_NOT_FOUND,
       [&] {
         const ephost_memory_info memory = EPHOST_INIT(memory);
         return api.bind_output_to_memory(binding_, "nothing", &memory);
       }},
      without_memory<ephost_binding>("session.create_binding",
                                     [&](auto** out) { return api.create_binding(session_, out); }),
      {"session.bind_input", EPHOST_NOT_FOUND,
       [&] { return api.bind_input(binding_, "nothing", value_); }},
      {"session.bind_output", EPHOST_NOT_FOUND,
       [&] { return api.bind_output(binding_, "nothing", value_); }},
      {"session.run_with_binding", EPHOST_INVALID_ARGUMENT,
       [&] { return api.run_with_binding(binding_, nullptr); }},
      with_out<ephost_value>("session.get_output", EPHOST_INVALID_ARGUMENT,
                             [&](auto** out) { return api.get_output(binding_, 1, out); }),
      {"session.set_ep_dynamic_options", EPHOST_INVALID_ARGUMENT,
       [&] { return api.set_ep_dynamic_options(session_, &kUnknown, 1); }},
      with_out<char>("session.end_profiling", EPHOST_INVALID_ARGUMENT,
                     [&](auto** out) { return api.end_profiling(session_, out); }),
      without_memory<const ephost_specialization_list>(
          "session.specializations",
          [&](auto** out) { return api.specializations(session_, out); }),
      {"session.check_output_file", EPHOST_INVALID_ARGUMENT,
       [&] { return api.check_output_file(session_, model_.c_str(), "a result"); }},
  };
}

std::vector<FailingCall> CApiFailures::of_models() {
  const ephost_model_api& api = *c_api().model;
  const char* const nowhere = nowhere_.c_str();
  return {
      with_out<const ephost_compile_report>(
          "model.compile", EPHOST_INVALID_ARGUMENT,
          [&](auto** out) { return api.compile(environment_, nullptr, nullptr, out); }),
      without_memory<char>(
          "model.default_context_path",
          [&](auto** out) { return api.default_context_path(long_text_.c_str(), out); }),
      with_out<const ephost_model_partitioning>(
          "model.partition", EPHOST_NO_SUCHFILE,
          [&, nowhere](auto** out) {
            return api.partition(environment_, nowhere, nullptr, EPHOST_PARTITION_CLAIMS, out);
          }),
      with_out<const ephost_model_plan>(
          "model.plan", EPHOST_NO_SUCHFILE,
          [&, nowhere](auto** out) { return api.plan(environment_, nowhere, nullptr, out); }),
      with_out<const ephost_context_report>("model.verify_context", EPHOST_NO_SUCHFILE,
                                            [&, nowhere](auto** out) {
                                              return api.verify_context(environment_, nowhere,
                                                                        nullptr, out);
                                            }),
  };
}

std::vector<FailingCall> CApiFailures::of_tools() {
  const ephost_cache_api& cache = *c_api().cache;
  const ephost_placement_api& placement = *c_api().placement;
  const char* const nowhere = nowhere_.c_str();
  static constexpr ephost_buffer_request kEmpty = {sizeof(kEmpty), nullptr, 1, 1, 8};
  static constexpr ephost_buffer_request kSizeless = {0, nullptr, 0, 1, 8};
  static constexpr std::array<const ephost_buffer_request*, 1> kBad = {&kEmpty};
  static constexpr std::array<const ephost_buffer_request*, 1> kWorse = {&kSizeless};
  static constexpr uint64_t kOffset = 0;
  return {
      with_out<const ephost_plugin_description>(
          "plugin.inspect", EPHOST_NOT_FOUND,
          [&](auto** out) { return c_api().plugin->inspect(environment_, "nobody", out); }),
      with_out<const ephost_plugin_description>(
          "plugin.inspect_request", EPHOST_NOT_FOUND,
          [&](auto** out) {
            ephost_provider_request request = EPHOST_INIT(request);
            request.name = "nobody";
            return c_api().plugin->inspect_request(environment_, &request, out);
          }),
      with_out<const ephost_plugin_description>("plugin.inspect_with_options", EPHOST_NOT_FOUND,
                                                [&](auto** out) {
                                                  return c_api().plugin->inspect_with_options(
                                                      environment_, "nobody", nullptr, nullptr,
                                                      out);
                                                }),
      with_out<const ephost_selection_report>("plugin.check_selection", EPHOST_NO_SUCHFILE,
                                              [&, nowhere](auto** out) {
                                                return c_api().plugin->check_selection(
                                                    environment_, nowhere, EPHOST_SELECTION_FIND,
                                                    out);
                                              }),
      with_out<const ephost_cache_list>(
          "cache.list", EPHOST_NO_SUCHFILE,
          [&, nowhere](auto** out) { return cache.list(nowhere, out); }),
      with_out<const ephost_cache_list>(
          "cache.verify", EPHOST_NO_SUCHFILE,
          [&, nowhere](auto** out) { return cache.verify(nowhere, out); }),
      with_out<const ephost_cache_list>(
          "cache.prune", EPHOST_NO_SUCHFILE,
          [&, nowhere](auto** out) { return cache.prune(nowhere, nullptr, out); }),
      with_out<const ephost_cache_list>(
          "cache.clear", EPHOST_NO_SUCHFILE,
          [&, nowhere](auto** out) { return cache.clear(nowhere, out); }),
      with_out<const ephost_placement>(
          "placement.place", EPHOST_INVALID_ARGUMENT,
          [&](auto** out) { return placement.place(kBad.data(), 1, nullptr, out); }),
      with_out<const ephost_buffer_list>(
          "placement.read_csv", EPHOST_INVALID_ARGUMENT,
          [&](auto** out) {
            return placement.read_csv({"nonsense", 8}, "a file", out);
          }),
      with_out<char>(
          "placement.write_csv", EPHOST_INVALID_ARGUMENT,
          [&](auto** out) { return placement.write_csv(kWorse.data(), 1, &kOffset, out); }),
  };
}

}  // namespace ephost::failures_test
