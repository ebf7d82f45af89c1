#pragma once

#include <cstdint>

namespace weft::outlook {

// A whole number as a factor of an estimate; above 2^53 it is rounded.
constexpr double Real(std::int64_t value) { return static_cast<double>(value); }

}  // namespace weft::outlook
