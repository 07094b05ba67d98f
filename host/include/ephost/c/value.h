/* Values of the C API, i.e. tensors, sequences and maps: the table ephost_value_api. */
#ifndef EPHOST_C_VALUE_H_
#define EPHOST_C_VALUE_H_

#include <ephost/c/base.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types, numbered as in ONNX's TensorProto.DataType. Always carried as int32_t. */
enum {
  EPHOST_ELEMENT_UNDEFINED = 0,
  EPHOST_ELEMENT_FLOAT = 1,
  EPHOST_ELEMENT_UINT8 = 2,
  EPHOST_ELEMENT_INT8 = 3,
  EPHOST_ELEMENT_UINT16 = 4,
  EPHOST_ELEMENT_INT16 = 5,
  EPHOST_ELEMENT_INT32 = 6,
  EPHOST_ELEMENT_INT64 = 7,
  EPHOST_ELEMENT_STRING = 8,
  EPHOST_ELEMENT_BOOL = 9,
  EPHOST_ELEMENT_FLOAT16 = 10,
  EPHOST_ELEMENT_DOUBLE = 11,
  EPHOST_ELEMENT_UINT32 = 12,
  EPHOST_ELEMENT_UINT64 = 13,
  EPHOST_ELEMENT_COMPLEX64 = 14,
  EPHOST_ELEMENT_COMPLEX128 = 15,
  EPHOST_ELEMENT_BFLOAT16 = 16,
  EPHOST_ELEMENT_FLOAT8E4M3FN = 17,
  EPHOST_ELEMENT_FLOAT8E4M3FNUZ = 18,
  EPHOST_ELEMENT_FLOAT8E5M2 = 19,
  EPHOST_ELEMENT_FLOAT8E5M2FNUZ = 20,
  EPHOST_ELEMENT_UINT4 = 21,
  EPHOST_ELEMENT_INT4 = 22,
  EPHOST_ELEMENT_FLOAT4E2M1 = 23,
  EPHOST_ELEMENT_FLOAT8E8M0 = 24,
  EPHOST_ELEMENT_UINT2 = 25,
  EPHOST_ELEMENT_INT2 = 26
};

/* ValueKind (<ephost/types/value.h>). Always carried as int32_t. */
enum {
  EPHOST_KIND_NONE = 0,
  EPHOST_KIND_TENSOR = 1,
  EPHOST_KIND_SEQUENCE = 2,
  EPHOST_KIND_MAP = 3,
  EPHOST_KIND_SPARSE_TENSOR = 4
};

/* SparseFormat (<ephost/types/value.h>). Always carried as int32_t. */
enum { EPHOST_SPARSE_COO = 1, EPHOST_SPARSE_CSR = 2, EPHOST_SPARSE_BLOCK = 4 };

/* MemoryType (<ephost/types/memory_info.h>). Always carried as int32_t. */
enum { EPHOST_MEMORY_CPU_INPUT = -2, EPHOST_MEMORY_CPU_OUTPUT = -1, EPHOST_MEMORY_DEFAULT = 0 };

/* MemoryInfo (<ephost/types/memory_info.h>). */
typedef struct ephost_memory_info {
  uint64_t struct_size;
  const char* name;
  const char* device_type;
  int32_t device_id;
  int32_t memory_type;
  int32_t dlpack_type;
  int32_t dlpack_id;
} ephost_memory_info;

/* ExternalKind (<ephost/types/memory_info.h>). Always carried as int32_t. */
enum {
  EPHOST_EXTERNAL_POINTER = 0,
  EPHOST_EXTERNAL_HOST_POINTER = 1,
  EPHOST_EXTERNAL_DMA_BUF = 2,
  EPHOST_EXTERNAL_OPAQUE_FD = 3,
  EPHOST_EXTERNAL_QUEUE = 4,
  EPHOST_EXTERNAL_SYNC_FILE = 5
};

/* External (<ephost/types/memory_info.h>). */
typedef struct ephost_external {
  uint64_t struct_size;
  int32_t kind;
  uint32_t reserved; /* zero */
  uint64_t handle;
  uint64_t offset;
  uint64_t size;
} ephost_external;

/*
 * What goes into a run or comes out of it. A handle is a reference to a value: values are counted,
 * and sequences, maps and bindings share those that they were made of. Any number of threads may
 * use a value as long as none of them writes to its memory.
 */
typedef struct ephost_value ephost_value;

/* What a value is. Its pointers live as long as the value. */
typedef struct ephost_value_info {
  uint64_t struct_size;
  int32_t kind;
  int32_t element_type; /* of a tensor, of the tensors in a sequence, of a map's keys */
  const int64_t* shape; /* of a tensor: `rank` extents */
  uint64_t rank;
  uint64_t element_count; /* of a tensor; otherwise 0 */
  /* The elements of a tensor; those of 4 and 2 bits are packed, the first one into the lowest bits
   * of a byte. Null for strings, for anything else than a tensor, for one in the memory of a
   * device, and perhaps for no elements. */
  void* data;
  uint64_t byte_size;
  uint64_t part_count; /* of a sequence; 2 for a map, keys and values; otherwise 0 */
  /* What the plugin calls the address of a tensor in the memory of a device: the application can
   * only pass it to something else that knows this device. Null for other values. */
  void* device_data;
} ephost_value_info;

typedef struct ephost_value_api {
  uint64_t struct_size;
  /* Value::allocate. Strings are empty. */
  ephost_status* (*create_tensor)(int32_t element_type, const int64_t* shape, uint64_t rank,
                                  ephost_value** out_value);
  /* Value::borrow, or with `release` Value::share. Where the type of a tensor does not admit
   * elements at this address, what reads it makes a copy first. `release` is called with `context`
   * when the tensor is not used any more, on the thread that gave it up last; without it, the
   * memory must outlive the tensor and everything that was made of it. After a failure it is not
   * called. */
  ephost_status* (*create_tensor_with_data)(int32_t element_type, const int64_t* shape,
                                            uint64_t rank, void* data, uint64_t byte_size,
                                            void (*release)(void* context), void* context,
                                            ephost_value** out_value);
  /* Value::allocate, in a memory. */
  ephost_status* (*create_tensor_in)(const ephost_memory_info* memory, int32_t element_type,
                                     const int64_t* shape, uint64_t rank, ephost_value** out_value);
  /* Value::import. `release` is called as that of create_tensor_with_data is; it may be null. */
  ephost_status* (*import_tensor)(const ephost_memory_info* memory, const ephost_external* from,
                                  int32_t element_type, const int64_t* shape, uint64_t rank,
                                  void (*release)(void* context), void* context,
                                  ephost_value** out_value);
  /* Value::export_as; `out_external` has its struct_size set. */
  ephost_status* (*export_tensor)(const ephost_value* value, int32_t kind,
                                  ephost_external* out_external);
  /* Value::wait_for. */
  ephost_status* (*wait_for)(const ephost_memory_info* memory, const ephost_external* fence);
  /* Value::of_strings; the strings are copied. */
  ephost_status* (*create_string_tensor)(const int64_t* shape, uint64_t rank,
                                         const ephost_string* strings, uint64_t count,
                                         ephost_value** out_value);
  /* Value::sequence. The parts are shared. */
  ephost_status* (*create_sequence)(const ephost_value* const* parts, uint64_t count,
                                    int32_t element_type, ephost_value** out_value);
  /* Value::map. Both are shared. */
  ephost_status* (*create_map)(const ephost_value* keys, const ephost_value* values,
                               ephost_value** out_value);
  /* Value::of_sparse, from the members of a SparseTensor; `form` is one of EPHOST_SPARSE_*.
   * `values` is shared, the rest is copied. */
  ephost_status* (*create_sparse_tensor)(int32_t form, const int64_t* shape, uint64_t rank,
                                         const ephost_value* values, const int64_t* indices,
                                         uint64_t index_count, const int64_t* outer_indices,
                                         uint64_t outer_index_count, ephost_value** out_value);
  /* Value::to_dense. 0 `max_bytes`: 1 GiB. */
  ephost_status* (*to_dense)(const ephost_value* value, uint64_t max_bytes,
                             ephost_value** out_value);
  /* A value of kind NONE. */
  ephost_status* (*create_none)(ephost_value** out_value);

  /* A further reference to the same value, to be released as well. Null for null. */
  ephost_value* (*retain)(const ephost_value* value);
  void (*release)(ephost_value* value);

  /* Fills in what `out_info->struct_size`, which the caller sets, has room for. Lowers it to what
   * this library knows, so that EPHOST_HAS says what was filled in. */
  void (*get_info)(const ephost_value* value, ephost_value_info* out_info);
  /* Writes the strings of a tensor of them; `count` must be its element_count. They live as long as
   * the value. INVALID_ARGUMENT for any other value. */
  ephost_status* (*get_strings)(const ephost_value* value, ephost_string* out_strings,
                                uint64_t count);
  /* A part of a sequence or map. INVALID_ARGUMENT if it has none of that index. */
  ephost_status* (*get_part)(const ephost_value* value, uint64_t index, ephost_value** out_part);

  /* Value::copy_to. `memory` may be null for the host's. */
  ephost_status* (*copy_to)(const ephost_value* value, const ephost_memory_info* memory,
                            ephost_value** out_value);
  /* Value::copy_from. */
  ephost_status* (*copy_elements)(const ephost_value* from, ephost_value* to);

  /* Value::memory_info. The record lives as long as the library; null where memory runs out. */
  const ephost_memory_info* (*memory_info)(const ephost_value* value);

  /* element_type_name of <ephost/element_info.h>; "undefined" for any other number. */
  const char* (*element_type_name)(int32_t element_type);
  /* element_bits and tensor_bytes. EPHOST_UNKNOWN where the C++ function returns nothing. */
  uint32_t (*element_bits)(int32_t element_type);
  uint64_t (*tensor_bytes)(int32_t element_type, const int64_t* shape, uint64_t rank);

  /* read_value_file. `kind`, `is_optional` and `element_type` are those of ValueForm. `out_name` is
   * released with release_text. */
  ephost_status* (*read_file)(const char* path, int32_t kind, int32_t is_optional,
                              int32_t element_type, char** out_name, ephost_value** out_value);
  /* write_value_file. */
  ephost_status* (*write_file)(const char* path, const char* name, const ephost_value* value,
                               int32_t is_optional);
} ephost_value_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_VALUE_H_ */
