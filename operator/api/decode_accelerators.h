#pragma once

#include <vector>

#include "operator/api/json_reader.h"
#include "operator/fabric/spec.h"

namespace weft::api {

// spec.accelerators of a Fabric. Whether `calibratedAs` is known is checked later.
std::vector<fabric::AcceleratorSpec> DecodeAccelerators(const Field& accelerators);

}  // namespace weft::api
