#pragma once

#include <cstdint>
#include <string_view>

namespace weft::manifest {

// What a plain (unquoted) YAML scalar is.
//
// kText includes everything on which YAML's versions and readers disagree: 012, 0x1F, 0o14, 1_000,
// 12:30:45, 2026-01-01, .inf. It stays as written, and a field that wants a number refuses it.
// kAmbiguous is yes, no, on, off, y and n: true or false to YAML 1.1, text to 1.2.
enum class Plain : std::uint8_t { kNull, kTrue, kFalse, kInteger, kFloat, kText, kAmbiguous };
Plain PlainKind(std::string_view text);

}  // namespace weft::manifest
