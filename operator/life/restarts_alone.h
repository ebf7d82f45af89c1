#pragma once

#include "operator/life/life.h"

namespace weft::life {

// Sets the condition RestartsAlone while the job has nodes: the kubelet starts, or may start, the
// container of a worker again by itself. Its peers are not started with it and mostly wait for it
// until their time is over, which nobody notices. Removes it if no container does.
void WarnOfRestartsAlone(Life& life);

}  // namespace weft::life
