// The inputs of a run from the command line: files, zeros, or seeded random numbers.
#pragma once

#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/value.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/arguments/argument_parser.h"

namespace ephost::cli {

struct InputFlags {
  std::vector<std::string> inputs;  // name=file, name=random[:seed], name=zeros
  std::vector<std::string> shapes;  // name=1,3,224,224
};

// --input, --shape.
void add_input_flags(ArgumentParser& app, InputFlags& flags);

// The values of the model's inputs. One that no flag mentions is left out if it has a default or is
// optional, and is random otherwise, with a fixed seed of its own.
// INVALID_ARGUMENT for a shape that stays open or a flag that cannot be parsed; NOT_FOUND for an
// input that the model does not have.
[[nodiscard]] Result<std::vector<NamedValue>> make_inputs(const Session& session,
                                                          const InputFlags& flags);

// Adds the files that `flags` name to the inputs of `options`, so that no output replaces them.
void add_input_files(const InputFlags& flags, SessionOptions& options);

// A tensor of random numbers that depend on the seed alone, not on the machine: floating-point ones
// are uniform in [-1, 1); integers and bools are 0 or 1, which are valid indices in most models.
// INVALID_ARGUMENT for other types.
[[nodiscard]] Result<Value> random_value(ElementType type, std::vector<int64_t> shape,
                                         uint64_t seed);

}  // namespace ephost::cli
