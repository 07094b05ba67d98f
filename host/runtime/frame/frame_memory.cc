#include "host/runtime/frame/frame_memory.h"

#include <bit>
#include <string>
#include <utility>

#include "host/base/text.h"

namespace ephost::runtime {
namespace {

// More than there is; twice as many are still a number.
constexpr uint64_t kMostRounded = uint64_t{1} << 60;

}  // namespace

FrameMemory::FrameMemory(const Program& program)
    : program_(program),
      workspaces_(program.steps().size()),
      uses_lane_workspace_(program.steps().size()),
      lane_workspaces_(program.lane_count()),
      pool_(program.host_alignment()) {
  for (const DeviceLocation& device : program.devices()) devices_.emplace_back(device);
  if (!program.is_parallel()) return;
  users_left_ = std::make_unique<std::atomic<uint32_t>[]>(program.open_buffers().size());
}

Status FrameMemory::bind(std::shared_ptr<const TracedPattern> traced) {
  traced_ = std::move(traced);
  is_bound_ = false;
  EPHOST_RETURN_IF_ERROR(reserve_blocks());
  EPHOST_RETURN_IF_ERROR(bind_workspaces());
  is_bound_ = true;
  return Status::ok_status();
}

Status FrameMemory::reserve_blocks() {
  uint64_t bytes = 0;
  for (const plan::MemoryBlock& block : pattern().blocks) {
    if (block.location == plan::kHostLocation) {
      bytes = block.bytes;
      continue;
    }
    Status status = devices_[block.location - 1].reserve(block.bytes);
    if (!status.ok()) {
      return std::move(status).with_context(program_.describe_block(pattern(), block.location));
    }
  }
  return reserve_host_block(bytes);
}

// Values that are copied to a device, or from it, lie in its memory for staging while there is
// some.
Status FrameMemory::reserve_host_block(uint64_t bytes) {
  if (bytes <= block_bytes_) return Status::ok_status();
  block_.reset();
  staged_block_ = {};
  block_bytes_ = 0;
  if (const bridge::DeviceMemory* const staging = program_.staging()) {
    auto staged = bridge::DeviceBlock::allocate(*staging, bytes, "the block of host memory");
    if (staged.ok()) {
      staged_block_ = std::move(staged).value();
      block_bytes_ = bytes;
      return Status::ok_status();
    }
  }
  block_ = allocate_aligned(bytes, program_.host_alignment(), Sharing::kWithWorkers);
  block_bytes_ = block_ ? bytes : 0;
  if (block_ != nullptr) return Status::ok_status();
  return out_of_memory(bytes, program_.describe_block(pattern(), plan::kHostLocation));
}

Status FrameMemory::bind_workspaces() {
  EPHOST_RETURN_IF_ERROR(reserve_lane_workspaces());
  for (const plan::Workspace& workspace : program_.allocation().workspaces) {
    const uint64_t offset = pattern().workspace_offsets[workspace.pc];
    std::byte*& memory = workspaces_[workspace.pc];
    uses_lane_workspace_[workspace.pc] = false;
    if (offset != plan::kNoOffset) {
      memory = block_at(workspace.location) + offset;
    } else if (workspace.location != plan::kHostLocation) {
      DeviceArena& device = devices_[workspace.location - 1];
      EPHOST_ASSIGN_OR_RETURN(memory, device.workspace(workspace.pc, workspace.bytes));
    } else {
      uses_lane_workspace_[workspace.pc] = true;
    }
  }
  return Status::ok_status();
}

// One for each lane, as large as the largest workspace that the pattern does not place.
Status FrameMemory::reserve_lane_workspaces() {
  plan::Workspace largest;
  for (const plan::Workspace& workspace : program_.allocation().workspaces) {
    const bool is_placed = pattern().workspace_offsets[workspace.pc] != plan::kNoOffset;
    if (is_placed || workspace.location != plan::kHostLocation) continue;
    if (workspace.bytes > largest.bytes) largest = workspace;
  }
  if (largest.bytes <= lane_workspace_bytes_) return Status::ok_status();
  lane_workspace_bytes_ = 0;
  for (AlignedMemory& workspace : lane_workspaces_) {
    workspace = allocate_aligned(largest.bytes, program_.host_alignment());
    if (workspace == nullptr) {
      return out_of_memory(largest.bytes, "the workspace of " + program_.describe_step(largest.pc));
    }
  }
  lane_workspace_bytes_ = largest.bytes;
  return Status::ok_status();
}

std::byte* FrameMemory::place(graph::ValueId id) const {
  const uint64_t offset = pattern().offsets[id];
  if (offset == plan::kNoOffset) return nullptr;
  return block_at(program_.allocation().values[id].location) + offset;
}

Result<std::byte*> FrameMemory::take(graph::ValueId id, uint64_t bytes) {
  const uint32_t location = program_.allocation().values[id].location;
  const std::string& name = program_.graph().values[id].name;
  const std::lock_guard lock(mutex_);
  const std::byte*& pooled = pooled_[id];
  // A computation that asks again and again gets the same few blocks.
  const bool is_again = pooled != nullptr && bytes <= kMostRounded;
  const uint64_t wanted = is_again ? std::bit_ceil(bytes) : bytes;
  std::byte* memory = nullptr;
  if (location == plan::kHostLocation) {
    memory = pool_.take(wanted);
    if (memory == nullptr) return out_of_memory(bytes, "value " + quote(name));
  } else {
    EPHOST_ASSIGN_OR_RETURN(
        memory, devices_[location - 1].take(wanted, stream_of(id), "value " + quote(name)));
  }
  if (pooled != nullptr) give_back(location, pooled);
  pooled = memory;
  return memory;
}

uint32_t FrameMemory::stream_of(graph::ValueId id) const {
  if (!program_.has_streams()) return plan::kHostStream;
  return streams().stream_of[program_.allocation().values[id].first_pc];
}

void FrameMemory::give_back(uint32_t location, const std::byte* memory) {
  if (location == plan::kHostLocation) {
    pool_.give_back(memory);
  } else {
    devices_[location - 1].give_back(memory);
  }
}

Value& FrameMemory::adopt(graph::ValueId id) {
  const std::lock_guard lock(mutex_);
  return adopted_[id];
}

void FrameMemory::release(graph::ValueId root) {
  const std::lock_guard lock(mutex_);
  adopted_.erase(root);
  const auto pooled = pooled_.find(root);
  if (pooled == pooled_.end()) return;
  if (pooled->second != nullptr) {
    give_back(program_.allocation().values[root].location, pooled->second);
  }
  pooled_.erase(pooled);
}

Result<DeviceScratch> FrameMemory::take_scratch(uint32_t location, uint64_t bytes, size_t step) {
  const uint32_t stream = program_.has_streams() ? streams().stream_of[step] : plan::kHostStream;
  const std::lock_guard lock(mutex_);
  EPHOST_ASSIGN_OR_RETURN(std::byte* const data,
                          devices_[location - 1].take(
                              bytes, stream, "scratch memory of " + program_.describe_step(step)));
  return DeviceScratch{location, data};
}

void FrameMemory::give_back(const DeviceScratch& scratch) {
  const std::lock_guard lock(mutex_);
  devices_[scratch.location - 1].give_back(scratch.data);
}

void FrameMemory::reset_users() {
  const std::span<const Program::OpenBuffer> buffers = program_.open_buffers();
  for (size_t i = 0; i < buffers.size(); ++i) users_left_[i] = buffers[i].users;
}

void FrameMemory::end_run() {
  pool_.end_run();
  for (DeviceArena& device : devices_) device.end_run();
  pooled_.clear();
  adopted_.clear();
}

}  // namespace ephost::runtime
