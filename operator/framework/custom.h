#pragma once

#include "operator/framework/traits.h"

namespace weft::framework {

// A job that starts its ranks in its own way, from the variables of every worker
// (launch/environment.h). Its command may be anything.
const Traits& CustomTraits();

}  // namespace weft::framework
