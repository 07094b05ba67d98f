#include "host/bridge/extensions/run_extension.h"

#include <string>
#include <vector>

#include "host/bridge/abi_options.h"
#include "host/bridge/slot_call.h"

namespace ephost::bridge {

Status RunExtension::begin(const eph_run_config& config) const {
  if (api_.begin_run == nullptr) return Status::ok_status();
  return call_slot({owner_, "begin_run"}, "preparing a run", api_.begin_run, provider_, &config);
}

Status RunExtension::end(uint64_t run_id, StatusCode code) const {
  if (api_.end_run == nullptr) return Status::ok_status();
  return call_slot({owner_, "end_run"}, "ending a run", api_.end_run, provider_, run_id,
                   static_cast<int32_t>(code));
}

Status RunExtension::set_options(std::span<const manifest::TypedOption> options) const {
  if (api_.set_options == nullptr) return Status::ok_status();
  const std::vector<eph_option> converted = to_abi(options);
  return call_slot({owner_, "set_options"}, "changing its options", api_.set_options, provider_,
                   converted.data(), converted.size());
}

}  // namespace ephost::bridge
