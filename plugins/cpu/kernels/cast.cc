// Cast and CastLike, also from and to strings.
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "plugins/cpu/convert.h"
#include "plugins/cpu/registry.h"

namespace cpu {
namespace {

constexpr uint64_t kConvertible = kNumbers | kBool | kHalf;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <class T>
bool parse(std::string_view text, T& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc::result_out_of_range) return false;
  return code == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Integers keep all of their digits; everything else goes through double.
void parse_element(std::string_view text, int32_t type, void* to) {
  const std::string_view digits = trimmed(text);
  int64_t integer = 0;
  uint64_t natural = 0;
  double real = 0;
  float single = 0;
  if (type == EPH_UINT64 && parse(digits, natural)) return convert(&natural, type, to, type, 1);
  if ((kInts & eph::type_bit(type)) != 0 && parse(digits, integer)) {
    return convert(&integer, EPH_INT64, to, type, 1);
  }
  if (type == EPH_FLOAT && parse(digits, single)) return convert(&single, type, to, type, 1);
  if (!parse(digits, real)) fail("'" + std::string(text) + "' is no number");
  convert(&real, EPH_DOUBLE, to, type, 1);
}

template <class T>
std::string_view print_number(T value, std::array<char, 64>& buffer) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  }
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data())};
}

// The shortest text that reads back as the same number. Types that C++ lacks are printed as float.
std::string_view print_element(const void* from, int32_t type, std::array<char, 64>& buffer) {
  if (type == EPH_DOUBLE) return print_number(*static_cast<const double*>(from), buffer);
  if (type == EPH_UINT64) return print_number(*static_cast<const uint64_t*>(from), buffer);
  if (((kInts | kBool) & eph::type_bit(type)) != 0) {
    int64_t integer = 0;
    convert(from, type, &integer, EPH_INT64, 1);
    return print_number(integer, buffer);
  }
  float number = 0;
  convert(from, type, &number, EPH_FLOAT, 1);
  return print_number(number, buffer);
}

class Cast final : public Kernel {
 public:
  Cast(const NodeContext& context, int32_t to) : Kernel(context), to_(to) {
    if (context.input_type(0) == to) allow_alias(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const int32_t to = to_ == EPH_UNDEFINED ? run.input(1)->element_type : to_;
    if (x.element_type == to) return copy_reshaped(run, x, 0, shape);
    const eph_value& y = allocate_output(run, 0, to, shape);
    const int64_t count = element_count(shape);
    if (x.element_type == EPH_STRING_ELEMENT) {
      const int64_t size = element_size(to);
      for (int64_t i = 0; i < count; ++i) {
        parse_element(eph::view(data<const eph_string>(x)[i]), to, data<char>(y) + i * size);
      }
    } else if (to == EPH_STRING_ELEMENT) {
      print(run, x, count);
    } else {
      convert(x.data, x.element_type, y.data, to, count);
    }
  }

 private:
  static void print(eph::Run& run, const eph_value& x, int64_t count) {
    const int64_t size = element_size(x.element_type);
    std::array<char, 64> buffer;
    for (int64_t i = 0; i < count; ++i) {
      const char* element = data<const char>(x) + i * size;
      run.set_string(0, static_cast<uint64_t>(i), print_element(element, x.element_type, buffer));
    }
  }

  int32_t to_;  // EPH_UNDEFINED: the type of input 1
};

std::unique_ptr<Kernel> make_cast(const NodeContext& context) {
  const int64_t to = context.node().get_int("to", 0);
  if (to < 0 || to > 63 || ((kConvertible | kString) >> to & 1) == 0) {
    fail_unsupported("attribute to=" + std::to_string(to) + " is no supported element type");
  }
  return std::make_unique<Cast>(context, static_cast<int32_t>(to));
}

std::unique_ptr<Kernel> make_cast_like(const NodeContext& context) {
  return std::make_unique<Cast>(context, EPH_UNDEFINED);
}

constexpr uint64_t kTypes = kConvertible | kString;

constexpr KernelEntry kEntries[] = {
    {"Cast", 6, 13, {}, kInputOutputTypes<kTypes, kTypes>, &make_cast},
    {"CastLike", 15, 15, {.required = 2}, kInputTypes<kTypes, kTypes>, &make_cast_like},
};

}  // namespace

Table cast_kernels() { return kEntries; }

}  // namespace cpu
