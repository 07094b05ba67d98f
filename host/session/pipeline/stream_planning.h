// The streams of a graph's steps: which of them are enqueued, and on which devices.
#pragma once

#include <ephost/status.h>

#include "host/session/model/prepared_model.h"

namespace ephost::session {

// INVALID_ARGUMENT for a queue of the application (session.native_queue.PROVIDER) that no provider
// of the model can use.
[[nodiscard]] Status check_native_queues(const PreparedModel& model);

// Finds the devices that the steps are enqueued on. Does nothing where no device has streams. To be
// called once copies are placed.
void find_queues(const PreparedModel& model, PreparedGraph& prepared);

// Assigns the steps to streams, once their order and the sharing of buffers are known.
[[nodiscard]] Status assign_streams(PreparedGraph& prepared);

// Plans the streams of a graph whose memory is planned.
[[nodiscard]] Status plan_streams(PreparedGraph& prepared);

}  // namespace ephost::session
