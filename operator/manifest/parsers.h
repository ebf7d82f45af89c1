#pragma once

#include <string>

#include "operator/manifest/object_builder.h"

namespace weft::manifest {

// Feed one text to the builder. The text is clean UTF-8 (text_check.h) without a byte order mark,
// `name` is how messages call it.
// Errors  kInvalid: "NAME: line 12: ...", or what the builder's sink returned.
Status ParseYaml(const std::string& name, std::string_view text, ObjectBuilder& builder);
// One JSON value, or several behind each other. `text` ends at a NUL.
Status ParseJson(const std::string& name, std::string_view text, ObjectBuilder& builder);

}  // namespace weft::manifest
