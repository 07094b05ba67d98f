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

/* Kinds of values. Always carried as int32_t. */
enum {
  EPHOST_KIND_NONE = 0,   /* no value; an optional without content */
  EPHOST_KIND_TENSOR = 1, /* dense, row-major */
  EPHOST_KIND_SEQUENCE = 2,
  EPHOST_KIND_MAP = 3,
  EPHOST_KIND_SPARSE_TENSOR = 4 /* as an input of a run; the model gets its dense form */
};

/* Forms of sparse tensors, numbered as ONNX Runtime's OrtSparseFormat. Always carried as int32_t.
 */
enum { EPHOST_SPARSE_COO = 1, EPHOST_SPARSE_CSR = 2, EPHOST_SPARSE_BLOCK = 4 };

/* Kinds of memory of one device, numbered as ONNX Runtime's OrtMemType. Always carried as int32_t.
 */
enum {
  EPHOST_MEMORY_CPU_INPUT = -2,  /* host memory that the device reads inputs from */
  EPHOST_MEMORY_CPU_OUTPUT = -1, /* host memory that the device writes outputs to */
  EPHOST_MEMORY_DEFAULT = 0      /* the device's own memory */
};

/* Which memory a value lies in. Inputs and outputs of runs always lie in host memory: name "Cpu",
 * device type "cpu", number 0. */
typedef struct ephost_memory_info {
  uint64_t struct_size;
  const char* name;        /* of the allocator */
  const char* device_type; /* as ephost_device's `type` */
  int32_t device_id;       /* a number from 0 among the devices of that type */
  int32_t memory_type;
} ephost_memory_info;

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
   * of a byte. Null for strings, for anything else than a tensor, and perhaps for no elements. */
  void* data;
  uint64_t byte_size;
  uint64_t part_count; /* of a sequence; 2 for a map, keys and values; otherwise 0 */
} ephost_value_info;

typedef struct ephost_value_api {
  uint64_t struct_size;
  /* A tensor of its own memory, aligned to 64 bytes and zeroed; of empty strings for that type.
   * INVALID_ARGUMENT for a negative extent, a size that overflows or an undefined type;
   * OUT_OF_MEMORY where memory runs out. */
  ephost_status* (*create_tensor)(int32_t element_type, const int64_t* shape, uint64_t rank,
                                  ephost_value** out_value);
  /* A tensor over memory of the application, which must hold exactly the bytes of the shape
   * (INVALID_ARGUMENT otherwise). Where its type does not admit elements at this address, what
   * reads it makes a copy first. `release` is called with `context` when the tensor is not used any
   * more, on the thread that gave it up last; without it, the memory must outlive the tensor and
   * everything that was made of it. After a failure it is not called. */
  ephost_status* (*create_tensor_with_data)(int32_t element_type, const int64_t* shape,
                                            uint64_t rank, void* data, uint64_t byte_size,
                                            void (*release)(void* context), void* context,
                                            ephost_value** out_value);
  /* A tensor of copies of the strings; INVALID_ARGUMENT unless `count` is what the shape says. */
  ephost_status* (*create_string_tensor)(const int64_t* shape, uint64_t rank,
                                         const ephost_string* strings, uint64_t count,
                                         ephost_value** out_value);
  /* A sequence of values of one kind and element type (INVALID_ARGUMENT otherwise), which it
   * shares. `element_type` is that of the tensors in it; it matters only where there are none. */
  ephost_status* (*create_sequence)(const ephost_value* const* parts, uint64_t count,
                                    int32_t element_type, ephost_value** out_value);
  /* `keys`: a tensor of rank 1, of strings or integers. `values`: a tensor of rank 1 or a sequence,
   * as many as keys. INVALID_ARGUMENT otherwise. Both are shared. */
  ephost_status* (*create_map)(const ephost_value* keys, const ephost_value* values,
                               ephost_value** out_value);
  /* A sparse tensor; `values` is shared, the rest is copied. INVALID_ARGUMENT if it is not valid.
   * Elements that are not stated are zero, false or empty; of those stated twice, the last counts.
   * `shape` is that of the dense form, with two extents unless the form is COO. `values` is a
   * tensor of one dimension, of strings or elements of whole bytes; with BLOCK of three: blocks,
   * and the extents of a block, which divide those of the shape. `indices` are with COO the place
   * of each value in row-major order, or its index in each dimension; with CSR the column of each
   * value; with BLOCK row and column of each block, counted in blocks. `outer_indices` are for CSR
   * only: for each row the number of values before it, and the number of all. */
  ephost_status* (*create_sparse_tensor)(int32_t form, const int64_t* shape, uint64_t rank,
                                         const ephost_value* values, const int64_t* indices,
                                         uint64_t index_count, const int64_t* outer_indices,
                                         uint64_t outer_index_count, ephost_value** out_value);
  /* The dense form of a sparse tensor; any other value as it is. INVALID_ARGUMENT if it needs more
   * than `max_bytes`; 0: 1 GiB. */
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

  /* Which memory the value lies in. The record lives as long as the library. */
  const ephost_memory_info* (*memory_info)(const ephost_value* value);

  /* "float", "int64", "bfloat16" etc.; "undefined" for anything else. */
  const char* (*element_type_name)(int32_t element_type);
  /* Size of an element in bits; 0 for undefined and string. */
  uint32_t (*element_bits)(int32_t element_type);
  /* Bytes of a dense tensor; EPHOST_UNKNOWN for strings, negative extents and overflow. */
  uint64_t (*tensor_bytes)(int32_t element_type, const int64_t* shape, uint64_t rank);

  /* Reads a value and its name from a file of one protobuf message, as the ONNX backend tests keep
   * them. The message does not tell everything about its value: `kind`, `is_optional` and
   * `element_type` (of the tensors in an empty sequence) are those of the model's input or output.
   * `out_name` receives a text that is released with release_text. Besides the errors of reading a
   * file: INVALID_PROTOBUF for another message, INVALID_GRAPH for an invalid value,
   * NOT_IMPLEMENTED for sparse tensors. */
  ephost_status* (*read_file)(const char* path, int32_t kind, int32_t is_optional,
                              int32_t element_type, char** out_name, ephost_value** out_value);
  /* Replaces a file atomically by one of a value and its name. FAIL if the value exceeds protobuf's
   * limit of 2 GiB. */
  ephost_status* (*write_file)(const char* path, const char* name, const ephost_value* value,
                               int32_t is_optional);
} ephost_value_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_VALUE_H_ */
