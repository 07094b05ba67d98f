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
 * values it wants where. Constants are copied when a session is created, and large ones lie in a
 * memory once for all sessions that have the same bytes. Values pass from one device's memory to
 * another's through host memory, unless the memories say that less will do.
 *
 * `data` of such a value, and the workspace, are addresses or handles that the plugin defines: the
 * host adds offsets to them, and reads or writes there only if the memory allows it. An address
 * plus an offset below the size of its block denotes that place in the block. Null is not an
 * address. A tensor without elements has an address that is not null and denotes nothing.
 *
 * The following always lie in host memory: strings, sequences, maps and optionals; values of
 * enclosing graphs that the bodies of a node read; inputs of get_capability and compile, such as
 * constants; and the results of make_tensor and allocate_scratch. A value made with make_tensor may
 * be set as an output in another memory: the host copies it. An input in another memory cannot
 * become part of a sequence or map.
 *
 * When `copy` returns, the bytes have arrived. No memory is released while a call uses it.
 *
 * A device may have streams: queues of work that it does in order, beside the host and beside other
 * streams. A place in a stream is a point, a number that `record` gives: it is reached when all
 * that was enqueued before it is done. Points of a stream only grow and stay valid as long as the
 * stream, so that nothing has to be destroyed. The host creates streams for each concurrent run,
 * enqueues copies, and passes a stream to computations that state EPH_COMPUTATION_ENQUEUES; it
 * makes one stream wait for a point of another where they use the same memory, and waits itself
 * only where it reads. What is enqueued uses its memory until it is done: the host neither releases
 * nor changes that memory before.
 *
 * A failure travels with the stream. What failed, and everything enqueued later on that stream or
 * on a stream that waits for it, has failed: each of their points fails with the code of the first
 * failure, and none is left waiting. What was enqueued after a failure need not run. A stream that
 * has failed stays so; the host destroys it, and creates another for later runs.
 *
 * A device that starts much work at once for less than the sum of its parts lets the host capture
 * it: computations with EPH_COMPUTATION_CAPTURABLE are enqueued once while the stream only notes
 * what they enqueue, and later runs with the same addresses launch that as one piece.
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

/* Flags of eph_memory_info. */
enum {
  /* Memory of the host that the device reads and writes at full speed, and copies from and to while
   * it computes, such as pinned pages. The host may read and write it like any of its own, and
   * puts values there that are copied to the device or from it. Computations do not name it: its
   * values are in host memory, 0. */
  EPH_MEMORY_STAGING = 1 << 0,
  /* The host can read what lies there at the address in `data`, about as fast as its own memory, as
   * soon as what wrote it is done. Computations of providers without devices then read such values
   * where they are. */
  EPH_MEMORY_HOST_READABLE = 1 << 1,
  /* The host can write there in the same way, and what is enqueued afterwards sees it. */
  EPH_MEMORY_HOST_WRITABLE = 1 << 2
};

/* The `from_memory` of a copy from another device's memory with the same `peers`. */
#define EPH_PEER_MEMORY UINT32_MAX

/* How interfaces of others name memory, and fences: what work waits for. In `imports` and `exports`
 * of eph_memory_info bit n stands for kind n. Always carried as int32_t. */
enum {
  EPH_EXTERNAL_POINTER = 0,      /* what the device's own interface calls memory: a CUdeviceptr */
  EPH_EXTERNAL_HOST_POINTER = 1, /* host memory, which the device then reads and writes itself */
  EPH_EXTERNAL_DMA_BUF = 2,      /* the file descriptor of a dma-buf */
  EPH_EXTERNAL_OPAQUE_FD = 3,    /* a file descriptor that the device's own interface exports */
  /* A fence: what a queue has been given so far. It is named as native_queue is; 0 is the one that
   * the interface has by default. */
  EPH_EXTERNAL_QUEUE = 4,
  EPH_EXTERNAL_SYNC_FILE = 5 /* a fence: the file descriptor of a sync file */
};

/* Memory or a fence of others. */
typedef struct eph_external {
  uint64_t struct_size;
  int32_t kind;      /* EPH_EXTERNAL_* */
  uint32_t reserved; /* zero */
  uint64_t handle;   /* an address, a queue, or a file descriptor, which stays the caller's */
  uint64_t offset;   /* of memory: where it begins in what `handle` names, in bytes */
  uint64_t size;     /* of memory, in bytes; > 0 */
} eph_external;

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
  uint32_t flags;    /* EPH_MEMORY_* */
  uint32_t reserved; /* zero */
  /* An address in a memory denotes the same place in all memories with an equal domain, whichever
   * devices and plugins of this process they belong to: a computation that wants a value in one of
   * them also gets it in another, where alignment and tail padding suffice, and sees the number of
   * the one that it wants. Empty: no other memory. */
  eph_string domain;
  /* A device can copy from any memory with equal peers, whichever devices and plugins of this
   * process they belong to, to this one: values then do not pass through host memory. Empty: from
   * memories of this device only. */
  eph_string peers;
  uint32_t imports; /* kinds that import_memory takes, and export_memory gives, for this memory */
  uint32_t exports;
  /* What DLPack calls this memory, a DLDeviceType and its number: `data` of a value is then what it
   * calls `data`, EPH_EXTERNAL_POINTER can be imported, and wait_external waits for the default
   * queue, as the work of others on the tensor may be under way. Type 0: nothing. */
  int32_t dlpack_type;
  int32_t dlpack_id;
} eph_memory_info;

/* How much of a memory is in use, in bytes. */
typedef struct eph_memory_usage {
  uint64_t struct_size;
  uint64_t total_bytes; /* 0: unknown, as all of these */
  uint64_t free_bytes;  /* for all processes together */
  uint64_t kept_bytes;  /* of released blocks, which `trim` gives back */
} eph_memory_usage;

/* A region to copy. Regions of one call do not overlap. */
typedef struct eph_copy {
  uint64_t struct_size;
  void* to;
  const void* from;
  uint32_t to_memory;   /* 0: host memory; others count the device's own memories from 1 */
  uint32_t from_memory; /* the same, or EPH_PEER_MEMORY */
  uint64_t size;        /* > 0 */
} eph_copy;

/* A place in a stream; 0 is none. */
typedef uint64_t eph_point;

/* The `step` of work that belongs to no step of a plan. */
#define EPH_NO_STEP UINT64_MAX

/* What a stream is for, so that a device with several queues can choose one. Always carried as
 * int32_t. */
enum {
  EPH_STREAM_COMPUTE = 0, /* computations, and copies between them */
  EPH_STREAM_COPY_IN = 1, /* copies from host memory */
  EPH_STREAM_COPY_OUT = 2 /* copies to host memory */
};

typedef struct eph_stream_config {
  uint64_t struct_size;
  int32_t purpose; /* EPH_STREAM_*: a hint; a kind that the plugin does not know is any */
  uint32_t flags;  /* zero */
  /* A queue of the application, as the device's own interface names it (cudaStream_t,
   * cl_command_queue): the stream enqueues there, and the queue outlives it. 0: a queue of its own.
   * EPH_NOT_IMPLEMENTED if the plugin cannot. */
  uint64_t native_queue;
} eph_stream_config;

/* Work that a stream has noted. An object of the plugin. */
typedef struct eph_capture eph_capture;

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

  /* Gives back what the plugin keeps of released blocks, such as a pool, so that others can have
   * it. The host calls it when an allocation has failed with EPH_OUT_OF_MEMORY and it has released
   * the blocks that idle sessions keep; then it tries once more. [optional] [any] */
  void (*trim)(eph_device_handle* device, uint32_t memory) EPH_NOEXCEPT;

  /* Fills the fields of *out that the plugin knows, as describe of eph_computation_api does.
   * [optional] [any] */
  int32_t (*get_usage)(eph_device_handle* device, uint32_t memory, eph_memory_usage* out,
                       eph_error* error) EPH_NOEXCEPT;

  /* Makes `count` copies, from host memory to one of the device's memories, back, or between them
   * and within them. `copies`: array with `stride` bytes from one record to the next.
   * [required] [any] */
  int32_t (*copy)(eph_device_handle* device, const eph_copy* copies, uint64_t stride,
                  uint64_t count, eph_error* error) EPH_NOEXCEPT;

  /*
   * Streams: all functions up to `notify`, or none. Those marked [owner] are called by one thread
   * at a time for each stream. Any of them may return the failure of the stream.
   */

  /* Makes a stream, on which nothing is enqueued. It is destroyed before the device is closed.
   * [optional] [any] */
  int32_t (*create_stream)(eph_device_handle* device, const eph_stream_config* config,
                           eph_stream** out_stream, eph_error* error) EPH_NOEXCEPT;

  /* The host has waited for all that was enqueued, unless the stream has failed: then what still
   * runs is waited for here. No stream waits for it. [optional] [owner] */
  void (*destroy_stream)(eph_device_handle* device, eph_stream* stream) EPH_NOEXCEPT;

  /* Enqueues the copies, as those of `copy`, and returns without waiting for what is in the stream.
   * Host memory stays as it is until they are done. `step` names the work in failures. [optional]
   * [owner] */
  int32_t (*enqueue_copies)(eph_device_handle* device, eph_stream* stream, const eph_copy* copies,
                            uint64_t stride, uint64_t count, uint64_t step,
                            eph_error* error) EPH_NOEXCEPT;

  /* Gives the point after everything enqueued so far. [optional] [owner] */
  int32_t (*record)(eph_device_handle* device, eph_stream* stream, eph_point* out_point,
                    eph_error* error) EPH_NOEXCEPT;

  /* What is enqueued on `stream` from now on begins after `point` of `other`, another stream of the
   * device, is reached. Does not block. [optional] [owner] of `stream` */
  int32_t (*wait)(eph_device_handle* device, eph_stream* stream, eph_stream* other, eph_point point,
                  eph_error* error) EPH_NOEXCEPT;

  /* Gives the last point that was reached, 0 if none was, without waiting; after the failure of the
   * stream, fails with it. [optional] [any] */
  int32_t (*query)(eph_device_handle* device, eph_stream* stream, eph_point* out_reached,
                   eph_error* error) EPH_NOEXCEPT;

  /* Waits until `point` is reached or has failed, at most `timeout_ns` nanoseconds (UINT64_MAX: as
   * long as it takes); EPH_DEADLINE_EXCEEDED if that time passes first. What the device wrote to
   * host memory before the point is visible to the caller then. After the failure of the stream,
   * *out_step is the `step` of what failed, EPH_NO_STEP if that is unknown, and nothing of what was
   * enqueued before the point uses memory any more. With point 0 it waits for nothing, and tells
   * whether the stream has failed. [optional] [any] */
  int32_t (*wait_host)(eph_device_handle* device, eph_stream* stream, eph_point point,
                       uint64_t timeout_ns, uint64_t* out_step, eph_error* error) EPH_NOEXCEPT;

  /* Calls `done` once, on any thread and possibly before this function returns, when `point` is
   * reached (EPH_OK) or has failed (its code). `done` returns at once and calls nothing of the
   * plugin. If notify itself fails, it is not called. [optional] [any] */
  int32_t (*notify)(eph_device_handle* device, eph_stream* stream, eph_point point,
                    void (*done)(void* context, int32_t code), void* context,
                    eph_error* error) EPH_NOEXCEPT;

  /*
   * Capture: all four functions, or none.
   */

  /* What is enqueued on the stream until end_capture is noted, and not done: by computations with
   * EPH_COMPUTATION_CAPTURABLE, and nothing else. If this fails, the host enqueues as always.
   * [optional] [owner] of the stream */
  int32_t (*begin_capture)(eph_device_handle* device, eph_stream* stream,
                           eph_error* error) EPH_NOEXCEPT;

  /* Gives what was noted. Whether or not this succeeds, the stream works as before begin_capture.
   * [optional] [owner] of the stream */
  int32_t (*end_capture)(eph_device_handle* device, eph_stream* stream, eph_capture** out_capture,
                         eph_error* error) EPH_NOEXCEPT;

  /* Enqueues everything that was noted, with the addresses of then, on any stream of the device.
   * `step` is that of the first computation. [optional] [owner] of the stream */
  int32_t (*launch)(eph_device_handle* device, eph_stream* stream, eph_capture* capture,
                    uint64_t step, eph_error* error) EPH_NOEXCEPT;

  /* Nothing that was launched from it is enqueued any more. [optional] [any] */
  void (*destroy_capture)(eph_device_handle* device, eph_capture* capture) EPH_NOEXCEPT;

  /* Nothing of what is enqueued on the stream and has not begun needs to be done: the run was
   * cancelled. Points that are not reached because of this fail with EPH_CANCELLED, and so does the
   * stream. [optional] [any] */
  void (*abandon)(eph_device_handle* device, eph_stream* stream) EPH_NOEXCEPT;

  /*
   * Memory and fences of others.
   */

  /* Makes memory of others usable: *out_data denotes its first byte until release_import, and the
   * owner keeps the memory as long. It has the alignment and tail padding that it has: the host
   * copies a value that lacks them. Both slots or neither. [optional] [any] */
  int32_t (*import_memory)(eph_device_handle* device, uint32_t memory, const eph_external* from,
                           void** out_data, eph_error* error) EPH_NOEXCEPT;
  /* Nothing that is enqueued uses it any more. [any] */
  void (*release_import)(eph_device_handle* device, uint32_t memory, void* data) EPH_NOEXCEPT;

  /* Names for others what begins at `data`, an address in a block: a handle of the kind, and where
   * that begins in what the handle names. A file descriptor is the caller's. [optional] [any] */
  int32_t (*export_memory)(eph_device_handle* device, uint32_t memory, void* data, int32_t kind,
                           uint64_t* out_handle, uint64_t* out_offset,
                           eph_error* error) EPH_NOEXCEPT;

  /* What is enqueued on the stream from now on begins after the fence. Null: returns after it.
   * EPH_NOT_IMPLEMENTED for a kind that the plugin does not know. [optional] [owner] of the
   * stream */
  int32_t (*wait_external)(eph_device_handle* device, eph_stream* stream, const eph_external* fence,
                           eph_error* error) EPH_NOEXCEPT;
};

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_DEVICE_H_ */
