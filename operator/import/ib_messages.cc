#include "operator/import/ib_messages.h"

#include "operator/import/import_text.h"

namespace weft::import {
namespace {

// "DR path slid 0; dlid 0; 0,1 -> new switch {0002c903} portnum 0 lid 5-5 "leaf"", printed by -s.
bool IsProgress(std::string_view line) {
  return HasAny(line, {" -> new ", " -> known "}) && HasAny(line, {"} portnum "});
}

}  // namespace

bool IsIbMessage(std::string_view line) {
  for (const std::string_view word : {"ibwarn:", "ibpanic:", "ibnetdiscover:", "src/"}) {
    if (line.starts_with(word)) return true;
  }
  return HasAny(line, {"; umad (DR path"}) || IsProgress(line);
}

void NoteIbMessage(const std::string& where, std::string_view line, SkippedLines& skipped) {
  if (IsProgress(line)) return;
  skipped.SkipPart(
      where,
      "ibnetdiscover reports an error, so parts of the fabric may be missing: " + Quoted(line));
}

}  // namespace weft::import
