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

namespace ephost::detail {

// Options as the C API takes them. Borrows them.
class OptionViews : public SmallArray<ephost_key_value> {
 public:
  explicit OptionViews(const OptionList& options)
      : SmallArray(options, [](const auto& option) {
          return ephost_key_value{option.first.c_str(), option.second.c_str()};
        }) {}
};

inline const char* text_of(const std::string& text) { return text.c_str(); }

// A request as the C API takes it. Borrows the request.
class RequestView {
 public:
  explicit RequestView(const ProviderRequest& request)
      : options_(request.options), devices_(request.devices, text_of) {
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
  OptionViews options_;
  SmallArray<const char*> devices_;
  ephost_provider_request record_ = {};
};

// `context` is that of a ProgressFunction. What is told is for information only: an exception must
// not end the work, and is dropped.
inline void call_progress(void* context, const char* provider, double fraction,
                          const char* message) noexcept {
  try {
    ProgressFunction::call(context, provider, fraction, message);
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing may reach the library
  }
}

// An optional severity as the C API has it.
inline int32_t stated(std::optional<LoggingLevel> level) {
  return level ? static_cast<int32_t>(*level) + 1 : 0;
}

// `context` is that of a LoggingFunction.
inline void call_logging(void* context, const ephost_log_message* message) {
  try {
    LoggingFunction::call(context,
                          LogMessage{.severity = static_cast<LoggingLevel>(message->severity),
                                     .category = message->category,
                                     .log_id = message->log_id,
                                     .code_location = message->code_location,
                                     .message = message->message});
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing may reach the library
  }
}

// Gives a binary of the context cache. `context` is that of an EpContextDataReadFunction.
inline ephost_status* call_context_data_read(void* context, const char* file_name,
                                             ephost_context_data* out_data) {
  return give_status([&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(EpContextData data,
                            EpContextDataReadFunction::call(context, file_name));
    out_data->data = data.bytes.data();
    out_data->size = data.bytes.size();
    if (data.owner == nullptr) return {};
    using Owner = std::shared_ptr<const void>;
    out_data->owner = new Owner(std::move(data.owner));
    out_data->release = [](void* owner) { delete static_cast<Owner*>(owner); };
    return {};
  });
}

}  // namespace ephost::detail
