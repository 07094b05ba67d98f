// The inputs of a run from the command line: files, zeros, or seeded random numbers, with the open
// extents of the model filled in.
#pragma once

#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/value.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/argument_parser.h"

namespace ephost::cli {

struct InputFlags {
  std::vector<std::string> inputs;  // name=file, name=random[:seed], name=zeros
  std::vector<std::string> shapes;  // name=1,3,224,224
  std::vector<std::string> dims;    // symbol=1
};

// --input, --shape, --dim.
void add_input_flags(ArgumentParser& app, InputFlags& flags);

// One value for each input of the model. Those that no flag mentions are left to their default if
// they have one, and out if they are optional; else random, each with its own fixed seed.
// INVALID_ARGUMENT for a shape that stays open and for what cannot be parsed; NOT_FOUND for an
// input or a symbol that the model doesn't have.
[[nodiscard]] Result<std::vector<NamedValue>> make_inputs(const Session& session,
                                                          const InputFlags& flags);

// States the files that `flags` name, so that nothing is written over them.
void add_input_files(const InputFlags& flags, SessionOptions& options);

// Whether a run may leave out the input at this position of `inputs()`.
[[nodiscard]] bool has_default(const Session& session, size_t input);

// The same numbers for the same seed, everywhere: floating-point ones uniform in [-1, 1), integers
// and bools 0 or 1, so that they are good indices for most models. INVALID_ARGUMENT for other
// types.
[[nodiscard]] Result<Value> random_value(ElementType type, std::vector<int64_t> shape,
                                         uint64_t seed);

}  // namespace ephost::cli
