/*
 * device_memory.h: the optional interface "ephost.device_memory/1", which a provider offers to the
 * host through its get_extension. It is for providers whose computations work on memory that the
 * host cannot, or should not, read and write itself.
 *
 * Memories have numbers: 0 is host memory, 1 and up are the provider's own, in the order of
 * get_memories. The host allocates there what its plan wants there (one block for all values of
 * known size, further ones as sizes become known), copies values to and fro where the next reader
 * wants them elsewhere, and states with each eph_value, as `memory`, where its `data` lies.
 * Constants are copied once, when the session is created. Values go from one provider's memory to
 * another's by way of host memory.
 *
 * `data` of such a value, and the workspace, are addresses of the provider's own making, or
 * handles: the host adds offsets to them, and never reads or writes there. An address plus an
 * offset below the size of its block stands for that place in the block. Null is no address. A
 * tensor without elements has an address that is not null and that stands for nothing.
 *
 * Always in host memory are: strings, sequences, maps and optionals; what the bodies of a node read
 * of the graphs around them; inputs of get_capability and compile, such as constants; what
 * make_tensor and allocate_scratch give. A value made with make_tensor may be set as an output that
 * lies elsewhere: the host copies it. An input that lies elsewhere cannot become a part of a
 * sequence or map.
 *
 * This revision is synchronous: when `copy` returns, the bytes are there. A provider may let
 * `compute` return earlier than the device is done, as long as its own later calls of `compute` and
 * `copy` see what came before them. Nothing is released while a call that uses it goes on.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [owner], [any] and `struct_size`.
 */
#ifndef EPHOST_EXT_DEVICE_MEMORY_H_
#define EPHOST_EXT_DEVICE_MEMORY_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_DEVICE_MEMORY "ephost.device_memory/1"

/* A memory of a provider. Frozen. */
typedef struct eph_memory {
  eph_string name; /* for people, e.g. "npu" */
  /* Of every value and workspace: a power of two, at most 1 MiB. Below 64 it counts as 64. Above,
   * parts of values (eph_slot_part) are always copied. */
  uint64_t alignment;
} eph_memory;

/* An input or output that lies elsewhere than the rest. Frozen. */
typedef struct eph_slot_memory {
  uint32_t slot;
  uint32_t memory;
} eph_slot_memory;

/* Where a computation wants its inputs, and where its outputs and workspace are to be. Arrays live
 * as long as the computation. */
typedef struct eph_computation_memory {
  uint64_t struct_size;
  uint32_t memory;   /* of the workspace, and of all inputs and outputs that are not listed */
  uint32_t reserved; /* zero */
  const eph_slot_memory* inputs; /* e.g. a shape that the computation reads itself: memory 0 */
  uint64_t input_count;
  const eph_slot_memory* outputs;
  uint64_t output_count;
} eph_computation_memory;

typedef struct eph_device_memory_api {
  uint64_t struct_size;

  /* The provider's memories, at least one; they live as long as the provider. [required] [owner] */
  int32_t (*get_memories)(eph_provider* provider, const eph_memory** out_memories,
                          uint64_t* out_count, eph_error* error) EPH_NOEXCEPT;

  /* Fills the known part of *out, in which `memory` is 1 and the rest zero but for struct_size.
   * Called once for each computation, after its `describe`. Null: everything is in memory 1.
   * [optional] [owner] */
  int32_t (*describe)(eph_provider* provider, eph_computation* computation,
                      eph_computation_memory* out, eph_error* error) EPH_NOEXCEPT;

  /* A block of `size` bytes, more than 0, with the alignment of the memory. The host keeps blocks
   * for later runs. EPH_FAIL where memory runs out. [required] [any] */
  int32_t (*allocate)(eph_provider* provider, uint32_t memory, uint64_t size, void** out_data,
                      eph_error* error) EPH_NOEXCEPT;

  /* Frees a block that allocate gave. All are freed before the provider is destroyed.
   * [required] [any] */
  void (*release)(eph_provider* provider, uint32_t memory, void* data) EPH_NOEXCEPT;

  /* Copies `size` bytes, more than 0, that do not overlap: from host memory to one of the
   * provider's memories, back, or between these. [required] [any] */
  int32_t (*copy)(eph_provider* provider, uint32_t to_memory, void* to, uint32_t from_memory,
                  const void* from, uint64_t size, eph_error* error) EPH_NOEXCEPT;
} eph_device_memory_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_DEVICE_MEMORY_H_ */
