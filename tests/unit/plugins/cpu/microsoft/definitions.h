// definitions.h: the operators of com.microsoft that the CPU plugin defines, as its library offers
// them.
#pragma once

#include <ephost/ext/operators.h>

#include <string>

namespace ephost::test {

// The plugin's definition of an operator; null if it has none.
const eph_operator_def* find_definition(const std::string& op_type);

}  // namespace ephost::test
