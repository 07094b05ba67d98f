// Cast and CastLike, also from and to strings.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

constexpr uint64_t kIndirect = kFloat8 | kPowers | kPacked;
constexpr uint64_t kConvertible = kNumbers | kBool | kHalf | kIndirect;

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
  return code == std::errc() && end == text.data() + text.size();
}

// As above, with zero and infinity for numbers that are too small or too large.
bool parse_real(std::string_view text, double& number) {
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, number);
  if (end != last || code == std::errc::invalid_argument) return false;
  if (code == std::errc()) return true;
  const bool is_negative = text[0] == '-';
  const std::string_view digits = text.substr(is_negative ? 1 : 0);
  const std::size_t exponent = digits.find_first_of("eE");
  const bool is_small = exponent != std::string_view::npos ? digits.substr(exponent + 1, 1) == "-"
                                                           : digits[0] == '0' || digits[0] == '.';
  number = is_small ? 0 : std::numeric_limits<double>::infinity();
  if (is_negative) number = -number;
  return true;
}

// Integers keep all of their digits; everything else is parsed as double.
void parse_element(std::string_view text, int32_t type, void* to) {
  const std::string_view digits = trimmed(text);
  int64_t integer = 0;
  uint64_t natural = 0;
  double real = 0;
  float single = 0;
  if (type == EPH_ELEMENT_UINT64 && parse(digits, natural)) {
    return convert(&natural, type, to, type, 1);
  }
  if ((kInts & eph::type_bit(type)) != 0 && parse(digits, integer)) {
    return convert(&integer, EPH_ELEMENT_INT64, to, type, 1);
  }
  if (type == EPH_ELEMENT_FLOAT && parse(digits, single)) {
    return convert(&single, type, to, type, 1);
  }
  if (!parse_real(digits, real)) {
    std::string message = "'";
    message.append(text).append("' is not a number");
    fail(message);
  }
  convert(&real, EPH_ELEMENT_DOUBLE, to, type, 1);
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
  if (type == EPH_ELEMENT_DOUBLE) return print_number(*static_cast<const double*>(from), buffer);
  if (type == EPH_ELEMENT_UINT64) return print_number(*static_cast<const uint64_t*>(from), buffer);
  if (((kInts | kBool) & eph::type_bit(type)) != 0) {
    int64_t integer = 0;
    convert(from, type, &integer, EPH_ELEMENT_INT64, 1);
    return print_number(integer, buffer);
  }
  float number = 0;
  convert(from, type, &number, EPH_ELEMENT_FLOAT, 1);
  return print_number(number, buffer);
}

RoundMode parse_round_mode(std::string_view mode) {
  if (mode == "up") return RoundMode::kUp;
  if (mode == "down") return RoundMode::kDown;
  if (mode == "nearest") return RoundMode::kNearest;
  fail("attribute round_mode '" + std::string(mode) + "' is unknown");
}

class Cast final : public Kernel {
 public:
  Cast(const NodeContext& context, int32_t to)
      : Kernel(context),
        to_(to),
        narrowing_{context.node().get_int("saturate", 1) != 0,
                   parse_round_mode(context.node().get_string("round_mode", "up")),
                   context.version() >= 24} {
    if (context.input_type(0) == to) allow_alias(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const int32_t to = to_ == EPH_ELEMENT_UNDEFINED ? run.input(1)->element_type : to_;
    if (x.element_type == to) return copy_reshaped(run, x, 0, shape);
    const eph_value& y = allocate_output(run, 0, to, shape);
    const int64_t count = element_count(shape);
    if (x.element_type == EPH_ELEMENT_STRING) {
      read(run, x, y, count);
    } else if (to == EPH_ELEMENT_STRING) {
      print(run, x, count);
    } else {
      convert(x.data, x.element_type, y.data, to, count, narrowing_);
    }
  }

 private:
  // Types of 8 bits and less go through float, which holds their numbers exactly.
  static bool is_direct(int32_t type) { return (kIndirect & eph::type_bit(type)) == 0; }
  static float* floats(eph::Run& run, int64_t count) {
    return static_cast<float*>(
        run.scratch(static_cast<uint64_t>(checked_multiply(count + 1, sizeof(float)))));
  }

  void read(eph::Run& run, const eph_value& x, const eph_value& y, int64_t count) const {
    const bool direct = is_direct(y.element_type);
    const int32_t type = direct ? y.element_type : int32_t{EPH_ELEMENT_FLOAT};
    char* to = direct ? data<char>(y) : reinterpret_cast<char*>(floats(run, count));
    const int64_t size = element_size(type);
    for (int64_t i = 0; i < count; ++i) {
      parse_element(eph::view(data<const eph_string>(x)[i]), type, to + i * size);
    }
    if (!direct) convert(to, type, y.data, y.element_type, count, narrowing_);
  }

  static void print(eph::Run& run, const eph_value& x, int64_t count) {
    const bool direct = is_direct(x.element_type);
    const int32_t type = direct ? x.element_type : int32_t{EPH_ELEMENT_FLOAT};
    const char* from = data<const char>(x);
    if (!direct) {
      float* copy = floats(run, count);
      convert(x.data, x.element_type, copy, EPH_ELEMENT_FLOAT, count);
      from = reinterpret_cast<const char*>(copy);
    }
    const int64_t size = element_size(type);
    std::array<char, 64> buffer;
    for (int64_t i = 0; i < count; ++i) {
      run.set_string(0, static_cast<uint64_t>(i), print_element(from + i * size, type, buffer));
    }
  }

  int32_t to_;  // EPH_ELEMENT_UNDEFINED: the type of input 1
  Narrowing narrowing_;
};

constexpr uint64_t kCastTypes = kConvertible | kString;

std::unique_ptr<Kernel> make_cast(const NodeContext& context) {
  const int64_t to = context.node().get_int("to", 0);
  if (to < 0 || to > 63 || (kCastTypes >> to & 1) == 0) {
    fail_unsupported("attribute to=" + std::to_string(to) + " is not a supported element type");
  }
  return std::make_unique<Cast>(context, static_cast<int32_t>(to));
}

std::unique_ptr<Kernel> make_cast_like(const NodeContext& context) {
  return std::make_unique<Cast>(context, EPH_ELEMENT_UNDEFINED);
}

constexpr KernelEntry kCastKernels[] = {
    {"Cast", 6, kNewest, {}, kInputOutputTypes<kCastTypes, kCastTypes>, &make_cast},
    {"CastLike", 15, kNewest, kTwoInputs, kInputTypes<kCastTypes, kCastTypes>, &make_cast_like},
};

}  // namespace

Table cast_kernels() { return kCastKernels; }

}  // namespace ephost_cpu
