#pragma once

#include "operator/framework/traits.h"

namespace weft::framework {

// DeepSpeed under torchrun, with Torch's variables, or under its own launcher, which every worker
// runs for itself: it reads the workers from the hostfile ("<address> slots=<GPUs>") and with
// --no_ssh starts only its own ranks.
const Traits& DeepSpeedTraits();

}  // namespace weft::framework
