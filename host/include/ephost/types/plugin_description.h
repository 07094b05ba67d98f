// The description of a loaded plugin: devices, options, kernels, operators that it defines.
#pragma once

#include <ephost/element_type.h>
#include <ephost/status.h>
#include <ephost/types/environment.h>
#include <ephost/types/ep_device.h>
#include <ephost/types/session_options.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ephost {

// An option that providers of the plugin take, as its manifest declares it. Values are text.
struct OptionDescription {
  std::string name;
  std::string type;   // "string", "int", "float", "bool" or "enum"
  std::string scope;  // "session", "run" or "dynamic": when it takes effect
  std::string default_value;
  std::optional<std::pair<std::string, std::string>> range;  // least and greatest value
  std::vector<std::string> choices;                          // of an "enum"
  std::string help;
};

// What a kernel takes as one of its inputs, or gives as one of its outputs.
struct KernelTypeRule {
  bool is_output = false;
  uint32_t slot = 0;         // index of the input or output
  bool is_variadic = false;  // it holds for all that follow too
  // Of "tensor", "sequence", "map" and "optional"; empty: tensors only.
  std::vector<std::string> kinds;
  std::vector<ElementType> element_types;
};

// A kernel for single nodes of one operator.
struct KernelDescription {
  std::string op_type;
  std::string domain;  // empty: ai.onnx
  // Versions of the operator set, both included. No `until_version`: all later ones.
  int32_t since_version = 0;
  std::optional<int32_t> until_version;
  std::vector<KernelTypeRule> types;
};

// An input or output of an operator.
struct ParameterDescription {
  std::string name;
  std::string description;
  std::string type_name;  // parameters with one name have one type; may be empty
  std::vector<ElementType> element_types;
  bool is_optional = false;
  bool is_variadic = false;
};

struct AttributeDescription {
  std::string name;
  std::string description;
  std::string type;  // as ONNX calls it, e.g. "INTS"
  bool is_required = false;
  std::optional<std::string> default_value;  // as text
};

// A version of an operator that the plugin defines.
struct OperatorDescription {
  std::string op_type;
  std::string domain;
  std::string description;
  int32_t since_version = 0;
  bool is_deprecated = false;
  bool infers_types = false;  // computes types and shapes of its outputs
  std::vector<ParameterDescription> inputs;
  std::vector<ParameterDescription> outputs;
  std::vector<AttributeDescription> attributes;
};

struct PluginDescription {
  InstalledPlugin plugin;
  uint32_t abi_minor = 0;  // that host and plugin agreed on; the major is that of `plugin.abi`
  std::vector<OptionDescription> options;
  bool options_open = false;  // takes others too, as text
  Status device_status;       // whether the plugin could list its devices
  std::vector<EpDevice> devices;
  Status operators_status;  // whether the plugin could list the operators that it defines
  std::vector<OperatorDescription> operators;
  // Whether a provider could be created with default options. The rest is empty otherwise.
  Status provider_status;
  bool compiles = false;        // partitions of several nodes
  bool writes_context = false;  // of what it compiled, for a context model
  std::vector<KernelDescription> kernels;
  // The optional interfaces of plugin and provider that the host knows, as "ephost.run/1".
  std::vector<std::string> extensions;
  std::string isolation = "none";  // where the plugin ran: "none", "worker" or "sandbox"
  // What the kernel could not enforce of a sandbox, one sentence each.
  std::vector<std::string> sandbox_gaps;
  // When a description that is not new was made, in seconds since 1970; 0: it is new.
  int64_t recorded_time = 0;
};

// How a plugin is inspected.
struct InspectOptions {
  // Where it runs: "none" (in this process), "worker" or "sandbox". The environment variable
  // EPHOST_ISOLATION can only make it stricter.
  std::string isolation = "worker";
  // How long one call of a plugin in a process of its own may take; 0: 30 seconds.
  std::chrono::milliseconds call_limit{30'000};
  // Run it even if it is known from another time what it offers.
  bool refresh = false;
  // Configuration entries of a session, such as those of a selection, whose policies hold here too:
  // isolation with its limits for what a worker takes, signatures, quarantine.
  OptionList session_entries = {};
};

}  // namespace ephost
