#include "host/bridge/error_sink.h"

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/bridge/abi_text.h"

namespace ephost::bridge {
namespace {

// A plugin's message may have any length; more than this is useless.
constexpr size_t kMaxMessage = 4096;

}  // namespace

const eph_error_api ErrorSink::kApi = {sizeof(eph_error_api), &ErrorSink::store};

ErrorSink::ErrorSink() : eph_error{&kApi} {}

void ErrorSink::store(eph_error* error, eph_string message) noexcept {
  try {
    static_cast<ErrorSink*>(error)->message_ = view(message).substr(0, kMaxMessage);
  } catch (const std::exception&) {  // out of memory: the code goes without its message
  }
}

Status ErrorSink::to_status(int32_t code, std::string_view who, std::string_view what) {
  // The message may quote names from the model, which must be made printable for a terminal.
  std::string message = printable(message_);
  message_.clear();
  if (code == EPH_OK) return Status::ok_status();
  if (message.empty()) message = formatted("the plugin gave no reason (code {})", code);
  return Status(to_status_code(code), formatted("{} failed {}: {}", who, what, message));
}

}  // namespace ephost::bridge
