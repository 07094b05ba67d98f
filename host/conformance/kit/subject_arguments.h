// The arguments of the program that describe a subject.
#pragma once

#include <ephost/status.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// --manifest FILE --provider NAME [--plugin-path DIR]... --data DIR --scratch DIR --level LEVEL
// --seed N.
[[nodiscard]] std::vector<std::string> subject_arguments(const Subject& subject);

struct ParsedArguments {
  Subject subject;
  int answer = -1;                // --answer: the descriptor that gets what the program says
  std::vector<std::string> rest;  // behind "--"
};

// Parses these arguments, followed by --answer N and -- ARGUMENT... INVALID_ARGUMENT for anything
// else.
[[nodiscard]] Result<ParsedArguments> parse_arguments(std::span<char* const> arguments);

}  // namespace ephost::conformance
