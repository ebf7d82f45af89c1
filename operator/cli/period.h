#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weft::cli {

// "7d", "36h", "1w", "1d12h": whole numbers with units w, d, h and m. Nothing for other texts, for
// less than ten minutes and for more than ten years.
std::optional<std::int64_t> ParsePeriod(const std::string& text);

}  // namespace weft::cli
