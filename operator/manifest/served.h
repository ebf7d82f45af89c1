#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/result.h"
#include "operator/manifest/keep_rules.h"

namespace weft::manifest {

// Reads one JSON text from an API server that contains objects: a watch event ({"type", "object"})
// or a list ({"metadata", "items"}). It keeps the parts that keep_rules.h keeps of `subject`.
// Precondition: `text` has no NUL.
// Errors  kInvalid: not JSON, not UTF-8, or past the limits of reader.h; starts with `name`.
// Cost    linear; memory only for the kept parts.
Result<nlohmann::json> ReadServed(const std::string& name, const std::string& text,
                                  Subject subject);

}  // namespace weft::manifest
