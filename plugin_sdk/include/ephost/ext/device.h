/*
 * device.h: the optional interface "ephost.device/1", which a plugin offers to the host through
 * get_extension of its eph_provider_api. It is for providers whose devices have memory that the
 * host cannot, or should not, read and write.
 *
 * The host opens each device once in a process, however many sessions and providers use it: they
 * share its memories. It opens the device before the first provider that is created for it, passes
 * what `open` gave in eph_provider_config, and closes it after the last of these providers has been
 * destroyed. No device is opened for a provider that only compiles.
 *
 * A device has memories, and a provider sees those of all its devices, numbered from 1 in the order
 * of the devices and of get_memories; 0 is host memory. The host allocates in them what its plan
 * places there (one block for all values of known size, and further blocks as sizes become known),
 * copies a value if its next reader wants it in another memory, and tells with each eph_value, as
 * `memory`, where its `data` lies. Each computation says in eph_computation_info which of its
 * values it wants where. Constants are copied once, when the session is created. Values pass from
 * one device's memory to another's through host memory.
 *
 * `data` of such a value, and the workspace, are addresses or handles that the plugin defines: the
 * host adds offsets to them and never reads or writes there. An address plus an offset below the
 * size of its block denotes that place in the block. Null is not an address. A tensor without
 * elements has an address that is not null and denotes nothing.
 *
 * The following always lie in host memory: strings, sequences, maps and optionals; values of
 * enclosing graphs that the bodies of a node read; inputs of get_capability and compile, such as
 * constants; and the results of make_tensor and allocate_scratch. A value made with make_tensor may
 * be set as an output in another memory: the host copies it. An input in another memory cannot
 * become part of a sequence or map.
 *
 * When `copy` returns, the bytes have arrived. `compute` may return before the device is done, as
 * long as later calls of `compute` and `copy` for the device see the results of the earlier ones.
 * No memory is released while a call uses it.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [optional], [any] and `struct_size`.
 */
#ifndef EPHOST_EXT_DEVICE_H_
#define EPHOST_EXT_DEVICE_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_DEVICE "ephost.device/1"

/* A memory of a device. */
typedef struct eph_memory_info {
  uint64_t struct_size;
  eph_string name; /* for display, e.g. "npu" */
  /* The alignment of every value and workspace: a power of two, at most 1 MiB. Less than 64 counts
   * as 64. With more than 64, parts of values (eph_slot_part) are always copied. */
  uint64_t alignment;
  /* How many bytes after a value a computation may read without using them, at most 1 MiB: the host
   * asks for blocks that are as much larger. */
  uint64_t tail_padding;
  /* The sizes of blocks are multiples of this, at most 1 GiB: what is left over is lost otherwise.
   * 0: any size. */
  uint64_t page_size;
} eph_memory_info;

/* A region to copy. Regions of one call do not overlap. */
typedef struct eph_copy {
  uint64_t struct_size;
  void* to;
  const void* from;
  uint32_t to_memory; /* 0: host memory; others count the device's own memories from 1 */
  uint32_t from_memory;
  uint64_t size; /* > 0 */
} eph_copy;

typedef struct eph_device_api eph_device_api;

struct eph_device_api {
  uint64_t struct_size;

  /* Opens a device that get_devices listed. `self`: the table that get_extension gave. `host`
   * outlives what it gives. Fails with EPH_DEVICE_LOST if the device is gone. [required] [any] */
  int32_t (*open)(const eph_device_api* self, const eph_host* host, const eph_device* device,
                  eph_device_handle** out_device, eph_error* error) EPH_NOEXCEPT;

  /* All providers that were created with it have been destroyed by then, and all blocks have been
   * released. [required] [any] */
  void (*close)(eph_device_handle* device) EPH_NOEXCEPT;

  /* EPH_OK, or EPH_DEVICE_LOST if the device has failed for good: sessions that are created from
   * then on open it again, while those that use it keep what they have. Null: always EPH_OK.
   * [optional] [any] */
  int32_t (*get_status)(eph_device_handle* device, eph_error* error) EPH_NOEXCEPT;

  /* The device's memories, at least one, in an array with *out_stride bytes from one record to the
   * next; they live as long as the handle. [required] [any] */
  int32_t (*get_memories)(eph_device_handle* device, const eph_memory_info** out_memories,
                          uint64_t* out_stride, uint64_t* out_count, eph_error* error) EPH_NOEXCEPT;

  /* Allocates a block of `size` > 0 bytes with the alignment of the memory. The host keeps blocks
   * for later runs. EPH_OUT_OF_MEMORY if there is none left. [required] [any] */
  int32_t (*allocate)(eph_device_handle* device, uint32_t memory, uint64_t size, void** out_data,
                      eph_error* error) EPH_NOEXCEPT;

  /* Frees a block from `allocate`. [required] [any] */
  void (*release)(eph_device_handle* device, uint32_t memory, void* data) EPH_NOEXCEPT;

  /* Makes `count` copies, from host memory to one of the device's memories, back, or between two
   * of the device's memories. `copies`: array with `stride` bytes from one record to the next.
   * [required] [any] */
  int32_t (*copy)(eph_device_handle* device, const eph_copy* copies, uint64_t stride,
                  uint64_t count, eph_error* error) EPH_NOEXCEPT;
};

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_DEVICE_H_ */
