#include "tests/fuzz/message_mutator.h"

#include <array>
#include <limits>

namespace ephost::fuzz {

namespace pb = google::protobuf;

namespace {

// Longer texts are weights.
constexpr size_t kLongestText = 256;

}  // namespace

void MessageMutator::mutate(pb::Message& message) {
  places_.clear();
  texts_.clear();
  collect(message);
  if (places_.empty()) return;
  const Place place = places_[below(places_.size())];
  if (below(20) == 0) {
    place.message->GetReflection()->ClearField(place.message, place.field);
  } else if (place.field->is_repeated() &&
             (place.field->cpp_type() == Field::CPPTYPE_MESSAGE || below(2) == 0)) {
    change_list(place);
  } else {
    change_value(place);
  }
}

void MessageMutator::collect(pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const Field*> fields;
  reflection.ListFields(message, &fields);
  for (const Field* field : fields) {
    if (field->cpp_type() != Field::CPPTYPE_MESSAGE) {
      places_.push_back({&message, field});
      collect_text(message, *field);
    } else if (field->is_repeated()) {
      places_.push_back({&message, field});
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        collect(*reflection.MutableRepeatedMessage(&message, field, i));
      }
    } else {
      collect(*reflection.MutableMessage(&message, field));
    }
  }
}

void MessageMutator::collect_text(const pb::Message& message, const Field& field) {
  if (field.cpp_type() != Field::CPPTYPE_STRING) return;
  const pb::Reflection& reflection = *message.GetReflection();
  const auto add = [&](std::string text) {
    if (text.size() <= kLongestText) texts_.push_back(std::move(text));
  };
  if (!field.is_repeated()) return add(reflection.GetString(message, &field));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    add(reflection.GetRepeatedString(message, &field, i));
  }
}

// Repeats an element at the end, removes the last one, or swaps two.
void MessageMutator::change_list(const Place& place) {
  const auto& [message, field] = place;
  const pb::Reflection& reflection = *message->GetReflection();
  const int size = reflection.FieldSize(*message, field);
  const auto any = static_cast<int>(below(static_cast<size_t>(size)));
  switch (below(3)) {
    case 0:
      return reflection.RemoveLast(message, field);
    case 1:
      return reflection.SwapElements(message, field, any, size - 1);
    default:
      break;
  }
  switch (field->cpp_type()) {
    case Field::CPPTYPE_MESSAGE: {
      pb::Message* added = reflection.AddMessage(message, field);
      added->CopyFrom(reflection.GetRepeatedMessage(*message, field, any));
      break;
    }
    case Field::CPPTYPE_STRING:
      return reflection.AddString(message, field, any_text(""));
    case Field::CPPTYPE_INT64:
      return reflection.AddInt64(message, field, any_number());
    case Field::CPPTYPE_INT32:
      return reflection.AddInt32(message, field, static_cast<int32_t>(any_number()));
    case Field::CPPTYPE_FLOAT:
      return reflection.AddFloat(message, field, static_cast<float>(any_number()));
    default:
      break;
  }
}

void MessageMutator::change_value(const Place& place) {
  const auto& [message, field] = place;
  const pb::Reflection& reflection = *message->GetReflection();
  const int index =
      field->is_repeated()
          ? static_cast<int>(below(static_cast<size_t>(reflection.FieldSize(*message, field))))
          : -1;
  const bool listed = index >= 0;
  switch (field->cpp_type()) {
    case Field::CPPTYPE_STRING: {
      const std::string old = listed ? reflection.GetRepeatedString(*message, field, index)
                                     : reflection.GetString(*message, field);
      if (listed) return reflection.SetRepeatedString(message, field, index, any_text(old));
      return reflection.SetString(message, field, any_text(old));
    }
    case Field::CPPTYPE_INT64:
      if (listed) return reflection.SetRepeatedInt64(message, field, index, any_number());
      return reflection.SetInt64(message, field, any_number());
    case Field::CPPTYPE_INT32: {
      const auto number = static_cast<int32_t>(any_number());
      if (listed) return reflection.SetRepeatedInt32(message, field, index, number);
      return reflection.SetInt32(message, field, number);
    }
    case Field::CPPTYPE_FLOAT: {
      const auto number = static_cast<float>(any_number());
      if (listed) return reflection.SetRepeatedFloat(message, field, index, number);
      return reflection.SetFloat(message, field, number);
    }
    case Field::CPPTYPE_ENUM:
      if (!listed) reflection.SetEnumValue(message, field, static_cast<int>(below(20)));
      break;
    default:
      break;
  }
}

int64_t MessageMutator::any_number() {
  constexpr std::array<int64_t, 8> kExtremes = {-1,
                                                0,
                                                -2,
                                                std::numeric_limits<int64_t>::max(),
                                                std::numeric_limits<int64_t>::min(),
                                                int64_t{1} << 31,
                                                int64_t{1} << 62,
                                                std::numeric_limits<int32_t>::min()};
  if (below(3) == 0) return kExtremes[below(kExtremes.size())];
  return static_cast<int64_t>(below(24));
}

std::string MessageMutator::any_text(const std::string& old) {
  if (old.size() > kLongestText || (!old.empty() && below(8) == 0)) {
    std::string changed = old;
    if (below(4) == 0) changed.resize(below(changed.size()));
    if (!changed.empty()) changed[below(changed.size())] = static_cast<char>(engine_());
    return changed;
  }
  if (below(4) != 0 && !texts_.empty()) return texts_[below(texts_.size())];
  return words_.empty() ? "" : words_[below(words_.size())];
}

}  // namespace ephost::fuzz
