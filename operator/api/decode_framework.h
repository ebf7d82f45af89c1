#pragma once

#include "operator/api/framework.h"
#include "operator/api/json_reader.h"

namespace weft::api {

// spec.framework; Custom if absent. Only the member that the type names is allowed.
Framework DecodeFramework(const Field& field);

}  // namespace weft::api
