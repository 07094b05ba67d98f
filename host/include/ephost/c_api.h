/*
 * c_api.h: ephost from C, and from everything that can call C.
 *
 * The library exports one function, ephost_api_v1. It returns a table of tables, and everything
 * else is called through these:
 *
 *     const ephost_api* api = ephost_api_v1();
 *     ephost_environment* environment = NULL;
 *     ephost_status* failure = api->environment->create(NULL, &environment);
 *
 * C++ programs may prefer <ephost/ephost.h>, which wraps these tables in classes and needs nothing
 * else of the library, so that it works with any compiler and standard library. Most functions of
 * ONNX Runtime's C API are here under their names; host/include/ONNXRUNTIME.md sets both beside
 * each other.
 *
 * This header is C11, and valid C++17. It needs nothing but <stddef.h> and <stdint.h>.
 *
 * What a function, a record or a field means is documented once, in the C++ headers: the comment
 * here names the C++ function, class or type whose contract applies, with its header where that is
 * not <ephost/session.h>, <ephost/session_options.h>, <ephost/environment.h>, <ephost/value.h> or
 * one named after the function, and adds what is particular to C. A field without a comment is the
 * member of that name (a count goes with the list before it); where the member may be unset, zero,
 * null or EPHOST_UNKNOWN means that it is, as the field says.
 *
 * Rules that apply everywhere
 *
 *   - Functions that can fail return a status: null for success, or an object with a code and a
 *     message that the caller releases. Nothing else fails. No exception leaves a function, and
 *     none may leave a function that the application passes.
 *   - An out_ parameter is set to null or zero before anything else happens. A failed call leaves
 *     nothing to release. Release functions accept null.
 *   - Tables and records start with `struct_size`. Later versions only append fields. The library
 *     sets it in what it hands out; a reader looks at a field only if struct_size covers all of it
 *     (EPHOST_HAS). In what the application hands over, it is set by the application, and what it
 *     does not cover has its default, and a size of 0 is an error (INVALID_ARGUMENT). A record of
 *     zeros but for its struct_size is all defaults: EPHOST_INIT sets one up. Records marked
 *     "frozen" never grow and carry no size.
 *   - Texts are UTF-8 with a terminating zero; paths are bytes as the system has them. Texts in
 *     records of the library are never null; an absent one is empty. Texts that may contain zeros
 *     are passed as an ephost_string.
 *   - What is passed to a function is borrowed: the library copies what it needs longer, except for
 *     the memory of tensors and models, of which that is said. What a function returns with `const`
 *     belongs to the object that it was asked for and lives as long, unless stated otherwise. What
 *     it returns through an out_ parameter belongs to the caller and has a release function.
 *   - A report is a record that the library hands out through an out_ parameter, with everything
 *     that it points to. It is a snapshot that does not change, may be read by any number of
 *     threads, outlives what it is about, and is released as a whole with release_report.
 *   - Any thread may call any function. A handle may be used by several threads at once where its
 *     comment says so, and otherwise by one at a time.
 */
#ifndef EPHOST_C_API_H_
#define EPHOST_C_API_H_

#include <ephost/c/base.h>
#include <ephost/c/cache.h>
#include <ephost/c/compilation.h>
#include <ephost/c/environment.h>
#include <ephost/c/model.h>
#include <ephost/c/placement.h>
#include <ephost/c/plugin.h>
#include <ephost/c/session.h>
#include <ephost/c/session_options.h>
#include <ephost/c/status.h>
#include <ephost/c/value.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All tables live as long as the library is loaded. */
typedef struct ephost_api {
  uint64_t struct_size;
  uint32_t minor; /* of this interface, as the library has it */
  uint32_t reserved;
  const char* version; /* of the library, e.g. "1.2.3" */
  const ephost_status_api* status;
  const ephost_value_api* value;
  const ephost_environment_api* environment;
  const ephost_session_options_api* session_options;
  const ephost_session_api* session;
  const ephost_model_api* model;
  const ephost_plugin_api* plugin;
  const ephost_cache_api* cache;
  const ephost_placement_api* placement;

  /* Releases a report, with everything that it points to. */
  void (*release_report)(const void* report);
  /* Releases a text that an out_ parameter received. */
  void (*release_text)(char* text);
} ephost_api;

/* The only exported function. Never null. */
EPHOST_EXPORT const ephost_api* ephost_api_v1(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_API_H_ */
