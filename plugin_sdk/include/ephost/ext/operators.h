/*
 * operators.h: the optional interface "ephost.operators/1", which a plugin offers to the host
 * through get_extension of its eph_plugin_api. It defines operators in domains of the vendor: the
 * host then checks nodes with them as it checks those of ONNX, knows the types and shapes of their
 * outputs, and can explain what is wrong with a node. Without it, nodes of an unknown domain pass
 * unchecked, and their outputs have no known type unless the model declares it.
 *
 * The definitions are constant, and depend on no provider object. A plugin defines operators in
 * domains of its own; the domains of ONNX (empty, "ai.onnx", "ai.onnx.ml", ...) are refused. If two
 * plugins define one operator, that of the plugin that comes first in the user's order counts, and
 * if they differ there is a warning.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [optional], [any] and `struct_size`.
 */
#ifndef EPHOST_EXT_OPERATORS_H_
#define EPHOST_EXT_OPERATORS_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_OPERATORS "ephost.operators/1"

/* Flags of eph_parameter. */
enum {
  EPH_PARAMETER_OPTIONAL = 1 << 0, /* may be omitted: an empty name, or at the end */
  /* The last one only: stands for one or more; if it is optional too, for none or more. */
  EPH_PARAMETER_VARIADIC = 1 << 1,
  /* The values of a variadic parameter may have different types. */
  EPH_PARAMETER_HETEROGENEOUS = 1 << 2
};

/* A formal input or output of an operator. Frozen. */
typedef struct eph_parameter {
  eph_string name;
  eph_string description;
  /* Either the name of a type constraint, e.g. "T": all parameters with this name have one type; or
   * empty: the parameter's type is restricted by `element_types` alone. */
  eph_string type_name;
  /* Bit n allows tensors of element type n. Parameters with one type_name have the same bits. */
  uint64_t element_types;
  uint32_t flags;
  uint32_t reserved; /* zero */
} eph_parameter;

/* An attribute of an operator. Frozen. */
typedef struct eph_attribute_def {
  eph_string name;
  eph_string description;
  int32_t kind;         /* EPH_ATTRIBUTE_* */
  uint32_t is_required; /* 0 or 1 */
  /* The value for nodes that omit the attribute: the host adds it before any plugin sees the node.
   * Null if the attribute has no default. FLOAT(S), INT(S) and STRING(S) only; its name is not
   * read. */
  const eph_attribute* default_value;
} eph_attribute_def;

typedef struct eph_inference eph_inference;

typedef struct eph_inference_api {
  uint64_t struct_size;

  /* The node and its values, as graphs show them: inputs have their types where they are known, and
   * their data where they are constants. Everything lives until `infer` returns.
   * [required] [owner] */
  int32_t (*get_node)(const eph_inference* inference, eph_node_info* out,
                      eph_error* error) EPH_NOEXCEPT;
  /* `input`: index of the node's input, not of a value. EPH_NOT_FOUND for an omitted one.
   * [required] [owner] */
  int32_t (*get_input)(const eph_inference* inference, uint32_t input, eph_value_info* out,
                       eph_error* error) EPH_NOEXCEPT;
  /* Declares that an output is a tensor, its element type (EPH_ELEMENT_UNDEFINED: as the type names
   * say), and its shape: `rank` extents, with -1 for an unknown one and `dim_names` (null: none)
   * for symbols; a rank of -1 is an unknown shape. The host fails the model where it declares
   * something else. No effect for an output that the node omits; EPH_INVALID_ARGUMENT for one that
   * the operator does not have. [required] [owner] */
  int32_t (*set_output)(eph_inference* inference, uint32_t output, int32_t element_type,
                        const int64_t* shape, const eph_string* dim_names, int32_t rank,
                        eph_error* error) EPH_NOEXCEPT;
} eph_inference_api;

/* What one call of `infer` is about. */
struct eph_inference {
  const eph_inference_api* api;
};

typedef struct eph_operators_api eph_operators_api;

/* The definition of one version of an operator. Passed in an array with a stride. */
typedef struct eph_operator_def {
  uint64_t struct_size;
  eph_string op_type;
  eph_string domain;
  eph_string description;
  int32_t since_version;  /* the first version of the domain with this definition; at least 1 */
  uint32_t is_deprecated; /* 0 or 1: a node with it is refused */
  const eph_parameter* inputs;
  uint64_t input_count;
  const eph_parameter* outputs;
  uint64_t output_count;
  const eph_attribute_def* attributes;
  uint64_t attribute_count;
  /* Computes types and shapes of the outputs with set_output. A failure is an error of the model,
   * with the message that it stored. Null: the types of outputs follow from their type names, and
   * the shapes are unknown. [optional] [any] */
  int32_t (*infer)(const struct eph_operator_def* self, eph_inference* inference,
                   eph_error* error) EPH_NOEXCEPT;
} eph_operator_def;

struct eph_operators_api {
  uint64_t struct_size;

  /* The definitions, with `stride` bytes from one record to the next. They live as long as the
   * library is loaded, and never change. [required] [any] */
  int32_t (*get_operators)(const eph_operators_api* self, const eph_operator_def** out_operators,
                           uint64_t* out_stride, uint64_t* out_count,
                           eph_error* error) EPH_NOEXCEPT;
};

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_OPERATORS_H_ */
