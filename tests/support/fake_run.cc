#include "tests/support/fake_run.h"

#include <cstring>
#include <ephost/sdk/basics.hpp>
#include <utility>

namespace ephost::test {

const eph_run_api FakeRun::kApi = {
    sizeof(eph_run_api), &allocate_output, &set_string,    &allocate_scratch, &is_cancelled,
    &make_tensor,        &set_element,     &make_sequence, &make_map,         &set_output};

FakeRun::FakeRun(const std::vector<FloatTensor*>& run_inputs,
                 const std::vector<FloatTensor*>& run_outputs, uint64_t workspace_bytes)
    : workspace_(workspace_bytes) {
  for (FloatTensor* input : run_inputs) {
    input_values_.push_back(input == nullptr ? nullptr : &input->value);
  }
  for (FloatTensor* output : run_outputs) {
    output_values_.push_back(output == nullptr ? nullptr : &output->value);
  }
  std::memset(workspace_.data(), 0xff, workspace_.size());
  bind();
}

FakeRun::FakeRun(std::vector<FloatTensor> run_inputs) : own_inputs_(std::move(run_inputs)) {
  for (const FloatTensor& input : own_inputs_) input_values_.push_back(&input.value);
  open_output_.kind = EPH_KIND_TENSOR;
  open_output_.element_type = EPH_ELEMENT_FLOAT;
  output_values_.push_back(&open_output_);
  bind();
}

void FakeRun::bind() {
  struct_size = sizeof(eph_run);
  run_id = 1;
  api = &kApi;
  inputs = input_values_.data();
  outputs = output_values_.data();
  input_count = static_cast<uint32_t>(input_values_.size());
  output_count = static_cast<uint32_t>(output_values_.size());
  workspace = workspace_.size() == 0 ? nullptr : workspace_.data();
}

void FakeRun::prepare(const Shape& shape) { open_output_ = result_.emplace(shape).value; }

std::vector<float> FakeRun::result() const {
  return result_ ? result_->values() : std::vector<float>();
}

Shape FakeRun::result_shape() const { return result_ ? result_->shape() : Shape(); }

int32_t FakeRun::allocate_output(eph_run* run, uint32_t index, int32_t, const int64_t* shape,
                                 uint32_t rank, eph_error* error) noexcept {
  FakeRun& own = self(run);
  const bool is_open = index < own.output_count && own.outputs[index] == &own.open_output_;
  if (!is_open || own.allocate_code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("the fake host allocates nothing"));
    return is_open ? own.allocate_code : int32_t{EPH_INVALID_ARGUMENT};
  }
  ++own.allocations;
  own.prepare(Shape(shape, shape + rank));
  return EPH_OK;
}

int32_t FakeRun::set_string(eph_run*, uint32_t, uint64_t, eph_string, eph_error* error) noexcept {
  error->api->set_message(error, EPH_STRING("the fake host has no strings"));
  return EPH_INVALID_ARGUMENT;
}

void* FakeRun::allocate_scratch(eph_run* run, uint64_t size) noexcept {
  return self(run).scratch_.emplace_back(static_cast<std::size_t>(size)).data();
}

int32_t FakeRun::is_cancelled(const eph_run* run) noexcept {
  return static_cast<const FakeRun*>(run)->cancelled ? 1 : 0;
}

// Records what is made; values have only an address.
template <class OutValue>
int32_t FakeRun::make(std::string what, OutValue** out, eph_error* error) {
  *out = nullptr;
  if (make_code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("the fake host makes nothing"));
    return make_code;
  }
  made.push_back(std::move(what));
  *out = &made_values_.emplace_back();
  return EPH_OK;
}

// "input 1", or "value 0" for the first that was made.
std::string FakeRun::name_of(const eph_value* value) const {
  if (value == nullptr) return "nothing";
  for (std::size_t i = 0; i < input_values_.size(); ++i) {
    if (input_values_[i] == value) return "input " + std::to_string(i);
  }
  for (std::size_t i = 0; i < made_values_.size(); ++i) {
    if (&made_values_[i] == value) return "value " + std::to_string(i);
  }
  return "a stranger";
}

int32_t FakeRun::make_tensor(eph_run* run, int32_t type, const int64_t*, uint32_t rank,
                             eph_value** out, eph_error* error) noexcept {
  return self(run).make("tensor of type " + std::to_string(type) + ", rank " + std::to_string(rank),
                        out, error);
}

int32_t FakeRun::set_element(eph_run* run, eph_value* tensor, uint64_t element, eph_string text,
                             eph_error*) noexcept {
  self(run).made.push_back(self(run).name_of(tensor) + "[" + std::to_string(element) +
                           "] = " + std::string(eph::view(text)));
  return EPH_OK;
}

int32_t FakeRun::make_sequence(eph_run* run, const eph_value* base, uint64_t position,
                               uint64_t removed, const eph_value* const* inserted, uint64_t count,
                               const eph_value** out, eph_error* error) noexcept {
  std::string what = "sequence of " + self(run).name_of(base) + " at " + std::to_string(position) +
                     " less " + std::to_string(removed);
  for (uint64_t i = 0; i < count; ++i) what += " with " + self(run).name_of(inserted[i]);
  return self(run).make(std::move(what), out, error);
}

int32_t FakeRun::make_map(eph_run* run, const eph_value* keys, const eph_value* values,
                          const eph_value** out, eph_error* error) noexcept {
  return self(run).make("map of " + self(run).name_of(keys) + " to " + self(run).name_of(values),
                        out, error);
}

int32_t FakeRun::set_output(eph_run* run, uint32_t index, const eph_value* value,
                            eph_error*) noexcept {
  self(run).made.push_back("output " + std::to_string(index) + " = " + self(run).name_of(value));
  return EPH_OK;
}

}  // namespace ephost::test
