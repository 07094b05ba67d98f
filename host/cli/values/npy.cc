#include "host/cli/values/npy.h"

#include <ephost/element_info.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/values/elements.h"

namespace ephost::cli {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;  // of the data, as NumPy writes it

struct NumpyType {
  ElementType type;
  std::string_view descr;  // without the byte order
};

constexpr std::array<NumpyType, 14> kNumpyTypes = {{
    {ElementType::kFloat, "f4"},
    {ElementType::kDouble, "f8"},
    {ElementType::kFloat16, "f2"},
    {ElementType::kInt8, "i1"},
    {ElementType::kInt16, "i2"},
    {ElementType::kInt32, "i4"},
    {ElementType::kInt64, "i8"},
    {ElementType::kUint8, "u1"},
    {ElementType::kUint16, "u2"},
    {ElementType::kUint32, "u4"},
    {ElementType::kUint64, "u8"},
    {ElementType::kBool, "b1"},
    {ElementType::kComplex64, "c8"},
    {ElementType::kComplex128, "c16"},
}};

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the header: a Python dict of a string, a bool and a tuple of integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  std::optional<Header> parse() {
    Header header;
    int found = 0;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const std::optional<std::string> key = string();
      if (!key || !take(':') || !entry(*key, header)) return std::nullopt;
      ++found;
      if (!take(',') && !peek('}')) return std::nullopt;
    }
    skip_space();
    if (!rest_.empty() || found != 3) return std::nullopt;
    return header;
  }

 private:
  bool entry(std::string_view key, Header& header) {
    if (key == "descr") {
      std::optional<std::string> text = string();
      if (!text) return false;
      header.descr = *std::move(text);
      return true;
    }
    if (key == "fortran_order") {
      header.fortran_order = word("True");
      return header.fortran_order || word("False");
    }
    return key == "shape" && tuple(header.shape);
  }

  bool tuple(std::vector<int64_t>& extents) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_space();
      int64_t extent = 0;
      const auto [end, failure] =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (failure != std::errc() || extent < 0) return false;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      extents.push_back(extent);
      if (!take(',') && !peek(')')) return false;
    }
    return true;
  }

  std::optional<std::string> string() {
    const char mark = peek('"') ? '"' : '\'';
    if (!take(mark)) return std::nullopt;
    const size_t end = rest_.find(mark);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool word(std::string_view expected) {
    skip_space();
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool peek(char c) {
    skip_space();
    return rest_.starts_with(c);
  }
  bool take(char c) {
    if (!peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t\r"), rest_.size()));
  }

  std::string_view rest_;
};

std::optional<ElementType> parse_descr(std::string_view descr) {
  if (descr.empty()) return std::nullopt;
  const char order = descr.front();
  const std::string_view kind = descr.substr(1);
  for (const NumpyType& known : kNumpyTypes) {
    if (known.descr != kind) continue;
    const bool single_byte = element_bits(known.type) == 8;
    const bool fits =
        order == '<' || order == '=' || (single_byte && (order == '|' || order == '>'));
    return fits ? std::optional(known.type) : std::nullopt;
  }
  return std::nullopt;
}

// The header's text, and `content` cut down to what follows it.
std::optional<std::string_view> take_header(std::string_view& content) {
  if (!content.starts_with(kMagic) || content.size() < kMagic.size() + 4) return std::nullopt;
  const auto byte = [&](size_t at) { return size_t{static_cast<unsigned char>(content[at])}; };
  const size_t major = byte(6);
  if (major < 1 || major > 3) return std::nullopt;
  const size_t width = major == 1 ? 2 : 4;
  const size_t begin = kMagic.size() + 2 + width;
  if (content.size() < begin) return std::nullopt;
  size_t length = 0;
  for (size_t i = 0; i < width; ++i) length |= byte(kMagic.size() + 2 + i) << (8 * i);
  if (length > content.size() - begin) return std::nullopt;
  const std::string_view header = content.substr(begin, length);
  content.remove_prefix(begin + length);
  return header;
}

Status refuse_file(std::string_view file, const std::string& problem) {
  return Status(StatusCode::kInvalidArgument, "cannot read " + quote(file) + ": " + problem);
}

}  // namespace

Result<Value> decode_npy(std::string_view content, std::string_view file) {
  const std::optional<std::string_view> text = take_header(content);
  std::optional<Header> header;
  if (text) header = HeaderParser(*text).parse();
  if (!header) {
    return refuse_file(file,
                       "it is not a .npy file of version 1, 2 or 3; write it with numpy.save");
  }
  const std::optional<ElementType> type = parse_descr(header->descr);
  if (!type) {
    return refuse_file(file, formatted("its element type {} is not that of a tensor; "
                                       "convert it to a little-endian number or bool",
                                       quote(header->descr)));
  }
  if (header->fortran_order && header->shape.size() > 1) {
    return refuse_file(file, "it is column-major; save numpy.ascontiguousarray(x)");
  }
  const std::optional<uint64_t> bytes = tensor_bytes(*type, header->shape);
  if (!bytes || *bytes != content.size()) {
    return refuse_file(
        file, formatted("its header announces {} bytes of data, it has {}; the file is damaged",
                        bytes ? std::to_string(*bytes) : "more than 2^64", content.size()));
  }
  EPHOST_ASSIGN_OR_RETURN(Value value, Value::allocate(*type, std::move(header->shape)));
  if (!content.empty()) std::memcpy(value.mutable_bytes().data(), content.data(), content.size());
  return value;
}

bool is_numpy_type(ElementType type) {
  return std::ranges::any_of(kNumpyTypes, [&](const NumpyType& kind) { return kind.type == type; });
}

Result<std::string> encode_npy(const Value& value) {
  for (const NumpyType& kind : kNumpyTypes) {
    if (kind.type != value.element_type()) continue;
    std::string header = formatted("{{'descr': '{}{}', 'fortran_order': False, 'shape': (",
                                   element_bits(kind.type) == 8 ? '|' : '<', kind.descr);
    for (const int64_t extent : value.shape()) header += formatted("{},", extent);
    header += "), }";
    const size_t before = kMagic.size() + 4;
    const size_t unpadded = before + header.size() + 1;
    header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
    header += '\n';
    if (header.size() > 0xffff) break;  // thousands of dimensions, more than NumPy supports
    std::string content(kMagic);
    content += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
                static_cast<char>(header.size() >> 8)};
    content += header;
    const auto bytes = value.bytes();
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return content;
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("NumPy has no tensors of {}; write it as .pb", type_text(value)));
}

}  // namespace ephost::cli
