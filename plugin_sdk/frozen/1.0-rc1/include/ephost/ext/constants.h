/*
 * constants.h: the optional interface "ephost.constants/1", which the host offers to providers.
 *
 * A provider that packs constants into a form of its own reads each of them once. It tells the host
 * when it has done so, and the host returns the memory of mapped model files to the system while
 * the rest is still being compiled, so that a large model is not in memory twice. The provider
 * fetches the table once, in `create`:
 *
 *   const eph_constants_api* constants = host->api->get_extension(host, id);   id:
 * EPH_EXT_CONSTANTS
 *
 * and does without it if that is null. EPH_CLAIM_DROP_CONSTANTS says the same about a whole
 * partition once it is compiled.
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

  /* The provider is unlikely to read the `size` bytes of constants at `data` again. They stay
   * readable with the same content, but reading them may be slow. Memory that holds no constants is
   * not affected. [required] [any] */
  void (*release)(const eph_host* host, const void* data, uint64_t size) EPH_NOEXCEPT;
} eph_constants_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_CONSTANTS_H_ */
