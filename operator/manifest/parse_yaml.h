#pragma once

#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/manifest/object_builder.h"

namespace weft::manifest {

// Parses YAML and sends its events to the builder. Precondition: the text is clean UTF-8
// (text_check.h) without a byte order mark. Messages start with `name`.
// Errors  kInvalid: "NAME: line 12: ...", or what the builder's sink returned.
Status ParseYaml(const std::string& name, std::string_view text, ObjectBuilder& builder);

}  // namespace weft::manifest
