// The host as the plugin sees it in this process: what is written to the log and reported goes to
// the host within the call of the moment; threads come from a pool of this process.
#pragma once

#include <ephost/ext/constants.h>
#include <ephost/ext/progress.h>
#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>

#include <string>

#include "host/worker/protocol/messages.pb.h"
#include "host/worker/transport/worker_channel.h"

namespace ephost::worker {

// A channel is served while this object lives: threads that serve none may use it during its calls.
class ServedChannel {
 public:
  explicit ServedChannel(WorkerChannel& channel);
  ServedChannel(const ServedChannel&) = delete;
  ServedChannel& operator=(const ServedChannel&) = delete;
  ~ServedChannel();

 private:
  WorkerChannel& channel_;
};

// A call of the host lasts while this object lives, on the thread that serves it. Begins and ends
// with what was logged outside of any call, as far as it can be posted.
class ActiveCall {
 public:
  explicit ActiveCall(WorkerChannel& channel);
  ActiveCall(const ActiveCall&) = delete;
  ActiveCall& operator=(const ActiveCall&) = delete;
  ~ActiveCall();
};

// Lives as long as the provider that was created with it, at a fixed address.
class ServedHost : public eph_host {
 public:
  // Offers what the host's own does.
  ServedHost(std::string provider, const wire::Create& offer);
  ServedHost(const ServedHost&) = delete;
  ServedHost& operator=(const ServedHost&) = delete;

 private:
  static const ServedHost& self(const eph_host* handle) {
    return static_cast<const ServedHost&>(*handle);
  }
  static void log(const eph_host*, int32_t severity, eph_string message) noexcept;
  static const void* get_extension(const eph_host*, eph_string id) noexcept;
  static void report(const eph_host*, double fraction, eph_string message) noexcept;
  static int32_t is_cancelled(const eph_host*) noexcept;
  static void release(const eph_host*, const void* data, uint64_t size) noexcept;
  static void parallel_for(const eph_host*, uint64_t total, uint64_t grain,
                           eph_range_function function, void* context) noexcept;
  static uint32_t thread_count(const eph_host*) noexcept;
  static uint32_t library_thread_count(const eph_host*) noexcept;
  void fail_loop(const std::string& failure) const;

  const std::string provider_;
  const bool has_progress_;
  const bool has_constants_;
  const uint32_t threads_;
  const uint32_t library_threads_;
};

}  // namespace ephost::worker
