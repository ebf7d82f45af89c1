#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/result.h"
#include "operator/manifest/keep_rules.h"

namespace weft::manifest {

// One JSON text as an API server sends it around objects: a watch event ({"type", "object"}) or a
// list ({"metadata", "items"}). What keep_rules.h drops of `subject` is dropped while reading.
// `text` is without a NUL.
// Errors  kInvalid: not JSON, not UTF-8, or past the limits of reader.h; starts with `name`.
// Cost    linear; memory is that of what is kept.
Result<nlohmann::json> ReadServed(const std::string& name, const std::string& text,
                                  Subject subject);

}  // namespace weft::manifest
