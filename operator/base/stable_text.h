#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

// The text on one line: control characters and runs of spaces become one space, and runs of the
// same sign, as in rules across a terminal, become three. At most `bytes` bytes of its end, because
// the last lines of a log or traceback say what went wrong.
std::string OneLine(std::string_view text, std::size_t bytes);

// A message of a kubelet or a container runtime without what differs from one try to the next, so
// that it can be written into a status: only the first line and the one that begins with "Output:";
// identifiers (a UUID, 32 hexadecimal digits and more), durations, and the port of a client
// ("10.0.0.1:43211->") become "...". At most `bytes` bytes: a longer one loses its middle, because
// the cause is at its end.
std::string StableText(std::string_view message, std::size_t bytes);

}  // namespace weft
