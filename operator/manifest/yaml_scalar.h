#pragma once

#include <cstdint>
#include <string_view>

namespace weft::manifest {

// The type of a plain (unquoted) YAML scalar.
//
// kText includes all scalars that YAML's versions and readers read differently: 012, 0x1F, 0o14,
// 1_000, 12:30:45, 2026-01-01, .inf. They stay as written, and a field of numbers refuses them.
// kAmbiguous is yes, no, on, off, y and n: booleans in YAML 1.1, text in 1.2.
enum class Plain : std::uint8_t { kNull, kTrue, kFalse, kInteger, kFloat, kText, kAmbiguous };
Plain PlainKind(std::string_view text);

}  // namespace weft::manifest
