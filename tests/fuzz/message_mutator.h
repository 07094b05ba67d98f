// A mutator that changes a protobuf message and keeps it valid: randomly changed bytes rarely get
// past the parser. Knows nothing of ONNX but the names of its operators.
#pragma once

#include <google/protobuf/message.h>

#include <random>
#include <string>
#include <vector>

namespace ephost::fuzz {

class MessageMutator {
 public:
  // `words` are meaningful texts to insert anywhere.
  MessageMutator(unsigned seed, const std::vector<std::string>& words)
      : engine_(seed), words_(words) {}

  // One change to one field of `message` or a message in it: a value, a text from elsewhere in the
  // message, an element repeated, removed or moved, a field cleared.
  void mutate(google::protobuf::Message& message);

 private:
  using Field = google::protobuf::FieldDescriptor;
  struct Place {
    google::protobuf::Message* message;
    const Field* field;
  };

  // A number below `limit`, which is not 0.
  size_t below(size_t limit) { return engine_() % limit; }
  void collect(google::protobuf::Message& message);
  void collect_text(const google::protobuf::Message& message, const Field& field);
  void change_list(const Place& place);
  void change_value(const Place& place);
  int64_t any_number();
  std::string any_text(const std::string& old);

  std::mt19937 engine_;
  const std::vector<std::string>& words_;
  std::vector<Place> places_;       // every field that is set
  std::vector<std::string> texts_;  // in it
};

}  // namespace ephost::fuzz
