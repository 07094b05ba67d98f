/* Status codes, failures and texts of the C API: the table ephost_status_api. */
#ifndef EPHOST_C_STATUS_H_
#define EPHOST_C_STATUS_H_

#include <ephost/c/base.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result codes, always carried as int32_t. Up to EPHOST_NOT_FOUND, the numbers are ONNX
 * Runtime's. */
enum {
  EPHOST_OK = 0,
  EPHOST_FAIL = 1,
  EPHOST_INVALID_ARGUMENT = 2,
  EPHOST_NO_SUCHFILE = 3,
  EPHOST_NO_MODEL = 4,
  EPHOST_ENGINE_ERROR = 5,
  EPHOST_RUNTIME_EXCEPTION = 6,
  EPHOST_INVALID_PROTOBUF = 7,
  EPHOST_MODEL_LOADED = 8,
  EPHOST_NOT_IMPLEMENTED = 9,
  EPHOST_INVALID_GRAPH = 10,
  EPHOST_EP_FAIL = 11,
  EPHOST_MODEL_LOAD_CANCELED = 12,
  EPHOST_MODEL_REQUIRES_COMPILATION = 13,
  EPHOST_NOT_FOUND = 14,
  EPHOST_OUT_OF_MEMORY = 1000,
  EPHOST_DEVICE_LOST = 1001,
  EPHOST_CANCELLED = 1002,
  EPHOST_DEADLINE_EXCEEDED = 1003
};

/* A failure: what failed, with what, and what to do about it. */
typedef struct ephost_status ephost_status;

/* Bytes of text without a terminator; null if there are none. Frozen. */
typedef struct ephost_string {
  const char* data;
  uint64_t size;
} ephost_string;

/* Frozen. */
typedef struct ephost_key_value {
  const char* key;
  const char* value;
} ephost_key_value;

/* A failure inside of a report; code EPHOST_OK and an empty message where there is none. Frozen. */
typedef struct ephost_failure {
  int32_t code;
  int32_t reserved;
  const char* message;
} ephost_failure;

typedef struct ephost_status_api {
  uint64_t struct_size;
  /* For functions of the application that report a failure to the library, which releases it. Null
   * for EPHOST_OK, and where memory runs out. `message` may be null. */
  ephost_status* (*create)(int32_t code, const char* message);
  void (*release)(ephost_status* status);
  /* EPHOST_OK for null. */
  int32_t (*code)(const ephost_status* status);
  /* Lives as long as the status; empty for null. */
  const char* (*message)(const ephost_status* status);
  /* "INVALID_GRAPH" etc.; "UNKNOWN_CODE" for a number that is not a code. */
  const char* (*code_name)(int32_t code);
} ephost_status_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_STATUS_H_ */
