#pragma once

#include <cstdint>
#include <numeric>
#include <optional>

#include "operator/base/units.h"

namespace weft::traffic {

// An exact non-negative fraction in lowest terms. It records an overflow of 128 bits instead of
// wrapping. All amounts of bytes are products and quotients of whole numbers, so every computation
// of an amount rounds to the same byte.
class Ratio {
 public:
  Ratio(std::int64_t whole = 0) : numerator_(whole < 0 ? 0 : whole) {}  // NOLINT: implicit

  Ratio& operator*=(std::int64_t factor) { return Multiply(factor, 1); }
  Ratio& operator/=(std::int64_t divisor) { return Multiply(1, divisor); }
  Ratio& operator*=(const Ratio& other) {
    overflow_ = overflow_ || other.overflow_;
    return Multiply(other.numerator_, other.denominator_);
  }
  Ratio& operator+=(std::int64_t whole) {
    Int128 more = 0;
    Product(denominator_, whole, more);
    if (__builtin_add_overflow(numerator_, more, &numerator_)) {
      overflow_ = true;
      numerator_ = 1;
    }
    return *this;
  }
  // The difference; 0 if `other` is larger.
  Ratio& operator-=(const Ratio& other) {
    Int128 left = 0, right = 0;
    Product(numerator_, other.denominator_, left);
    Product(other.numerator_, denominator_, right);
    overflow_ = overflow_ || other.overflow_;
    numerator_ = left > right ? left - right : 0;
    Int128 common = 0;
    Product(denominator_, other.denominator_, common);
    denominator_ = common;
    Reduce();
    return *this;
  }

  // Rounded to a whole number, halves up; nothing if that exceeds 2^63 - 1.
  std::optional<std::int64_t> Rounded() const {
    if (overflow_) return std::nullopt;
    const Int128 whole = numerator_ / denominator_;
    const Int128 rest = numerator_ % denominator_;
    const Int128 rounded = whole + (rest >= denominator_ - rest ? 1 : 0);
    if (rounded > kSaturated) return std::nullopt;
    return static_cast<std::int64_t>(rounded);
  }
  bool zero() const { return numerator_ == 0; }

 private:
  // Does one step of Euclid in 128 bits and the rest in 64 bits if they fit: wide divisions are
  // slow.
  static Int128 Gcd(Int128 a, Int128 b) {
    if (a == 1 || b == 1) return 1;
    while (b > kSaturated) {
      const Int128 rest = a % b;
      a = b;
      b = rest;
    }
    if (b == 0) return a;
    return std::gcd(static_cast<std::int64_t>(a % b), static_cast<std::int64_t>(b));
  }
  void Product(Int128 a, Int128 b, Int128& out) {
    if (__builtin_mul_overflow(a, b, &out)) {
      overflow_ = true;
      out = 1;
    }
  }
  Ratio& Multiply(Int128 factor, Int128 divisor) {
    const Int128 one = Gcd(numerator_, divisor), other = Gcd(factor, denominator_);
    if (one > 1) {
      numerator_ /= one;
      divisor /= one;
    }
    if (other > 1) {
      factor /= other;
      denominator_ /= other;
    }
    Product(numerator_, factor, numerator_);
    Product(denominator_, divisor, denominator_);
    if (denominator_ == 0) {
      overflow_ = true;
      denominator_ = 1;
    }
    return *this;
  }
  void Reduce() {
    const Int128 common = Gcd(numerator_, denominator_);
    if (common <= 1) return;
    numerator_ /= common;
    denominator_ /= common;
  }

  Int128 numerator_ = 0;
  Int128 denominator_ = 1;
  bool overflow_ = false;
};

}  // namespace weft::traffic
