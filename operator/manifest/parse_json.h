#pragma once

#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/manifest/object_builder.h"

namespace weft::manifest {

// Parses one JSON value, or several in a row, and sends the events to the builder. Precondition:
// the text is clean UTF-8 (text_check.h) without a byte order mark, and a NUL follows it. Messages
// start with `name`.
// Errors  kInvalid: "NAME: line 12: ...", or what the builder's sink returned.
Status ParseJson(const std::string& name, std::string_view text, ObjectBuilder& builder);

}  // namespace weft::manifest
