#include "host/bridge/callback.h"

#include "host/bridge/abi_text.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

void set_message(eph_error* error, std::string_view message) {
  if (error == nullptr) return;
  const auto api = plugin::adopt<eph_error_api>(error->api, {});
  if (api.ok()) api->set_message(error, to_abi(message));
}

}  // namespace

int32_t report(eph_error* error, StatusCode code, std::string_view message) noexcept {
  try {
    set_message(error, message);
  } catch (const std::exception&) {  // out of memory: the code goes without its message
  }
  return static_cast<int32_t>(code);
}

}  // namespace ephost::bridge
