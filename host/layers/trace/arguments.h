// The arguments of a call as JSON: numbers and texts as they are, records by their fields, tensors
// and payloads by size and checksum. Handles without content are left out. Memory is read only
// where the ABI lets both sides read it.
#pragma once

#include <ephost/ext/device.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "host/base/json_text.h"

namespace ephost::layers {

// A string of at most 200 bytes of `text`, made safe to display.
[[nodiscard]] std::string json_text(std::string_view text);

// Whether arguments are shown before the call, or their results after it.
enum class Moment { kBefore, kAfter };

class ArgumentText {
 public:
  explicit ArgumentText(Moment moment) : moment_(moment) {}

  // All arguments of a slot, whose `parameters` these are.
  template <class... A>
  void add_all(std::string_view parameters, A... arguments) {
    parameters_ = parameters;
    add_some(arguments...);
  }
  // Those of `copy` of eph_device_api: what lies in host memory is shown.
  void add_copies(const eph_copy* copies, uint64_t stride, uint64_t count, const eph_error* error);
  // The same for `enqueue_copies`, whose copies may end later.
  void add_enqueued(const eph_stream* stream, const eph_copy* copies, uint64_t stride,
                    uint64_t count, uint64_t step, const eph_error* error);

  // An object by the names of the arguments.
  [[nodiscard]] std::string text() const { return object_.text(); }

 private:
  void add_some() {}
  template <class First, class... Rest>
  void add_some(First first, Rest... rest) {
    const Parameter parameter = next_parameter();
    if constexpr (requires { this->array(first, rest...); }) {
      object_.add(parameter.name, parameter.is_array ? array(first, rest...) : shown(first));
    } else {
      object_.add(parameter.name, shown(first));
    }
    add_some(rest...);
  }
  struct Parameter {
    std::string_view name;
    bool is_array = false;
  };
  Parameter next_parameter();
  [[nodiscard]] bool is_before() const { return moment_ == Moment::kBefore; }

  // Arguments that are arrays, if their parameter says so too.
  template <class... Rest>
  std::string array(const int64_t* shape, uint32_t rank, Rest...) const {
    return numbers(shape, rank);
  }
  template <class... Rest>
  std::string array(const uint32_t* nodes, uint64_t count, Rest...) const {
    return numbers(nodes, count);
  }
  template <class... Rest>
  std::string array(const eph_partition* partitions, uint64_t stride, uint64_t count,
                    Rest...) const {
    return shown_partitions(partitions, stride, count);
  }
  template <class... Rest>
  std::string array(const eph_option* options, uint64_t count, Rest...) const {
    return shown_options(options, count);
  }
  template <class... Rest>
  std::string array(const eph_string* texts, uint64_t count, Rest...) const {
    return shown_texts(texts, count);
  }
  template <class... Rest>
  std::string array(const eph_shape_profile* profiles, uint64_t stride, uint64_t count,
                    Rest...) const {
    return shown_profiles(profiles, stride, count);
  }
  template <class... Rest>
  std::string array(const void* data, uint64_t size, Rest...) const {
    return shown_bytes(data, size);
  }

  // Nothing is shown for types without an overload.
  template <class T>
  std::string shown(const T&) const {
    return {};
  }
  std::string shown(int32_t number) const { return before(number); }
  std::string shown(uint32_t number) const { return before(number); }
  std::string shown(int64_t number) const { return before(number); }
  std::string shown(uint64_t number) const { return before(number); }
  std::string shown(double number) const { return is_before() ? json_number(number) : ""; }
  std::string shown(eph_string text) const;
  std::string shown(eph_bytes bytes) const;
  std::string shown(const eph_graph* graph) const;
  std::string shown(const eph_provider_config* config) const;
  std::string shown(const eph_run_config* config) const;
  std::string shown(const eph_fused_claim* claim) const;
  std::string shown(const eph_context_node* node) const;
  std::string shown(const eph_device* device) const;
  std::string shown(const eph_event* event) const;
  // One that a plugin passes may be anything: only the host can tell.
  std::string shown(const eph_value* value) const;
  std::string shown(const eph_run* run) const;
  // Results.
  std::string shown(int32_t* number) const { return after(number); }
  std::string shown(uint32_t* number) const { return after(number); }
  std::string shown(uint64_t* number) const { return after(number); }
  std::string shown(eph_string* text) const;
  std::string shown(eph_provider_info* info) const;
  std::string shown(eph_computation_info* info) const;
  std::string shown(eph_memory_usage* usage) const;

  template <class Number>
  std::string before(Number number) const {
    return is_before() ? json_number(number) : std::string();
  }
  template <class Number>
  std::string after(const Number* number) const {
    return is_before() || number == nullptr ? std::string() : json_number(*number);
  }
  template <class Number>
  std::string numbers(const Number* begin, uint64_t count) const;
  std::string shown_partitions(const eph_partition* partitions, uint64_t stride,
                               uint64_t count) const;
  std::string shown_options(const eph_option* options, uint64_t count) const;
  std::string shown_texts(const eph_string* texts, uint64_t count) const;
  std::string shown_profiles(const eph_shape_profile* profiles, uint64_t stride,
                             uint64_t count) const;
  std::string shown_bytes(const void* data, uint64_t size) const;

  const Moment moment_;
  std::string_view parameters_;  // of the arguments that are not added yet
  JsonText object_{'{'};
};

}  // namespace ephost::layers
