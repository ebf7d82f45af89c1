#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::cluster {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
std::string_view SeverityName(Severity severity);  // "info", "warning", "error"

// A remark for a person, in addition to the answer.
struct Note {
  Severity severity = Severity::kInfo;
  std::string reason;  // one word in camel case: "NoComputeDomain", "LinksAssumed", "Overlapping"
  std::string text;    // a sentence

  friend bool operator==(const Note&, const Note&) = default;
};

}  // namespace weft::cluster
