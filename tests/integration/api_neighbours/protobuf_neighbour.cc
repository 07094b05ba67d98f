// A program that uses protobuf itself, before, during and after its use of ephost: the outputs of a
// run go through a message of its own.
//
//   api_protobuf_neighbour PLUGIN_DIRECTORY MODEL
#include <ephost/ephost.h>
#include <ephost/throwing.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <span>
#include <string>

#include "note.pb.h"

namespace {

using ephost::value_or_throw;

bool survives_a_message(std::span<const float> numbers) {
  ephost::test::Note note;
  note.set_text("outputs");
  note.mutable_numbers()->Assign(numbers.begin(), numbers.end());
  ephost::test::Note read;
  return read.ParseFromString(note.SerializeAsString()) && read.text() == "outputs" &&
         std::equal(read.numbers().begin(), read.numbers().end(), numbers.begin(), numbers.end());
}

bool run(const char* plugin_directory, const char* model) {
  ephost::EnvironmentOptions options;
  options.plugin_directories = {plugin_directory};
  options.search_default_directories = false;
  const auto environment = value_or_throw(ephost::Environment::create(options));
  auto session = value_or_throw(ephost::Session::create(environment, model));
  const ephost::ValueDescription& input = session.inputs().front();
  auto value = value_or_throw(ephost::Value::allocate(input.element_type, input.shape));
  std::ranges::fill(value.mutable_elements<float>(), 0.5F);
  const std::vector<ephost::NamedValue> inputs = {{input.name, value}};
  const auto outputs = value_or_throw(session.run(inputs));
  const std::span<const float> numbers = outputs.front().elements<float>();
  const bool is_a_result = std::ranges::any_of(numbers, [](float number) { return number != 0; });
  return is_a_result && survives_a_message(numbers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: api_protobuf_neighbour PLUGIN_DIRECTORY MODEL\n";
    return 2;
  }
  try {
    const std::span<char*> arguments(argv, static_cast<size_t>(argc));
    bool good = survives_a_message({});
    good = run(arguments[1], arguments[2]) && good;
    std::cout << (good ? "both work\n" : "failed\n");
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
