#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/base/result.h"
#include "operator/controllers/api_writer.h"

namespace weft::controllers {

// Creates an object that has a fixed name, or reads the one that exists: an earlier try may have
// created it whose answer was lost. Returns it as stored; the caller must compare its owner.
// Errors  of the create, or of the read; kConflict if the server answers both that the object
//         exists and that it does not.
Result<nlohmann::json> CreateOrRead(ApiWriter& writer, Kind kind, const nlohmann::json& object);

}  // namespace weft::controllers
