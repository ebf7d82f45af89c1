#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "operator/base/phrases.h"  // BytesText
#include "operator/base/units.h"

namespace weft::render {

// The format of texts; the functions of this module share it.
struct TextOptions {
  bool colour = false;
  int columns = 100;  // lines of prose and of names wrap here; tables do not
};

inline constexpr std::size_t kIndent = 2;  // of the lines below a first one

// "42.1 us", "0.4 ms", "33 ms", "1.2 s", "90 min": at most three significant digits.
std::string MillisecondsText(double milliseconds);
// "137 %"; "-" if absent.
std::string PercentText(std::optional<std::int64_t> percent);
// The same for seconds.
std::string SecondsText(double seconds);
// A share of 1 in whole percent: "42 %".
std::string ShareText(double share);
// "29 kW", "1.4 MW".
std::string WattsText(double watts);
// "50 GB/s", "1.8 TB/s": three significant digits.
std::string RateText(std::int64_t bytes_per_second);
// The text with its ASCII letters in upper case, for the title of a column.
std::string Upper(std::string text);
// "1 node", "1,024 nodes".
std::string Counted(std::int64_t count, const std::string& noun);

// Wraps the text into lines of at most `columns` code points. Each line starts with `indent`
// spaces, the first with `lead` instead. Lines break after spaces, except between a number and its
// unit, and after commas in brackets; a word that is longer than a line stays whole. Every line
// ends in a line feed.
std::string Wrap(const std::string& lead, const std::string& text, std::size_t indent, int columns);

// The text without control characters, which could move a terminal's cursor: each becomes '?'.
std::string Printable(const std::string& text);

}  // namespace weft::render
