// The form of a value that its file does not have.
#pragma once

#include <ephost/element_type.h>
#include <ephost/types/value.h>

namespace ephost {

// The form of a value that the message does not have; take it from the model's ValueDescription.
struct ValueForm {
  ValueKind kind = ValueKind::kTensor;
  bool is_optional = false;
  // The type of the tensors in a sequence; needed only where it is empty.
  ElementType element_type = ElementType::kUndefined;
};

}  // namespace ephost
