#include "host/cli/values/inputs.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/values/value_file.h"

namespace ephost::cli {
namespace {

using TextMap = std::map<std::string, std::string, std::less<>>;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return number;
}

Result<int64_t> parse_extent(std::string_view text, const std::string& argument) {
  const std::optional<int64_t> extent = parse_number<int64_t>(text);
  if (extent && *extent >= 0) return *extent;
  return Status(StatusCode::kInvalidArgument,
                formatted("{} in {} is not an extent; give an integer, at least 0", quote(text),
                          quote(argument)));
}

Result<std::vector<int64_t>> parse_shape(std::string_view text, const std::string& argument) {
  std::vector<int64_t> shape;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    EPHOST_ASSIGN_OR_RETURN(const int64_t extent, parse_extent(text.substr(0, comma), argument));
    shape.push_back(extent);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return shape;
}

Status unknown_input(std::string_view name, const std::vector<std::string_view>& known) {
  std::string message = formatted("the model has no input {}", quote(name));
  if (known.empty()) return Status(StatusCode::kInvalidArgument, message + "; leave it out");
  if (const auto near = nearest_match(name, known)) {
    message += formatted("; did you mean {}?", quote(*near));
  } else {
    message += "; it has " + join(known, ", ");
  }
  return Status(StatusCode::kInvalidArgument, message);
}

// Arguments `name=text` by name. Each name must be in `known`.
Result<TextMap> by_name(const std::vector<std::string>& arguments,
                        const std::vector<std::string_view>& known) {
  TextMap map;
  for (const std::string& argument : arguments) {
    auto [name, text] = split_pair(argument);
    if (std::ranges::find(known, name) == known.end()) return unknown_input(name, known);
    map[std::move(name)] = std::move(text);
  }
  return map;
}

struct CheckedInputFlags {
  TextMap inputs;
  TextMap shapes;
};

Result<CheckedInputFlags> check_flags(std::span<const ValueDescription> descriptions,
                                      const InputFlags& flags) {
  std::vector<std::string_view> names;
  for (const ValueDescription& description : descriptions) names.push_back(description.name);
  CheckedInputFlags checked;
  EPHOST_ASSIGN_OR_RETURN(checked.inputs, by_name(flags.inputs, names));
  EPHOST_ASSIGN_OR_RETURN(checked.shapes, by_name(flags.shapes, names));
  return checked;
}

Status open_extent(const ValueDescription& description, size_t axis) {
  const std::string& symbol = description.dim_names[axis];
  const std::string by_dim = symbol.empty() ? "" : formatted("--dim {}=N or ", symbol);
  return Status(StatusCode::kInvalidArgument,
                formatted("dimension {} of the input {} is open; give {}--shape {}=...", axis,
                          quote(description.name), by_dim, description.name));
}

Result<std::vector<int64_t>> resolve_shape(const ValueDescription& description,
                                           const CheckedInputFlags& flags) {
  const std::string& name = description.name;
  if (const auto given = flags.shapes.find(name); given != flags.shapes.end()) {
    return parse_shape(given->second, name + "=" + given->second);
  }
  if (!description.has_shape) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the input {} has no shape in the model; give --shape {}=...",
                            quote(name), name));
  }
  for (size_t axis = 0; axis < description.shape.size(); ++axis) {
    if (description.shape[axis] < 0) return open_extent(description, axis);
  }
  return description.shape;
}

Result<Value> read_input_file(const std::string& file, const ValueDescription& description,
                              const CheckedInputFlags& flags) {
  std::optional<RawLayout> raw;
  if (is_raw_file(file)) {
    raw.emplace().type = description.element_type;
    EPHOST_ASSIGN_OR_RETURN(raw->shape, resolve_shape(description, flags));
  }
  const ValueForm form{description.kind, description.is_optional, description.element_type};
  EPHOST_ASSIGN_OR_RETURN(NamedValue read, read_value(file, raw, form));
  return std::move(read.value);
}

bool names_file(std::string_view spec) {
  return spec != "zeros" && spec != "random" && !spec.starts_with("random:");
}

Result<Value> make_input(const ValueDescription& description, const CheckedInputFlags& flags,
                         uint64_t index) {
  const auto given = flags.inputs.find(description.name);
  const std::string spec = given == flags.inputs.end() ? "random" : given->second;
  if (names_file(spec)) return read_input_file(spec, description, flags);
  if (description.kind != ValueKind::kTensor) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the input {} is {}; give --input {}=FILE.pb", quote(description.name),
                            description.type, description.name));
  }
  EPHOST_ASSIGN_OR_RETURN(std::vector<int64_t> shape, resolve_shape(description, flags));
  if (spec == "zeros") return Value::allocate(description.element_type, std::move(shape));
  uint64_t seed = index;  // different for each input
  if (spec != "random") {
    const auto number = parse_number<uint64_t>(std::string_view(spec).substr(7));
    if (!number) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("the seed in {} is not a number; write random:7", quote(spec)));
    }
    seed = *number;
  }
  return random_value(description.element_type, std::move(shape), seed);
}

}  // namespace

void add_input_flags(ArgumentParser& app, InputFlags& flags) {
  constexpr const char* kGroup = "Inputs";
  add_pair_option(app, "--input", flags.inputs,
                  "Value of an input: a .pb, .npy or .raw file, or the words zeros or "
                  "random[:SEED] (default) (repeatable)",
                  "NAME=FILE")
      .group(kGroup);
  add_pair_option(app, "--shape", flags.shapes, "Shape of an input: name=1,3,224,224 (repeatable)",
                  "NAME=SHAPE")
      .group(kGroup);
}

void add_input_files(const InputFlags& flags, SessionOptions& options) {
  for (const std::string& argument : flags.inputs) {
    std::string file = split_pair(argument).second;
    if (names_file(file)) options.add_input_file(std::move(file));
  }
}

Result<std::vector<NamedValue>> make_inputs(const Session& session, const InputFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const CheckedInputFlags checked, check_flags(session.inputs(), flags));
  std::vector<NamedValue> inputs;
  for (size_t i = 0; i < session.inputs().size(); ++i) {
    const ValueDescription& description = session.inputs()[i];
    const bool may_be_absent = description.has_default || description.is_optional;
    if (may_be_absent && !checked.inputs.contains(description.name)) continue;
    Result<Value> value = make_input(description, checked, i);
    if (!value.ok()) {
      return std::move(value).status().with_context("making the input " + quote(description.name));
    }
    inputs.push_back({description.name, std::move(value).value()});
  }
  return inputs;
}

}  // namespace ephost::cli
