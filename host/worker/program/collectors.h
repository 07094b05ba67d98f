// Entries that a plugin adds to a list in one call: kept here, and sent with the answer.
#pragma once

#include <ephost/ext/operators.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>
#include <ephost/plugin_abi.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/plugin/adopt.h"
#include "host/worker/program/run_slot.h"
#include "host/worker/program/served_graph.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {

// Each is used by the thread that serves the call. `provider` names the plugin in messages.

// Collects the entries of a list, which are records.
template <class List, class Record>
class RecordCollector : public List {
 public:
  RecordCollector(std::string_view provider, wire::Answer& answer)
      : List{&kApi}, provider_(provider), answer_(answer) {}

 private:
  static int32_t add(List* handle, const Record* record, eph_error* error) noexcept {
    return run_slot(error, [&]() -> Status {
      auto& self = static_cast<RecordCollector&>(*handle);
      EPHOST_ASSIGN_OR_RETURN(const auto adopted,
                              plugin::adopt<Record>(record, {self.provider_, "add"}));
      write(adopted, *RecordField<Record>::of(self.answer_).Add());
      return {};
    });
  }
  using Table = std::remove_cvref_t<decltype(*std::declval<List&>().api)>;
  static constexpr Table kApi = {sizeof(Table), &RecordCollector::add};
  std::string_view provider_;
  wire::Answer& answer_;
};

class ClaimCollector : public eph_claims {
 public:
  // `node_count`: of the graph.
  ClaimCollector(CallState& call, std::string_view provider, uint64_t node_count,
                 wire::Answer& answer);

 private:
  static int32_t claim_node(eph_claims*, uint32_t, eph_error*) noexcept;
  static int32_t claim_fused(eph_claims*, const eph_fused_claim*, eph_error*) noexcept;
  static int32_t has_kernel(eph_claims*, uint32_t) noexcept;
  static void decline(eph_claims*, uint32_t, eph_string) noexcept;
  CallState& call_;
  std::string_view provider_;
  const uint64_t node_count_;
  wire::Answer& answer_;
  std::once_flag has_asked_;
  std::string has_kernel_;  // of each node, once the host was asked
};

class NameCollector : public eph_name_list {
 public:
  NameCollector(std::string_view provider, wire::Answer& answer);

 private:
  static int32_t add(eph_name_list*, eph_string, eph_error*) noexcept;
  wire::Answer& answer_;
};

class WishCollector : public eph_shape_wishes {
 public:
  WishCollector(std::string_view provider, wire::Answer& answer);

 private:
  static int32_t add(eph_shape_wishes*, const uint32_t*, uint64_t, const eph_string*, uint64_t,
                     eph_error*) noexcept;
  wire::Answer& answer_;
};

// Writes to the host as the plugin does.
class ServedWriter : public eph_context_writer {
 public:
  ServedWriter(std::string_view provider, WorkerChannel& channel);

 private:
  static int32_t begin_payload(eph_context_writer*, eph_string, uint32_t*, eph_error*) noexcept;
  static int32_t write_payload(eph_context_writer*, uint32_t, const void*, uint64_t,
                               eph_error*) noexcept;
  static int32_t add_node(eph_context_writer*, const eph_context_node*, eph_error*) noexcept;
  std::string_view provider_;
  WorkerChannel& channel_;
};

class ServedInference : public eph_inference {
 public:
  ServedInference(CallState& call, wire::Answer& answer);

 private:
  static int32_t get_node(const eph_inference*, eph_node_info*, eph_error*) noexcept;
  static int32_t get_input(const eph_inference*, uint32_t, eph_value_info*, eph_error*) noexcept;
  static int32_t set_output(eph_inference*, uint32_t, int32_t, const int64_t*, const eph_string*,
                            int32_t, eph_error*) noexcept;
  CallState& call_;
  wire::Answer& answer_;
  mutable Storage storage_;
  mutable std::vector<std::unique_ptr<ServedGraph>> bodies_;
};

}  // namespace ephost::worker
