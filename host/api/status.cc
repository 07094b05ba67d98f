#include <ephost/status.h>

#include <cstring>

#include "host/api/handles.h"
#include "host/api/tables.h"

namespace ephost::api {
namespace {

ephost_status* create(int32_t code, const char* message) {
  if (code == EPHOST_OK) return nullptr;
  try {
    return new ephost_status{code, text_of(message)};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

void release(ephost_status* status) {
  if (status != out_of_memory()) delete status;
}

int32_t code(const ephost_status* status) { return status == nullptr ? EPHOST_OK : status->code; }

const char* message(const ephost_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}

const char* code_name(int32_t code) {
  return status_code_name(static_cast<StatusCode>(code)).data();
}

}  // namespace

ephost_status* out_of_memory() {
  static ephost_status status{EPHOST_OUT_OF_MEMORY, "out of memory"};
  return &status;
}

ephost_status* to_c(const Status& status) {
  return create(static_cast<int32_t>(status.code()), status.message().c_str());
}

Status from_c(ephost_status* status) {
  if (status == nullptr) return {};
  Status taken(static_cast<StatusCode>(status->code), status->message);
  release(status);
  return taken;
}

Status give_text(std::string_view text, char** out_text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return {StatusCode::kOutOfMemory, "out of memory"};
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  *out_text = copy;
  return {};
}

const ephost_status_api kStatusApi = {
    sizeof(ephost_status_api), create, release, code, message, code_name};

}  // namespace ephost::api
