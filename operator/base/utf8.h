#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

// UTF-8 as RFC 3629 defines it: without overlong forms, surrogates, and code points past U+10FFFF.

// How many bytes the well-formed sequence at the start of `text` has; 0 if there is none or it is
// NUL.
std::size_t SequenceBytes(std::string_view text);
// Offset of the first byte that is a NUL or not part of a well-formed sequence.
std::optional<std::size_t> FirstBadByte(std::string_view text);
inline bool IsCleanUtf8(std::string_view text) { return !FirstBadByte(text); }

// Whether the byte starts a character: true for all but continuation bytes.
inline bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }
// The number of code points in well-formed text.
std::size_t CodePoints(std::string_view text);
// The longest start of `text` of at most `bytes` bytes that does not end inside a character.
std::string_view StartOf(std::string_view text, std::size_t bytes);

// The text for a message: at most `bytes` bytes, then "..."; control characters become '?'.
std::string Excerpt(std::string_view text, std::size_t bytes);

}  // namespace weft
