#include "host/session/model/given_initializers.h"

#include <memory>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/named_ranges.h"
#include "host/base/text.h"
#include "host/runtime/values/composite.h"

namespace ephost::session {
namespace {

ephost::NamedRange lent_range(std::span<const std::byte> bytes, const std::string& name) {
  return {bytes.data(), bytes.size(), name, RangeOwner::kApplication};
}

// Keeps the value's memory alive by a copy of the value, which shares it.
graph::Tensor tensor_of(const std::string& name, const runtime::Value& value) {
  graph::Tensor tensor{.type = value.element_type(), .shape = value.shape()};
  if (value.element_type() == ElementType::kString) {
    const auto owner = std::make_shared<const runtime::Value>(value);
    tensor.strings = {owner, &owner->strings()};
    return tensor;
  }
  struct Kept {
    runtime::Value value;
    ephost::NamedRange range;
  };
  const auto kept = std::make_shared<Kept>();
  kept->value = value;
  tensor.data = {.bytes = kept->value.bytes(), .owner = kept};
  kept->range = lent_range(tensor.data.bytes, "in the initializer " + quote(name));
  return tensor;
}

}  // namespace

graph::Blob lent_blob(std::span<const std::byte> bytes, const std::string& where) {
  return {.bytes = bytes,
          .owner = std::make_shared<const ephost::NamedRange>(lent_range(bytes, where))};
}

Result<onnx_io::GivenInitializers> given_initializers(const GivenOptions& options) {
  onnx_io::GivenInitializers given;
  for (const GivenInitializer& initializer : options.initializers) {
    if (initializer.value.kind() != ValueKind::kTensor) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("initializer {} is given as {}; give a tensor", quote(initializer.name),
                    runtime::describe_value(runtime::view_of(initializer.value))));
    }
    given.insert_or_assign(initializer.name,
                           onnx_io::GivenInitializer{tensor_of(initializer.name, initializer.value),
                                                     initializer.replaces_external});
  }
  return given;
}

std::map<std::string, graph::Blob> given_files(const GivenOptions& options) {
  std::map<std::string, graph::Blob> files;
  for (const FileInMemory& file : options.files_in_memory) {
    files.insert_or_assign(file.name, lent_blob(file.bytes, "in the file " + quote(file.name)));
  }
  return files;
}

std::vector<std::string> describe_unread_files(const GivenOptions& options,
                                               const std::set<std::string>& read) {
  const std::vector<std::string_view> known(read.begin(), read.end());
  std::vector<std::string> unread;
  for (const auto& [name, content] : given_files(options)) {
    if (read.contains(name)) continue;
    std::string message = formatted(
        "the model reads no external data in {}, so the file in memory has no effect", quote(name));
    if (const auto nearest = nearest_match(name, known)) {
      message += formatted("; did you mean {}?", quote(*nearest));
    }
    unread.push_back(std::move(message));
  }
  return unread;
}

Result<context::ContentChecksum> checksum_of_elements(const graph::Tensor& tensor,
                                                      const KnownChecksums& known,
                                                      const Cancellation& cancellation) {
  std::string text;
  std::span<const std::byte> bytes = tensor.data.bytes;
  if (tensor.strings != nullptr) {
    for (const std::string& element : *tensor.strings) {
      text += formatted("{}:", element.size());
      text += element;
    }
    bytes = std::as_bytes(std::span(text));
  }
  EPHOST_ASSIGN_OR_RETURN(const Hash128 hash, known.checksum_of(bytes, cancellation));
  return context::ContentChecksum{.hash = hash, .size = bytes.size()};
}

}  // namespace ephost::session
