/*
 * shared_contexts.h: the optional interface "ephost.shared_contexts/1", which a provider offers to
 * the host through its get_provider_extension. It enables weight sharing across sessions.
 *
 * Sessions of a group share their EP contexts. For a provider that offers this interface, the host
 * creates one provider object for the whole group instead of one for each session:
 *
 *   - `compile` is called for each model in turn, with partition names that are unique in the
 *     group. Sessions, and so computations, may be destroyed in any order, also before other models
 *     of the group are compiled; the host keeps computations whose context is still to be written.
 *     Computations of one session may run while another session compiles.
 *   - `get_ep_context_nodes` is called once, at the end of the group, with the computations of all
 *     its models. What they have in common should be written once; computations of different models
 *     may name the same payload.
 *   - When contexts are loaded, different sessions may restore the computations of one payload, one
 *     after the other. The payload stays where it is until the provider is destroyed.
 *
 * Thread marks apply to the provider object: [owner] calls come one at a time, whichever session
 * makes them. A provider without this interface works in sessions that share nothing.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [owner] and `struct_size`.
 */
#ifndef EPHOST_EXT_SHARED_CONTEXTS_H_
#define EPHOST_EXT_SHARED_CONTEXTS_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_SHARED_CONTEXTS "ephost.shared_contexts/1"

typedef struct eph_name_list eph_name_list;

typedef struct eph_name_list_api {
  uint64_t struct_size;
  /* Adds a copy of `name`. [required] [owner] */
  int32_t (*add)(eph_name_list* list, eph_string name, eph_error* error) EPH_NOEXCEPT;
} eph_name_list_api;

struct eph_name_list {
  const eph_name_list_api* api;
};

typedef struct eph_shared_contexts_api {
  uint64_t struct_size;

  /* Lists the partitions in a payload, by the names under which get_ep_context_nodes wrote them,
   * without restoring any. EPH_INVALID_GRAPH if the payload is damaged or was made for another SDK,
   * driver or device. As in eph_ep_context, the payload may contain anything, and it lives until
   * the provider is destroyed. [required] [owner] */
  int32_t (*list_partitions)(eph_provider* provider, eph_bytes payload, eph_name_list* list,
                             eph_error* error) EPH_NOEXCEPT;
} eph_shared_contexts_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_SHARED_CONTEXTS_H_ */
