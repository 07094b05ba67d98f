/*
 * layer.h: the interface "ephost.layer/1", which a plugin whose manifest says `kind: layer` offers
 * to the host through get_extension of its eph_plugin_api. A layer stands between the host and the
 * providers of other plugins, and neither notices it: it gets the table of a provider and returns
 * one of its own, whose functions call those of the first and do something besides. Users name
 * layers in their sessions; a plugin with a layer need not list providers.
 *
 * Several layers may lie over a provider: each gets the table of the one below it.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [load] and `struct_size`.
 */
#ifndef EPHOST_EXT_LAYER_H_
#define EPHOST_EXT_LAYER_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_LAYER "ephost.layer/1"

/* What a table is made for. It and all that it points to live until `release` of the table. */
typedef struct eph_layer_config {
  uint64_t struct_size;
  const eph_host* host; /* for the layer's own messages and what it asks of the host */
  eph_string directory; /* of the layer's manifest: an absolute path, as in eph_load_info */
} eph_layer_config;

typedef struct eph_layer_api eph_layer_api;

/* Lives as long as the library is loaded. */
struct eph_layer_api {
  uint64_t struct_size;

  /* Constant, and equal to the manifest's `name` and `vendor`. */
  eph_string name;
  eph_string vendor;

  /* Makes the table of a provider with this layer over it, for one session or a group of them.
   *
   * `inner` is the table of the provider, or of the layer below, and lives until `release`. Its
   * functions that take a table as `self` get `inner`, those that take a provider one that `create`
   * of `inner` made; it may be shorter or longer than the layer's own eph_provider_api. Its slots
   * that are null are null in the new table too, and so are slots that the layer does not know.
   *
   * The new table has the type name, short name and vendor of `inner`, and follows the rules for
   * tables of providers. What the layer does not change passes through: the objects of `inner`, the
   * extensions that its get_provider_extension offers, as long as the provider that their functions
   * get is one of `inner`'s own, and those that its get_extension offers, asked for with `inner` as
   * `self`. It may hide or decorate extensions, too; without its devices (ext/device.h) a provider
   * cannot run what lies in their memory. [required] [load] */
  int32_t (*decorate)(const eph_layer_api* self, const eph_provider_api* inner,
                      const eph_layer_config* config, const eph_provider_api** out_table,
                      eph_error* error) EPH_NOEXCEPT;

  /* Ends a table that `decorate` made: all providers that it created are destroyed by then.
   * [required] [load] */
  void (*release)(const eph_layer_api* self, const eph_provider_api* table) EPH_NOEXCEPT;
};

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_LAYER_H_ */
