#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

// UTF-8 as RFC 3629 defines it: no overlong form, no surrogate, nothing past U+10FFFF.

// Bytes of the well-formed sequence at the start of `text`; 0 where there is none, or a NUL.
std::size_t SequenceBytes(std::string_view text);
// Offset of the first byte that is a NUL or not part of a well-formed sequence.
std::optional<std::size_t> FirstBadByte(std::string_view text);
inline bool IsCleanUtf8(std::string_view text) { return !FirstBadByte(text); }

// Whether the byte starts a character: true for all but continuation bytes.
inline bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }
// Code points of well-formed text.
std::size_t CodePoints(std::string_view text);
// The start of `text`, at most `bytes` long, that does not end inside a character.
std::string_view StartOf(std::string_view text, std::size_t bytes);

// The text for a message: at most `bytes` of it and then "...", control characters as '?'.
std::string Excerpt(std::string_view text, std::size_t bytes);

}  // namespace weft
