#include "host/bridge/collect/name_collector.h"

#include "host/bridge/abi_text.h"
#include "host/bridge/callback.h"

namespace ephost::bridge {

const eph_name_list_api NameCollector::kApi = {sizeof(eph_name_list_api), &NameCollector::add};

NameCollector::NameCollector() : eph_name_list{&kApi} {}

int32_t NameCollector::add(eph_name_list* handle, eph_string name, eph_error* error) noexcept {
  return run_callback(error, [&] {
    static_cast<NameCollector*>(handle)->names_.emplace_back(view(name));
    return Status::ok_status();
  });
}

}  // namespace ephost::bridge
