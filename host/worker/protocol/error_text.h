// An error object that keeps its message.
#pragma once

#include <ephost/plugin_abi.h>

#include <string>

#include "host/worker/protocol/messages.pb.h"

namespace ephost::worker {

class ErrorText : public eph_error {
 public:
  ErrorText() : eph_error{&kApi} {}
  ErrorText(const ErrorText&) = delete;
  ErrorText& operator=(const ErrorText&) = delete;

  [[nodiscard]] bool is_set() const { return is_set_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static void set_message(eph_error* error, eph_string message) noexcept {
    auto& self = *static_cast<ErrorText*>(error);
    self.is_set_ = true;
    try {
      self.text_.assign(message.data == nullptr ? "" : message.data,
                        message.data == nullptr ? 0 : static_cast<size_t>(message.size));
    } catch (...) {  // out of memory: there is a message, and it is lost
      self.text_.clear();
    }
  }
  static constexpr eph_error_api kApi = {sizeof(eph_error_api), &ErrorText::set_message};

  bool is_set_ = false;
  std::string text_;
};

// What a function has returned and said.
inline void set_code(int32_t code, const ErrorText& error, wire::Answer& out) {
  out.set_code(code);
  out.set_has_message(error.is_set());
  out.set_message(error.text());
}

}  // namespace ephost::worker
