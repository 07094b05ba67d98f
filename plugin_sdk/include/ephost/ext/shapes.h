/*
 * shapes.h: the optional interface "ephost.shapes/1", which a provider offers to the host through
 * its get_provider_extension. It is for providers that need the extents of a model's inputs, or
 * work better when they know them, and for providers that compile for ranges of extents.
 *
 * What a provider claims of a graph with open extents holds for every extent: it leaves them open.
 * After each get_capability of such a graph the host asks which of the other nodes the provider
 * would take, or would run better, if extents were fixed (`get_wishes`), and which symbols must be
 * fixed for that. The host then makes *specialisations* of the session: as the shapes of runs come,
 * or beforehand for the user's profiles, it fixes the extents of the model's inputs that are wished
 * for, and prepares the whole model once more. Other extents stay open there.
 *
 * Each specialisation has a provider object of its own, created with the same options and devices,
 * which sees the graph with the fixed extents as that of any other model; so a provider needs to do
 * nothing for different shapes beyond naming its wishes. Objects are created and destroyed while
 * those of other specialisations run (see "Threads" in ABI.md). The host keeps a bounded number of
 * them. Until a specialisation is ready, or where it fails, the nodes run as they were claimed with
 * open extents, on other providers where need be.
 *
 * A provider without this interface gets the open graph, as the model has it, and the fixed one
 * where another provider of the session wishes for it.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [optional], [owner] and `struct_size`.
 */
#ifndef EPHOST_EXT_SHAPES_H_
#define EPHOST_EXT_SHAPES_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_SHAPES "ephost.shapes/1"

/* The extents that the user expects of one open dimension of an input of the model. Frozen. */
typedef struct eph_extent_range {
  eph_string input;  /* the input's name */
  eph_string symbol; /* the name of the dimension; empty if it has none */
  uint32_t axis;     /* of the input, from 0 */
  uint32_t reserved; /* zero */
  int64_t least;     /* 1 <= least <= best <= greatest */
  int64_t best;      /* the extent to optimize for */
  int64_t greatest;
} eph_extent_range;

/* What the user expects of one element of an input that is a scalar or list of integers, such as
 * the shape that a Reshape reads. Frozen. */
typedef struct eph_value_range {
  eph_string input; /* the input's name */
  uint64_t element; /* from 0 */
  int64_t least;    /* least <= best <= greatest */
  int64_t best;     /* the number to optimize for */
  int64_t greatest;
} eph_value_range;

/* One of several ranges of extents that runs will have. Dimensions that it does not name may have
 * any extent, and elements any value. */
typedef struct eph_shape_profile {
  uint64_t struct_size;
  const eph_extent_range* extents;
  uint64_t extent_count;
  const eph_value_range* values;
  uint64_t value_count;
} eph_shape_profile;

typedef struct eph_shape_wishes eph_shape_wishes;

typedef struct eph_shape_wishes_api {
  uint64_t struct_size;

  /* Adds nodes of the graph that the provider would take, or would run better, if the extents of
   * `symbols` were fixed wherever they occur; without symbols: if all extents were. Symbols are
   * those of `dim_names` in eph_value_info. May be called several times; the array and the names
   * are copied. Fails with EPH_INVALID_ARGUMENT for a node that the graph does not have, or a
   * symbol that the model does not have. [required] [owner] */
  int32_t (*add)(eph_shape_wishes* wishes, const uint32_t* nodes, uint64_t node_count,
                 const eph_string* symbols, uint64_t symbol_count, eph_error* error) EPH_NOEXCEPT;
} eph_shape_wishes_api;

/* Collects a provider's wishes during one get_wishes call. */
struct eph_shape_wishes {
  const eph_shape_wishes_api* api;
};

typedef struct eph_shapes_provider_api {
  uint64_t struct_size;

  /* States the profiles of the user, at least one, before the first get_capability. A claim made of
   * a graph with open extents then needs to hold only for inputs that lie within one of them, and
   * the host runs no others with such claims. Without this call, claims hold for every extent.
   * profiles: array with `stride` bytes from one record to the next, passed for the call. A failure
   * is one of creating the session. Null: the provider has no use for profiles. [optional]
   * [owner] */
  int32_t (*set_profiles)(eph_provider* provider, const eph_shape_profile* profiles,
                          uint64_t stride, uint64_t profile_count, eph_error* error) EPH_NOEXCEPT;

  /* Called after each successful get_capability of a graph with open extents, with the same graph.
   * Wishes for nodes that are taken already, by providers that the user prefers, have no effect.
   * The answer depends on nothing but the graph and the provider's options and devices. A failure
   * is a warning in the log: the provider then has no wishes. [required] [owner] */
  int32_t (*get_wishes)(eph_provider* provider, const eph_graph* graph, eph_shape_wishes* wishes,
                        eph_error* error) EPH_NOEXCEPT;
} eph_shapes_provider_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_SHAPES_H_ */
