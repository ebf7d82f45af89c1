#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

// Seconds since 1970-01-01T00:00:00Z; the API server's times have this resolution too.
using UnixSeconds = std::int64_t;

// RFC 3339 in UTC, whole seconds: "2026-08-22T10:00:00Z". Years 0 to 9999.
std::string FormatTime(UnixSeconds time);

// Parses what FormatTime writes; fractions of a second are cut off, offsets ("+02:00") are applied.
// Nothing if the text is not an RFC 3339 time.
std::optional<UnixSeconds> ParseTime(std::string_view text);

}  // namespace weft
