// Runs that end early.
#pragma once

#include <ephost/session.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {

// A copy in which `change` has gone over every element of the type.
template <class Element, class Change>
Inputs changed(const Inputs& inputs, ElementType type, const Change& change) {
  Inputs made = inputs;
  for (NamedValue& input : made) {
    if (input.value.kind() != ValueKind::kTensor || input.value.element_type() != type) continue;
    Value copy = Value::allocate(type, input.value.shape()).value();
    std::ranges::copy(input.value.bytes(), copy.mutable_bytes().begin());
    for (Element& element : copy.template mutable_elements<Element>()) change(element);
    input.value = std::move(copy);
  }
  return made;
}

// Runs that are cancelled or too late before they begin, and one on indices that do not exist.
// Those that do not fail do no harm.
void run_into_failure(Session& session, const Inputs& inputs);

// A run that ends so long after it has begun, unless it is over before.
void run_into_deadline(Session& session, const Inputs& inputs, std::chrono::nanoseconds time);

}  // namespace ephost::conformance
