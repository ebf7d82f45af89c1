#pragma once

#include <string>
#include <string_view>

#include "operator/import/skipped_lines.h"

namespace weft::import {

// Whether the line is no part of an output: a message of the tool about a device that did not
// answer, or its progress (-s).
bool IsIbMessage(std::string_view line);
// Notes such a message, unless it is only about progress.
void NoteIbMessage(const std::string& where, std::string_view line, SkippedLines& skipped);

}  // namespace weft::import
