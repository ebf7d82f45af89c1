#pragma once

#include <string>

#include "operator/manifest/object_builder.h"

namespace weft::manifest {

// Parses a text and sends its events to the builder. Precondition: the text is clean UTF-8
// (text_check.h) without a byte order mark. Messages start with `name`.
// Errors  kInvalid: "NAME: line 12: ...", or what the builder's sink returned.
Status ParseYaml(const std::string& name, std::string_view text, ObjectBuilder& builder);
// The same for one JSON value, or several in a row. A NUL must follow `text`.
Status ParseJson(const std::string& name, std::string_view text, ObjectBuilder& builder);

}  // namespace weft::manifest
