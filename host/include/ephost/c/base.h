/* The conventions of the C API that its headers share: export, records with sizes. c_api.h has
 * the rules. */
#ifndef EPHOST_C_BASE_H_
#define EPHOST_C_BASE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define EPHOST_EXPORT __declspec(dllexport)
#else
#define EPHOST_EXPORT __attribute__((visibility("default")))
#endif

/* The major version is part of the exported symbol's name; this header declares only one. */
#define EPHOST_API_MAJOR 1
/* The minor version that this header describes. A library of a lower one has shorter tables. */
#define EPHOST_API_MINOR 0

/* Whether a record or table behind a pointer has a field. */
#define EPHOST_HAS(pointer, field)                                            \
  ((size_t)((const char*)(&(pointer)->field + 1) - (const char*)(pointer)) <= \
   (size_t)(pointer)->struct_size)

/* Initialises a record with all defaults: ephost_run_options options = EPHOST_INIT(options); */
#define EPHOST_INIT(record) \
  { .struct_size = sizeof(record) }

/* A number that is not known, where a field says that it may not be. */
#define EPHOST_UNKNOWN UINT64_MAX

#endif /* EPHOST_C_BASE_H_ */
