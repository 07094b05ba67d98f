#include "tests/support/fake_host.h"

#include <ephost/ext/thread_pool.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>

namespace ephost::test {
namespace {

std::string to_string(eph_string text) { return {text.data, static_cast<std::size_t>(text.size)}; }

std::size_t count(const Shape& shape) {
  std::size_t elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
  return elements;
}

}  // namespace

const eph_error_api FakeError::kApi = {sizeof(eph_error_api), &FakeError::set_message};
FakeError::FakeError() : eph_error{&kApi} {}
void FakeError::set_message(eph_error* error, eph_string message) noexcept {
  static_cast<FakeError*>(error)->message = to_string(message);
}

const eph_claims_api FakeClaims::kApi = {sizeof(eph_claims_api), &FakeClaims::claim_node,
                                         &FakeClaims::claim_fused, &FakeClaims::has_kernel,
                                         &FakeClaims::decline};
FakeClaims::FakeClaims() : eph_claims{&kApi} {}
int32_t FakeClaims::claim_node(eph_claims*, uint32_t, eph_error*) noexcept { return EPH_FAIL; }
int32_t FakeClaims::claim_fused(eph_claims* claims, const eph_fused_claim* claim,
                                eph_error*) noexcept {
  static_cast<FakeClaims*>(claims)->fused.push_back(
      {{claim->nodes, claim->nodes + claim->node_count}, claim->flags});
  return EPH_OK;
}
int32_t FakeClaims::has_kernel(eph_claims*, uint32_t) noexcept { return 0; }
void FakeClaims::decline(eph_claims* claims, uint32_t node, eph_string reason) noexcept {
  static_cast<FakeClaims*>(claims)->declined[node] = to_string(reason);
}

const eph_context_writer_api FakeContextWriter::kApi = {
    sizeof(eph_context_writer_api), &FakeContextWriter::begin_payload, &FakeContextWriter::write,
    &FakeContextWriter::add_node};
FakeContextWriter::FakeContextWriter() : eph_context_writer{&kApi} {}
int32_t FakeContextWriter::begin_payload(eph_context_writer* writer, uint32_t* out,
                                         eph_error*) noexcept {
  auto& payloads = static_cast<FakeContextWriter*>(writer)->payloads;
  payloads.emplace_back();
  *out = static_cast<uint32_t>(payloads.size() - 1);
  return EPH_OK;
}
int32_t FakeContextWriter::write(eph_context_writer* writer, uint32_t payload, const void* data,
                                 uint64_t size, eph_error*) noexcept {
  static_cast<FakeContextWriter*>(writer)->payloads[payload].append(static_cast<const char*>(data),
                                                                    size);
  return EPH_OK;
}
int32_t FakeContextWriter::add_node(eph_context_writer* writer, const eph_context_node* node,
                                    eph_error*) noexcept {
  static_cast<FakeContextWriter*>(writer)->nodes.push_back(
      {node->computation, node->payload, to_string(node->source), to_string(node->sdk_version),
       to_string(node->hardware_architecture)});
  return EPH_OK;
}

const eph_device_list_api FakeDeviceList::kApi = {sizeof(eph_device_list_api),
                                                  &FakeDeviceList::add};
FakeDeviceList::FakeDeviceList() : eph_device_list{&kApi} {}
int32_t FakeDeviceList::add(eph_device_list* list, const eph_device* device, eph_error*) noexcept {
  static_cast<FakeDeviceList*>(list)->architectures.push_back(to_string(device->architecture));
  return EPH_OK;
}

const eph_host_api FakeHost::kApi = {sizeof(eph_host_api), &FakeHost::log,
                                     &FakeHost::get_extension};
FakeHost::FakeHost() : eph_host{&kApi} {}
std::vector<std::string> FakeHost::logged() const {
  const std::lock_guard lock(mutex_);
  return logged_;
}
void FakeHost::log(const eph_host* host, int32_t, eph_string message) noexcept {
  const auto* fake = static_cast<const FakeHost*>(host);
  const std::lock_guard lock(fake->mutex_);
  fake->logged_.push_back(to_string(message));
}
const void* FakeHost::get_extension(const eph_host*, eph_string id) noexcept {
  // As many ranges as there may be, the last one first: no loop may rely on their order.
  static constexpr eph_thread_pool_api kThreadPool = {
      sizeof(eph_thread_pool_api),
      [](const eph_host*, uint64_t total, uint64_t grain, eph_range_function function,
         void* context) noexcept {
        for (uint64_t piece = (total + grain - 1) / grain; piece-- > 0;) {
          function(context, piece * grain, std::min((piece + 1) * grain, total));
        }
      },
      [](const eph_host*) noexcept { return uint32_t{4}; },
      [](const eph_host*) noexcept { return uint32_t{4}; }};
  const std::string_view wanted(id.data, id.size);
  return wanted == EPH_EXT_THREAD_POOL ? &kThreadPool : nullptr;
}

AlignedBytes::AlignedBytes(std::size_t size) : size_(size) {
  constexpr std::size_t kAlignment = 64, kPage = 4096;
  const std::size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t pages = (rounded + kPage - 1) / kPage * kPage;
  void* mapped =
      mmap(nullptr, pages + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* end = static_cast<char*>(mapped) + pages;
  mprotect(end, kPage, PROT_NONE);
  memory_ = {end - rounded, [=](void*) { munmap(mapped, pages + kPage); }};
}

AlignedBytes::AlignedBytes(const std::string& bytes) : AlignedBytes(bytes.size()) {
  std::memcpy(memory_.get(), bytes.data(), bytes.size());
}

FloatTensor::FloatTensor(Shape shape)
    : FloatTensor(shape, std::vector<float>(count(shape), -777)) {}

FloatTensor::FloatTensor(Shape shape, const std::vector<float>& data)
    : shape_(std::move(shape)), bytes_(data.size() * sizeof(float)) {
  std::memcpy(bytes_.data(), data.data(), bytes_.size());
  value.data = bytes_.data();
  value.shape = shape_.data();
  value.byte_size = bytes_.size();
  value.rank = static_cast<uint32_t>(shape_.size());
  value.element_type = EPH_FLOAT;
  value.kind = EPH_KIND_TENSOR;
}

std::vector<float> FloatTensor::values() const {
  const auto* first = static_cast<const float*>(bytes_.data());
  return {first, first + bytes_.size() / sizeof(float)};
}

int32_t refuse_make_tensor(eph_run*, int32_t, const int64_t*, uint32_t, eph_value** out,
                           eph_error*) noexcept {
  *out = nullptr;
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_set_element(eph_run*, eph_value*, uint64_t, eph_string, eph_error*) noexcept {
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_make_sequence(eph_run*, const eph_value*, uint64_t, uint64_t,
                             const eph_value* const*, uint64_t, const eph_value** out,
                             eph_error*) noexcept {
  *out = nullptr;
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_make_map(eph_run*, const eph_value*, const eph_value*, const eph_value** out,
                        eph_error*) noexcept {
  *out = nullptr;
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_set_output(eph_run*, uint32_t, const eph_value*, eph_error*) noexcept {
  return EPH_NOT_IMPLEMENTED;
}

const eph_run_api FakeRun::kApi = {sizeof(eph_run_api),    &FakeRun::allocate_output,
                                   &FakeRun::set_string,   &FakeRun::allocate_scratch,
                                   &FakeRun::is_cancelled, &refuse_make_tensor,
                                   &refuse_set_element,    &refuse_make_sequence,
                                   &refuse_make_map,       &refuse_set_output};

FakeRun::FakeRun(std::vector<FloatTensor*> run_inputs, std::vector<FloatTensor*> run_outputs,
                 uint64_t workspace_bytes)
    : workspace_(workspace_bytes) {
  for (FloatTensor* input : run_inputs) {
    input_values_.push_back(input == nullptr ? nullptr : &input->value);
  }
  for (FloatTensor* output : run_outputs) {
    output_values_.push_back(output == nullptr ? nullptr : &output->value);
  }
  std::memset(workspace_.data(), 0xff, workspace_.size());
  struct_size = sizeof(eph_run);
  api = &kApi;
  inputs = input_values_.data();
  outputs = output_values_.data();
  input_count = static_cast<uint32_t>(input_values_.size());
  output_count = static_cast<uint32_t>(output_values_.size());
  workspace = workspace_bytes == 0 ? nullptr : workspace_.data();
}

int32_t FakeRun::allocate_output(eph_run*, uint32_t, int32_t, const int64_t*, uint32_t,
                                 eph_error*) noexcept {
  return EPH_INVALID_ARGUMENT;  // outputs are bound beforehand; another shape is a mistake
}
int32_t FakeRun::set_string(eph_run*, uint32_t, uint64_t, eph_string, eph_error*) noexcept {
  return EPH_INVALID_ARGUMENT;
}
void* FakeRun::allocate_scratch(eph_run* run, uint64_t size) noexcept {
  auto& scratch = static_cast<FakeRun*>(run)->scratch_;
  scratch.emplace_back(static_cast<std::size_t>(size));
  return scratch.back().data();
}
int32_t FakeRun::is_cancelled(const eph_run* run) noexcept {
  return static_cast<const FakeRun*>(run)->cancelled ? 1 : 0;
}

}  // namespace ephost::test
