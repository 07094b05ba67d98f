/*
 * constants.h: the optional interface "ephost.constants/1", which the host offers to providers.
 *
 * A provider that packs constants into a form of its own reads each of them once. It tells the host
 * when it has done so, and the host gives the memory of mapped model files back while the rest is
 * still being compiled, so that a large model is not held twice. It fetches the table once, in
 * `create`:
 *
 *   const eph_constants_api* constants = host->api->get_extension(host, id);   id:
 * EPH_EXT_CONSTANTS
 *
 * and does without if that is null. EPH_CLAIM_DROP_CONSTANTS says the same of a whole partition,
 * once it is compiled.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [any] and `struct_size`.
 */
#ifndef EPHOST_EXT_CONSTANTS_H_
#define EPHOST_EXT_CONSTANTS_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_CONSTANTS "ephost.constants/1"

typedef struct eph_constants_api {
  uint64_t struct_size;

  /* The provider will hardly read `size` bytes of constants from `data` on again. They stay
   * readable with the same content, but reading them may be slow. Memory that holds no constants is
   * left alone. [required] [any] */
  void (*release)(const eph_host* host, const void* data, uint64_t size) EPH_NOEXCEPT;
} eph_constants_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_CONSTANTS_H_ */
