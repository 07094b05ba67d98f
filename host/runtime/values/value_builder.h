// The values that one call of `compute` makes for outputs that are not tensors (see eph_run_api).
// Every pointer that a plugin passes in is looked up here before it is dereferenced.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/runtime/values/value.h"

namespace ephost::runtime {

// For one call. Not thread-safe.
class ValueBuilder {
 public:
  // An input of the call.
  struct Input {
    const eph_value* view = nullptr;  // null: left out
    Value* object = nullptr;          // the value itself; null for a tensor
    // What the plugin and the host see of it. Not null: the value is not read later, so it may be
    // moved out, and then these are empty.
    eph_value* taken_view = nullptr;
    eph_value* taken_copy = nullptr;  // null: there is no second view
  };

  explicit ValueBuilder(std::vector<Input> inputs) : inputs_(std::move(inputs)) {}

  // See the functions of eph_run_api with these names.
  [[nodiscard]] Result<eph_value*> make_tensor(ElementType type, std::span<const int64_t> shape);
  [[nodiscard]] Status set_element(const eph_value* tensor, uint64_t element, eph_string text);
  [[nodiscard]] Result<const eph_value*> make_sequence(const eph_value* base, uint64_t position,
                                                       uint64_t removed,
                                                       std::span<const eph_value* const> inserted);
  [[nodiscard]] Result<const eph_value*> make_map(const eph_value* keys, const eph_value* values);

  // A reference to the value behind a plugin's pointer; a copy if it is an input tensor; an empty
  // value for null. With `take`, an input is moved out if this call is its last reader. What the
  // call has made stays where it is until the call ends, as the plugin may still write to it.
  [[nodiscard]] Result<Value> find(const eph_value* value, bool take = false);

 private:
  struct Made {
    eph_value view = {};
    Value value;
  };
  eph_value* keep(Value value);
  // What a sequence is made of; afterwards it must not be read.
  [[nodiscard]] Result<Value> take_base(const eph_value* base);

  std::vector<Input> inputs_;
  std::unordered_map<const eph_value*, std::unique_ptr<Made>> made_;  // by the address of its view
};

}  // namespace ephost::runtime
