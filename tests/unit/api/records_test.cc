// Records of applications that were built with an older or a later header than the library: what
// struct_size does not cover has its default, and what the library does not know is ignored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "tests/unit/api/api_fixture.h"

namespace ephost::records_test {
namespace {

using test::c_api;
using test::code_of;
using ::testing::HasSubstr;

// A record with room for fields of a later version behind it. What its size does not cover is 0xFF.
template <class Record>
class Sized {
 public:
  Sized(const Record& record, uint64_t size) {
    std::memset(&memory_, 0xFF, sizeof(memory_));
    std::memcpy(&memory_.record, &record, std::min<uint64_t>(size, sizeof(record)));
    memory_.record.struct_size = size;
  }
  [[nodiscard]] const Record* get() const { return &memory_.record; }
  static constexpr uint64_t kLater = sizeof(Record) + 64;

 private:
  struct {
    Record record;
    std::array<std::byte, 64> later;
  } memory_;
};

// `use(record, out_message)` returns what the library made of a record, as text.
template <class Record, class Use>
void expect_sizes_count(const Record& full, const Use& use, const std::string& of_full,
                        const std::string& of_defaults) {
  std::string message;
  EXPECT_EQ(use(Sized(full, sizeof(Record)).get(), &message), of_full) << message;
  EXPECT_EQ(use(Sized(full, Sized<Record>::kLater).get(), &message), of_full) << message;
  EXPECT_EQ(use(Sized(full, sizeof(full.struct_size)).get(), &message), of_defaults) << message;
  use(Sized(full, 0).get(), &message);
  EXPECT_THAT(message, HasSubstr("has struct_size 0; set it to sizeof(ephost_"));
}

// The code of a status by name.
std::string outcome(ephost_status* status, std::string* out_message) {
  return c_api().status->code_name(code_of(status, out_message));
}

using CApiRecords = test::CApi;

TEST_F(CApiRecords, OfEnvironmentOptions) {
  const std::string folder = folder_.path();
  const char* const directory = folder.c_str();
  ephost_environment_options options = {};
  options.plugin_directories = &directory;
  options.plugin_directory_count = 1;
  options.skip_default_directories = 1;
  const auto use = [](const ephost_environment_options* record, std::string* message) {
    ephost_environment* environment = nullptr;
    const std::string code = outcome(c_api().environment->create(record, &environment), message);
    if (environment == nullptr) return code;
    const ephost_plugin_list* list = nullptr;
    EXPECT_EQ(c_api().environment->plugins(environment, &list), nullptr);
    const bool given = std::string(list->directories[0]->origin) == "given";
    c_api().release_report(list);
    c_api().environment->release(environment);
    return std::string(given ? "given" : "default");
  };
  expect_sizes_count(options, use, "given", "default");
}

TEST_F(CApiRecords, OfProviderRequests) {
  ephost_provider_request request = {};
  request.name = "acme";
  const auto use = [](const ephost_provider_request* record, std::string* message) {
    ephost_session_options* options = nullptr;
    EXPECT_EQ(c_api().session_options->create(&options), nullptr);
    outcome(c_api().session_options->append_execution_provider(options, record), message);
    const ephost_session_options_info* info = nullptr;
    EXPECT_EQ(c_api().session_options->info(options, &info), nullptr);
    const std::string name = info->provider_count == 0 ? "none" : info->providers[0]->name;
    c_api().release_report(info);
    c_api().session_options->release(options);
    return name;
  };
  expect_sizes_count(request, use, "acme", "");
}

TEST_F(CApiRecords, OfDevices) {
  ephost_device other = {};
  other.struct_size = sizeof(other);
  other.provider = "acme";
  ephost_device device = {};
  device.provider = "acme";
  const auto use = [&](const ephost_device* record, std::string* message) {
    const std::array<const ephost_device*, 2> devices = {&other, record};
    return outcome(c_api().session_options->append_execution_provider_v2(options_, devices.data(),
                                                                         2, nullptr, 0),
                   message);
  };
  // By default a device has no provider, so that the two are of different ones.
  expect_sizes_count(device, use, "OK", "INVALID_ARGUMENT");
}

TEST_F(CApiRecords, OfRunOptions) {
  const ephost_key_value entry = {"ep.nobody.option", "1"};
  ephost_run_options options = {};
  options.config_entries = &entry;
  options.config_entry_count = 1;
  expect_sizes_count(
      options,
      [&](const ephost_run_options* record, std::string* message) {
        return outcome(run(record), message);
      },
      "INVALID_ARGUMENT", "OK");
  EXPECT_EQ(c_api().session->bind_input(binding_, "x", value_), nullptr);
  expect_sizes_count(
      options,
      [&](const ephost_run_options* record, std::string* message) {
        return outcome(c_api().session->run_with_binding(binding_, record), message);
      },
      "INVALID_ARGUMENT", "OK");
}

TEST_F(CApiRecords, OfCompilations) {
  const std::string output = folder_.path() / "out.onnx";
  ephost_compilation compilation = {};
  compilation.input_model_path = model_.c_str();
  compilation.output_model_path = output.c_str();
  compilation.force_overwrite = 1;
  const auto use = [&](const ephost_compilation* record, std::string* message) {
    return outcome(c_api().model->compile(environment_, nullptr, record, nullptr), message);
  };
  expect_sizes_count(compilation, use, "OK", "INVALID_ARGUMENT");
}

TEST_F(CApiRecords, OfVerifyOptions) {
  ephost_verify_options options = {};
  options.providers = EPHOST_VERIFY_IGNORE;
  const auto use = [&](const ephost_verify_options* record, std::string* message) {
    const ephost_context_report* report = nullptr;
    const std::string code = outcome(
        c_api().model->verify_context(environment_, context_model_.c_str(), record, &report),
        message);
    if (report == nullptr) return code;
    const std::string sources = std::to_string(report->source_count);
    c_api().release_report(report);
    return sources;
  };
  expect_sizes_count(options, use, "0", "1");
}

TEST_F(CApiRecords, OfRequestsInVerifyOptions) {
  ephost_provider_request request = {};
  request.name = "cpu";
  const ephost_provider_request nobody = EPHOST_INIT(nobody);
  const auto use = [&](const ephost_provider_request* record, std::string* message) {
    if (record == nullptr) record = &nobody;
    ephost_verify_options options = EPHOST_INIT(options);
    options.providers = EPHOST_VERIFY_FIND;
    options.requested_only = 1;
    options.requests = &record;
    options.request_count = 1;
    const ephost_context_report* report = nullptr;
    const std::string code = outcome(
        c_api().model->verify_context(environment_, context_model_.c_str(), &options, &report),
        message);
    if (report != nullptr) c_api().release_report(report);
    return code;
  };
  expect_sizes_count(request, use, "OK", "NOT_FOUND");
}

TEST_F(CApiRecords, OfInspectedRequests) {
  ephost_provider_request request = {};
  request.name = "cpu";
  const auto use = [&](const ephost_provider_request* record, std::string* message) {
    const ephost_plugin_description* report = nullptr;
    const std::string code =
        outcome(c_api().plugin->inspect_request(environment_, record, &report), message);
    if (report != nullptr) c_api().release_report(report);
    return code;
  };
  expect_sizes_count(request, use, "OK", "NOT_FOUND");
}

TEST_F(CApiRecords, OfInspectOptions) {
  ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  const auto use = [&](const ephost_inspect_options* record, std::string* message) {
    const ephost_plugin_description* report = nullptr;
    const std::string code =
        outcome(c_api().plugin->inspect_with_options(environment_, "cpu", nullptr, record, &report),
                message);
    if (report != nullptr) c_api().release_report(report);
    return code;
  };
  ephost_inspect_options options = {};
  options.isolation = "cell";  // which counts only if the size covers it
  expect_sizes_count(options, use, "INVALID_ARGUMENT", "OK");
}

// Entries that are read show by their errors that they are.
TEST_F(CApiRecords, OfInspectOptionsHaveTheEntriesOfASession) {
  ephost_inspect_options options = EPHOST_INIT(options);
  const ephost_key_value entry = {"session.isolation", "cell"};
  options.session_entries = &entry;
  options.session_entry_count = 1;
  const ephost_plugin_description* report = nullptr;
  std::string message;
  EXPECT_EQ(
      outcome(c_api().plugin->inspect_with_options(environment_, "cpu", nullptr, &options, &report),
              &message),
      "INVALID_ARGUMENT");
  EXPECT_THAT(message, HasSubstr("\"session.isolation\" cannot be \"cell\""));
}

TEST_F(CApiRecords, OfVerifyOptionsHaveTheEntriesOfASession) {
  ephost_verify_options options = EPHOST_INIT(options);
  const ephost_key_value entry = {"session.isolation.nobody", "worker"};
  options.session_entries = &entry;
  options.session_entry_count = 1;
  const ephost_context_report* report = nullptr;
  std::string message;
  EXPECT_EQ(outcome(c_api().model->verify_context(environment_, context_model_.c_str(), &options,
                                                  &report),
                    &message),
            "INVALID_ARGUMENT");
  EXPECT_THAT(message, HasSubstr("\"session.isolation.nobody\" is about the provider \"nobody\""));
}

TEST_F(CApiRecords, OfInspectOptionsMayHaveAnyLimit) {
  ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  ephost_inspect_options options = EPHOST_INIT(options);
  options.isolation = "worker";
  options.call_limit_ns = UINT64_MAX;
  options.refresh = 1;
  const ephost_plugin_description* report = nullptr;
  std::string message;
  EXPECT_EQ(
      outcome(c_api().plugin->inspect_with_options(environment_, "cpu", nullptr, &options, &report),
              &message),
      "OK")
      << message;
  if (report != nullptr) c_api().release_report(report);
}

TEST_F(CApiRecords, OfInspectedRequestsWithOptions) {
  ephost_inspect_options options = EPHOST_INIT(options);
  options.isolation = "none";
  ephost_provider_request request = EPHOST_INIT(request);
  request.name = "cpu";
  const auto inspect = [&](const char* plugin, const ephost_provider_request* of) {
    const ephost_plugin_description* report = nullptr;
    std::string message;
    const std::string code =
        outcome(c_api().plugin->inspect_with_options(environment_, plugin, of, &options, &report),
                &message);
    if (report != nullptr) c_api().release_report(report);
    return code + message;
  };
  EXPECT_EQ(inspect(nullptr, &request), "OK");
  EXPECT_EQ(inspect("cpu", nullptr), "OK");
  EXPECT_THAT(inspect("cpu", &request), HasSubstr("either a plugin or a request"));
  EXPECT_THAT(inspect(nullptr, nullptr), HasSubstr("either a plugin or a request"));
}

TEST_F(CApiRecords, OfCacheLimits) {
  const auto use = [&](const ephost_cache_limits* record, std::string* message) {
    const ephost_cache_list* list = nullptr;
    return outcome(c_api().cache->prune(nowhere_.c_str(), record, &list), message);
  };
  expect_sizes_count(ephost_cache_limits{}, use, "NO_SUCHFILE", "NO_SUCHFILE");
}

TEST_F(CApiRecords, OfBufferRequests) {
  ephost_buffer_request request = {};
  request.upper = 2;
  request.size = 8;
  const auto use = [](const ephost_buffer_request* record, std::string* message) {
    const ephost_placement* placement = nullptr;
    const std::string code =
        outcome(c_api().placement->place(&record, 1, nullptr, &placement), message);
    c_api().release_report(placement);
    return code;
  };
  expect_sizes_count(request, use, "OK", "INVALID_ARGUMENT");
}

TEST_F(CApiRecords, OfPlacementOptions) {
  ephost_placement_options options = {};
  options.alignment = 3;
  const auto use = [](const ephost_placement_options* record, std::string* message) {
    ephost_buffer_request request = {};
    request.struct_size = sizeof(request);
    request.upper = 1;
    request.size = 1;
    const ephost_buffer_request* const requests = &request;
    const ephost_placement* placement = nullptr;
    const std::string code =
        outcome(c_api().placement->place(&requests, 1, record, &placement), message);
    c_api().release_report(placement);
    return code;
  };
  expect_sizes_count(options, use, "INVALID_ARGUMENT", "OK");
}

TEST_F(CApiRecords, OfALaterProgramSayWhatTheLibraryFilledIn) {
  Sized<ephost_value_info> room(ephost_value_info{}, Sized<ephost_value_info>::kLater);
  auto* const info = const_cast<ephost_value_info*>(room.get());
  c_api().value->get_info(value_, info);
  EXPECT_EQ(info->struct_size, sizeof(ephost_value_info));
  EXPECT_EQ(info->rank, 1U);
  const auto* const later = reinterpret_cast<const unsigned char*>(info + 1);
  EXPECT_EQ(later[0], 0xFF);
  EXPECT_EQ(later[63], 0xFF);
}

}  // namespace
}  // namespace ephost::records_test
