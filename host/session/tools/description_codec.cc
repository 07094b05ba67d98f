#include "host/session/tools/description_codec.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ephost::session {
namespace {

// The members that are written, in order.
template <class T>
struct Members;
template <>
struct Members<EpDevice> {
  static constexpr auto kAll = std::tuple(
      &EpDevice::provider, &EpDevice::provider_name, &EpDevice::provider_vendor, &EpDevice::id,
      &EpDevice::type, &EpDevice::name, &EpDevice::vendor, &EpDevice::vendor_id,
      &EpDevice::device_id, &EpDevice::architecture, &EpDevice::driver_version,
      &EpDevice::memory_bytes, &EpDevice::is_virtual, &EpDevice::metadata);
};
template <>
struct Members<ParameterDescription> {
  static constexpr auto kAll =
      std::tuple(&ParameterDescription::name, &ParameterDescription::description,
                 &ParameterDescription::type_name, &ParameterDescription::element_types,
                 &ParameterDescription::is_optional, &ParameterDescription::is_variadic);
};
template <>
struct Members<AttributeDescription> {
  static constexpr auto kAll = std::tuple(
      &AttributeDescription::name, &AttributeDescription::description, &AttributeDescription::type,
      &AttributeDescription::is_required, &AttributeDescription::default_value);
};
template <>
struct Members<OperatorDescription> {
  static constexpr auto kAll =
      std::tuple(&OperatorDescription::op_type, &OperatorDescription::domain,
                 &OperatorDescription::description, &OperatorDescription::since_version,
                 &OperatorDescription::is_deprecated, &OperatorDescription::infers_types,
                 &OperatorDescription::inputs, &OperatorDescription::outputs,
                 &OperatorDescription::attributes);
};
template <>
struct Members<KernelTypeRule> {
  static constexpr auto kAll =
      std::tuple(&KernelTypeRule::is_output, &KernelTypeRule::slot, &KernelTypeRule::is_variadic,
                 &KernelTypeRule::kinds, &KernelTypeRule::element_types);
};
template <>
struct Members<KernelDescription> {
  static constexpr auto kAll = std::tuple(
      &KernelDescription::op_type, &KernelDescription::domain, &KernelDescription::since_version,
      &KernelDescription::until_version, &KernelDescription::types);
};
template <>
struct Members<PluginDescription> {
  static constexpr auto kAll = std::tuple(
      &PluginDescription::abi_minor, &PluginDescription::devices, &PluginDescription::operators,
      &PluginDescription::provider_status, &PluginDescription::compiles,
      &PluginDescription::writes_context, &PluginDescription::kernels,
      &PluginDescription::extensions, &PluginDescription::isolation,
      &PluginDescription::sandbox_gaps, &PluginDescription::recorded_time);
};

template <class T>
concept HasMembers = requires {
  Members<T>::kAll;
};

// Element types are bits of 64 in the ABI.
constexpr uint64_t kElementTypes = 64;

class Writer {
 public:
  template <std::integral T>
  void write(T value) {
    const auto wide = static_cast<uint64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&wide), sizeof(wide));
  }
  void write(const Status& status) {
    write(static_cast<int32_t>(status.code()));
    write(status.message());
  }
  void write(ElementType type) { write(static_cast<uint64_t>(type)); }
  void write(const std::string& text) {
    write(text.size());
    bytes_ += text;
  }
  template <class A, class B>
  void write(const std::pair<A, B>& pair) {
    write(pair.first);
    write(pair.second);
  }
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <class T>
  void write(const std::vector<T>& list) {
    write(list.size());
    for (const T& item : list) write(item);
  }
  template <HasMembers T>
  void write(const T& value) {
    std::apply([&](auto... member) { (write(value.*member), ...); }, Members<T>::kAll);
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After something that cannot be read, everything is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <std::integral T>
  void read(T& value) {
    uint64_t wide = 0;
    if (bytes_.size() < sizeof(wide)) return fail();
    std::memcpy(&wide, bytes_.data(), sizeof(wide));
    bytes_.remove_prefix(sizeof(wide));
    value = static_cast<T>(wide);
    if (static_cast<uint64_t>(value) != wide) fail();
  }
  void read(Status& status) {
    int32_t code = 0;
    std::string message;
    read(code);
    read(message);
    const bool is_known = code >= 0 && code <= static_cast<int32_t>(StatusCode::kNotFound);
    if (!is_known || (code == 0 && !message.empty())) return fail();
    if (code != 0) status = Status(static_cast<StatusCode>(code), std::move(message));
  }
  void read(ElementType& type) {
    uint64_t number = 0;
    read(number);
    if (number >= kElementTypes) return fail();
    type = static_cast<ElementType>(number);
  }
  void read(std::string& text) {
    const size_t size = read_count();
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <class A, class B>
  void read(std::pair<A, B>& pair) {
    read(pair.first);
    read(pair.second);
  }
  template <class T>
  void read(std::optional<T>& value) {
    bool has_value = false;
    read(has_value);
    if (has_value) read(value.emplace());
  }
  template <class T>
  void read(std::vector<T>& list) {
    for (size_t left = read_count(); left > 0 && !failed_; --left) read(list.emplace_back());
  }
  template <HasMembers T>
  void read(T& value) {
    std::apply([&](auto... member) { (read(value.*member), ...); }, Members<T>::kAll);
  }

  [[nodiscard]] bool is_at_end() const { return !failed_ && bytes_.empty(); }

 private:
  void fail() {
    failed_ = true;
    bytes_ = {};
  }
  // A number of bytes, or of items that take at least a byte each.
  size_t read_count() {
    uint64_t count = 0;
    read(count);
    if (count > bytes_.size()) fail();
    return failed_ ? 0 : static_cast<size_t>(count);
  }

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace

std::string encode_description(const PluginDescription& description) {
  Writer writer;
  writer.write(description);
  return writer.take();
}

std::optional<PluginDescription> decode_description(std::string_view bytes) {
  Reader reader(bytes);
  PluginDescription description;
  reader.read(description);
  if (!reader.is_at_end()) return std::nullopt;
  return description;
}

}  // namespace ephost::session
