// The tables of a plugin in a worker. Their functions are made of the list of slots
// (remote_call.h).
#pragma once

#include <ephost/ext/operators.h>
#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/status_kinds.h"
#include "host/base/thrown.h"
#include "host/manifest/search.h"
#include "host/plugin/negotiate.h"
#include "host/plugin/slots.h"
#include "host/worker/protocol/records.h"
#include "host/worker/tables/worker.h"

namespace ephost::worker {

// The workers of one plugin.
class Workers {
 public:
  Workers(manifest::FoundPlugin plugin, plugin::HostOffer offer, IsolationOptions options)
      : plugin_(std::move(plugin)), offer_(std::move(offer)), options_(std::move(options)) {}

  // The one for functions that need no provider.
  [[nodiscard]] Result<std::shared_ptr<Worker>> front();
  // One without a provider.
  [[nodiscard]] Result<std::shared_ptr<Worker>> for_provider();
  // The one in which all devices are opened, so that a provider can have several of them.
  [[nodiscard]] Result<std::shared_ptr<Worker>> for_devices();

 private:
  Result<std::shared_ptr<Worker>> living_front();  // with the mutex held

  const manifest::FoundPlugin plugin_;
  const plugin::HostOffer offer_;
  const IsolationOptions options_;
  std::mutex mutex_;
  std::shared_ptr<Worker> front_;
  bool front_has_provider_ = false;
  std::weak_ptr<Worker> of_devices_;
};

// The table of devices that the host sees, at a fixed address.
struct RemoteDevices : eph_device_api {
  explicit RemoteDevices(Workers& of) : eph_device_api{}, workers(of) {}
  Workers& workers;
};

// The table of a provider that the host sees, at a fixed address.
struct RemoteTable : eph_provider_api {
  explicit RemoteTable(Workers& of) : workers(of) {}
  Workers& workers;
  std::optional<RemoteDevices> devices;  // if the plugin offers it
};

// Makes `out` a table of the functions whose bits are set in `slots`, without names.
void fill_remote_table(uint32_t slots, eph_computation_api& out);
void fill_remote_table(uint32_t slots, eph_provider_api& out);
void fill_remote_table(uint32_t slots, eph_device_api& out);

// The definitions of operators, whose `infer` runs in a worker.
class RemoteOperators : public eph_operators_api {
 public:
  // `loaded` lives as long as the object.
  RemoteOperators(Workers& workers, const wire::Loaded& loaded);

 private:
  struct Definition : eph_operator_def {
    Workers* workers = nullptr;
    uint32_t index = 0;
  };
  static int32_t get_operators(const eph_operators_api* self,
                               const eph_operator_def** out_operators, uint64_t* out_stride,
                               uint64_t* out_count, eph_error* error) noexcept;
  static int32_t infer(const eph_operator_def* self, eph_inference* inference,
                       eph_error* error) noexcept;

  const wire::Loaded& loaded_;
  Storage storage_;
  std::vector<Definition> definitions_;
};

// Runs the body of a function of a table: a failure goes to `error`, which may be null.
template <class Body>
int32_t answer_call(eph_error* error, Body body) noexcept {
  const auto fail = [&](const Status& status) {
    if (error != nullptr) error->api->set_message(error, text_of(status.message()));
    return static_cast<int32_t>(status.code());
  };
  try {
    const Result<int32_t> code = body();
    return code.ok() ? *code : fail(code.status());
  } catch (const std::exception& thrown) {
    const Status failure = status_of_thrown(thrown);
    return fail(is_circumstance(failure) ? failure
                                         : Status(StatusCode::kEpFail, failure.message()));
  }
}

// The code of an answer, whose message goes to `error`.
inline int32_t take_code(const wire::Answer& answer, eph_error* error) {
  if (answer.has_message() && error != nullptr) {
    error->api->set_message(error, text_of(answer.message()));
  }
  return answer.code();
}

}  // namespace ephost::worker
