#include "operator/base/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "operator/base/ascii.h"

namespace weft {
namespace {

// Digits that are kept before and after the point; further fraction digits only round up. Nineteen
// digits hold every 64-bit integer. Twenty-one hold a thousandth of an "E"; seventeen of these keep
// fraction * 2^60 * 1000 ("Ei" in thousandths) below 2^127.
constexpr std::size_t kIntegerDigits = 19;
constexpr std::size_t kFractionDigits = 21;
constexpr int kBinaryFractionDigits = 17;
// Larger exponents give 0 or overflow in any 64-bit result.
constexpr int kExponentLimit = 64;
constexpr std::size_t kShownCharacters = 40;

// A magnitude: (integer + fraction / 10^fraction_digits) * 10^exponent10 * 2^exponent2.
struct Number {
  bool negative = false;
  Int128 integer = 0;
  Int128 fraction = 0;
  int fraction_digits = 0;
  bool more_digits = false;  // non-zero fraction digits were dropped
  bool too_long = false;     // integer digits were dropped
  int exponent10 = 0;
  int exponent2 = 0;
};

Int128 PowerOfTen(int exponent) {
  Int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

std::string_view TakeDigits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

Int128 ToInt128(std::string_view digits) {
  Int128 value = 0;
  for (char c : digits) value = value * 10 + (c - '0');
  return value;
}

// Takes a mantissa such as "-1.5" off the front of the text; false if there is no digit.
bool TakeMantissa(std::string_view& text, Number& number) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    number.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::string_view integer = TakeDigits(text);
  std::string_view fraction;
  const bool point = !text.empty() && text[0] == '.';
  if (point) {
    text.remove_prefix(1);
    fraction = TakeDigits(text);
  }
  if (integer.empty() && fraction.empty()) return false;
  integer.remove_prefix(std::min(integer.find_first_not_of('0'), integer.size()));
  number.too_long = integer.size() > kIntegerDigits;
  number.integer = ToInt128(integer.substr(0, kIntegerDigits));
  const std::string_view kept = fraction.substr(0, kFractionDigits);
  number.more_digits =
      fraction.substr(kept.size()).find_first_not_of('0') != std::string_view::npos;
  number.fraction = ToInt128(kept);
  number.fraction_digits = static_cast<int>(kept.size());
  return true;
}

// Takes an exponent such as "e3" or "E-3" off the front; false if it is malformed.
bool TakeExponent(std::string_view text, Number& number) {
  text.remove_prefix(1);
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const std::string_view digits = TakeDigits(text);
  if (digits.empty() || !text.empty()) return false;
  int exponent = 0;
  for (char c : digits) exponent = std::min(exponent * 10 + (c - '0'), kExponentLimit);
  number.exponent10 = negative ? -exponent : exponent;
  return true;
}

bool TakeSuffix(std::string_view text, Number& number) {
  struct Suffix {
    std::string_view text;
    int exponent10, exponent2;
  };
  static constexpr std::array<Suffix, 16> kSuffixes = {{{"", 0, 0},
                                                        {"n", -9, 0},
                                                        {"u", -6, 0},
                                                        {"m", -3, 0},
                                                        {"k", 3, 0},
                                                        {"M", 6, 0},
                                                        {"G", 9, 0},
                                                        {"T", 12, 0},
                                                        {"P", 15, 0},
                                                        {"E", 18, 0},
                                                        {"Ki", 0, 10},
                                                        {"Mi", 0, 20},
                                                        {"Gi", 0, 30},
                                                        {"Ti", 0, 40},
                                                        {"Pi", 0, 50},
                                                        {"Ei", 0, 60}}};
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text != text) continue;
    number.exponent10 = suffix.exponent10;
    number.exponent2 = suffix.exponent2;
    return true;
  }
  return !text.empty() && (text[0] == 'e' || text[0] == 'E') && TakeExponent(text, number);
}

// value * 10^exponent, rounded down; `rest` becomes true if digits were cut off.
std::optional<Int128> Shift(Int128 value, int exponent, bool& rest) {
  for (; exponent > 0 && value != 0; --exponent) {
    if (__builtin_mul_overflow(value, Int128{10}, &value)) return std::nullopt;
  }
  for (; exponent < 0 && value != 0; ++exponent) {
    rest = rest || value % 10 != 0;
    value /= 10;
  }
  return value;
}

// Scales integer and fraction separately: the remainders of the two never add up to one.
std::optional<Int128> ScaleDecimal(const Number& number, int scale10, bool& rest) {
  const int exponent = number.exponent10 + scale10;
  // The dropped digits would be worth more than one.
  if (number.more_digits && exponent > static_cast<int>(kFractionDigits)) return std::nullopt;
  const std::optional<Int128> integer = Shift(number.integer, exponent, rest);
  const std::optional<Int128> fraction =
      Shift(number.fraction, exponent - number.fraction_digits, rest);
  if (!integer || !fraction) return std::nullopt;
  Int128 sum = 0;
  if (__builtin_add_overflow(*integer, *fraction, &sum)) return std::nullopt;
  return sum;
}

std::optional<Int128> ScaleBinary(const Number& number, int scale10, bool& rest) {
  const Int128 factor = (Int128{1} << number.exponent2) * PowerOfTen(scale10);
  const int digits = std::min(number.fraction_digits, kBinaryFractionDigits);
  const Int128 kept = *Shift(number.fraction, digits - number.fraction_digits, rest);
  const Int128 divisor = PowerOfTen(digits);
  rest = rest || kept * factor % divisor != 0;
  Int128 integer = 0;
  if (__builtin_mul_overflow(number.integer, factor, &integer)) return std::nullopt;
  return integer + kept * factor / divisor;
}

// The magnitude times 10^scale10, rounded up; nothing if it exceeds 2^63 - 1.
std::optional<std::int64_t> Scale(const Number& number, int scale10) {
  if (number.too_long) return std::nullopt;
  bool rest = number.more_digits;
  const std::optional<Int128> value = number.exponent2 > 0 ? ScaleBinary(number, scale10, rest)
                                                           : ScaleDecimal(number, scale10, rest);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!value || *value > kMost - (rest ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(*value) + (rest ? 1 : 0);
}

Result<std::int64_t> Parse(std::string_view text, int scale10) {
  std::string shown(1, '"');
  shown += text.substr(0, kShownCharacters);
  shown += text.size() > kShownCharacters ? "...\"" : "\"";
  Number number;
  std::string_view rest = text;
  if (!TakeMantissa(rest, number) || !TakeSuffix(rest, number)) {
    return Invalid(shown + " is not a quantity such as 8, 250m, 1.5Gi or 50G");
  }
  const std::optional<std::int64_t> magnitude = Scale(number, scale10);
  if (!magnitude) {
    return Invalid(shown + (scale10 == 0 ? " is past 2^63 - 1" : " is past 2^63 - 1 thousandths"));
  }
  return number.negative ? -*magnitude : *magnitude;
}

constexpr std::string_view kDecimalSuffixes = " kMGTPE";
constexpr int kLargestSuffix = 6;

}  // namespace

Result<std::int64_t> ParseMilliQuantity(std::string_view text) { return Parse(text, 3); }

Result<std::int64_t> ParseQuantity(std::string_view text) { return Parse(text, 0); }

std::string FormatBytes(Int128 bytes) {
  constexpr int kSignificantDigits = 4;
  std::string digits = FormatInt128(bytes);
  const std::string sign = digits[0] == '-' ? "-" : "";
  digits.erase(0, sign.size());
  if (digits.size() > kSignificantDigits) {
    const bool up = digits[kSignificantDigits] >= '5';
    const std::string head = digits.substr(0, kSignificantDigits);
    const std::string rounded = FormatInt128(ToInt128(head) + (up ? 1 : 0));
    digits = rounded + std::string(digits.size() - kSignificantDigits, '0');
  }
  const int size = static_cast<int>(digits.size());
  const int group = std::min((size - 1) / 3, kLargestSuffix);
  if (group == 0) return sign + digits;
  const auto whole = static_cast<std::size_t>(size - 3 * group);
  std::string fraction = digits.substr(whole);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return sign + digits.substr(0, whole) + (fraction.empty() ? "" : "." + fraction) +
         kDecimalSuffixes[static_cast<std::size_t>(group)];
}

std::string FormatQuantity(std::int64_t value) {
  int group = 0;
  while (value != 0 && value % 1000 == 0 && group < kLargestSuffix) {
    value /= 1000;
    ++group;
  }
  std::string text = std::to_string(value);
  if (group > 0) text += kDecimalSuffixes[static_cast<std::size_t>(group)];
  return text;
}

std::string FormatInt128(Int128 value) {
  __extension__ using Unsigned = unsigned __int128;
  Unsigned magnitude =
      value < 0 ? Unsigned{0} - static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  if (value < 0) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace weft
