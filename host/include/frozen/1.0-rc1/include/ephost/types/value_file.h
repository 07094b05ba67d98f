// What a value file does not state about its value.
#pragma once

#include <ephost/element_type.h>
#include <ephost/types/value.h>

namespace ephost {

// What the message does not state about its value; take it from the model's ValueDescription.
struct ValueForm {
  ValueKind kind = ValueKind::kTensor;
  bool is_optional = false;
  // Of the tensors in a sequence; needed only where it is empty.
  ElementType element_type = ElementType::kUndefined;
};

}  // namespace ephost
