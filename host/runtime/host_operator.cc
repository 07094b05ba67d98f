#include "host/runtime/host_operator.h"

#include <utility>

#include "host/runtime/program.h"

namespace ephost::runtime {

HostOperator::HostOperator(std::vector<std::unique_ptr<Program>> bodies)
    : bodies_(std::move(bodies)) {}

HostOperator::~HostOperator() = default;

}  // namespace ephost::runtime
