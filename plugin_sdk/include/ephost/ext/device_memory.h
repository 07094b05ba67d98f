/*
 * device_memory.h: the optional interface "ephost.device_memory/1", which a provider offers to the
 * host through its get_extension. It is for providers whose computations use memory that the host
 * cannot, or should not, read and write.
 *
 * Memories are numbered: 0 is host memory, 1 and up are the provider's own, in the order of
 * get_memories. The host allocates in them what its plan places there (one block for all values of
 * known size, and further blocks as sizes become known), copies a value if its next reader wants it
 * in another memory, and tells with each eph_value, as `memory`, where its `data` lies. Constants
 * are copied once, when the session is created. Values pass from one provider's memory to another's
 * through host memory.
 *
 * `data` of such a value, and the workspace, are addresses or handles that the provider defines:
 * the host adds offsets to them and never reads or writes there. An address plus an offset below
 * the size of its block denotes that place in the block. Null is not an address. A tensor without
 * elements has an address that is not null and denotes nothing.
 *
 * The following always lie in host memory: strings, sequences, maps and optionals; values of
 * enclosing graphs that the bodies of a node read; inputs of get_capability and compile, such as
 * constants; and the results of make_tensor and allocate_scratch. A value made with make_tensor may
 * be set as an output in another memory: the host copies it. An input in another memory cannot
 * become part of a sequence or map.
 *
 * This revision is synchronous: when `copy` returns, the bytes have arrived. `compute` may return
 * before the device is done, as long as the provider's later calls of `compute` and `copy` see the
 * results of the earlier ones. No memory is released while a call uses it.
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
  eph_string name; /* for display, e.g. "npu" */
  /* The alignment of every value and workspace: a power of two, at most 1 MiB. Less than 64 counts
   * as 64. With more than 64, parts of values (eph_slot_part) are always copied. */
  uint64_t alignment;
} eph_memory;

/* An input or output in another memory than the rest. Frozen. */
typedef struct eph_slot_memory {
  uint32_t slot;
  uint32_t memory;
} eph_slot_memory;

/* In which memories a computation wants its inputs, outputs and workspace. Arrays live as long as
 * the computation. */
typedef struct eph_computation_memory {
  uint64_t struct_size;
  uint32_t memory;   /* of the workspace, and of all inputs and outputs not listed below */
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

  /* Fills the fields of *out that the plugin knows. The host has set struct_size and a `memory` of
   * 1, and zeroed the rest; the plugin keeps struct_size or lowers it to its own. Called once for
   * each computation, after its `describe`. Null: everything is in memory 1.
   * [optional] [owner] */
  int32_t (*describe)(eph_provider* provider, eph_computation* computation,
                      eph_computation_memory* out, eph_error* error) EPH_NOEXCEPT;

  /* Allocates a block of `size` > 0 bytes with the alignment of the memory. The host keeps blocks
   * for later runs. EPH_OUT_OF_MEMORY if there is none left. [required] [any] */
  int32_t (*allocate)(eph_provider* provider, uint32_t memory, uint64_t size, void** out_data,
                      eph_error* error) EPH_NOEXCEPT;

  /* Frees a block from `allocate`. All blocks are freed before the provider is destroyed.
   * [required] [any] */
  void (*release)(eph_provider* provider, uint32_t memory, void* data) EPH_NOEXCEPT;

  /* Copies `size` > 0 bytes between regions that do not overlap: from host memory to one of the
   * provider's memories, back, or between two of the provider's memories. [required] [any] */
  int32_t (*copy)(eph_provider* provider, uint32_t to_memory, void* to, uint32_t from_memory,
                  const void* from, uint64_t size, eph_error* error) EPH_NOEXCEPT;
} eph_device_memory_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_DEVICE_MEMORY_H_ */
