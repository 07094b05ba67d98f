// Functions of the application as the C API takes them: a pointer to a function, and a pointer to
// what it needs.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/types/logging.h>
#include <ephost/types/session_options.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ephost::detail {

inline std::vector<ephost_key_value> views_of(const OptionList& options) {
  std::vector<ephost_key_value> views;
  views.reserve(options.size());
  for (const auto& [key, value] : options) views.push_back({key.c_str(), value.c_str()});
  return views;
}

// A request as the C API takes it. Borrows the request.
class RequestView {
 public:
  explicit RequestView(const ProviderRequest& request) : options_(views_of(request.options)) {
    for (const std::string& device : request.devices) devices_.push_back(device.c_str());
    record_.struct_size = sizeof(record_);
    record_.name = request.name.c_str();
    record_.version_range = request.version_range.c_str();
    record_.options = options_.data();
    record_.option_count = options_.size();
    record_.devices = devices_.data();
    record_.device_count = devices_.size();
  }

  // Valid as long as this object.
  [[nodiscard]] const ephost_provider_request* record() const { return &record_; }

 private:
  std::vector<ephost_key_value> options_;
  std::vector<const char*> devices_;
  ephost_provider_request record_ = {};
};

// What is told is for information only: an exception must not end the work, and is dropped.
inline void call_progress(void* context, const char* provider, double fraction,
                          const char* message) noexcept {
  try {
    (*static_cast<const ProgressFunction*>(context))(provider, fraction, message);
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing may reach the library
  }
}

// An optional severity as the C API has it.
inline int32_t stated(std::optional<LoggingLevel> level) {
  return level ? static_cast<int32_t>(*level) + 1 : 0;
}

inline void call_logging(void* context, const ephost_log_message* message) {
  try {
    (*static_cast<const LoggingFunction*>(context))(
        LogMessage{.severity = static_cast<LoggingLevel>(message->severity),
                   .category = message->category,
                   .log_id = message->log_id,
                   .code_location = message->code_location,
                   .message = message->message});
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing may reach the library
  }
}

// Calls a function that gives binaries of the context cache. `context` is such an object.
class ContextDataReader {
 public:
  explicit ContextDataReader(EpContextDataReadFunction read) : read_(std::move(read)) {}

  static ephost_status* call(void* context, const char* file_name, ephost_context_data* out_data) {
    return give_status([&]() -> Status {
      const auto& self = *static_cast<const ContextDataReader*>(context);
      EPHOST_ASSIGN_OR_RETURN(EpContextData data, self.read_(file_name));
      out_data->data = data.bytes.data();
      out_data->size = data.bytes.size();
      if (data.owner == nullptr) return {};
      using Owner = std::shared_ptr<const void>;
      out_data->owner = new Owner(std::move(data.owner));
      out_data->release = [](void* owner) { delete static_cast<Owner*>(owner); };
      return {};
    });
  }

 private:
  EpContextDataReadFunction read_;
};

}  // namespace ephost::detail
