#include "host/layers/decorate/host_object.h"

namespace ephost::layers {

void ErrorObject::set_message(eph_error* error, eph_string message) noexcept {
  auto& own = *static_cast<ErrorObject*>(error);
  if (!own.takes_messages()) return;
  own.has_message_ = true;
  try {
    own.message_.assign(message.data, message.size);
  } catch (...) {  // out of memory, or not a text: the host gets it as it is
    own.message_.clear();
  }
  own.inner_->api->set_message(own.inner_, message);
}

}  // namespace ephost::layers
