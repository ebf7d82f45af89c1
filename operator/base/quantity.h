#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/base/units.h"

namespace weft {

// Parses a Kubernetes resource.Quantity ("8", "250m", "1.5Gi", "2062G", "1e3", "50e9"):
// ParseMilliQuantity in thousandths, ParseQuantity in whole units. Fractions are rounded up, as
// Kubernetes does for requests.
//
// Errors   kInvalid if the text is not a Quantity, or its value in that unit is above 2^63 - 1.
// Source   k8s.io/apimachinery/pkg/api/resource, "Quantity".
Result<std::int64_t> ParseMilliQuantity(std::string_view text);
Result<std::int64_t> ParseQuantity(std::string_view text);

// Bytes with four significant digits and a decimal suffix, rounded half up: 131941395333120 ->
// "131.9T", 999 -> "999", 1048000 -> "1.048M", 10000 -> "10k". The text is a valid Quantity.
std::string FormatBytes(Int128 bytes);

// Bytes without rounding, so that they can be read back ("50G", "12500M", "7").
std::string FormatQuantity(std::int64_t value);

// Decimal digits of a 128-bit integer.
std::string FormatInt128(Int128 value);

}  // namespace weft
