#include "operator/api/kinds.h"

namespace weft::api {

bool Pod::Holds() const { return !node_name.empty() && phase != "Succeeded" && phase != "Failed"; }

}  // namespace weft::api
