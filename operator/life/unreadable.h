#pragma once

#include "operator/life/life.h"

namespace weft::life {

// The step of a job whose spec cannot be read: writes the condition once and does nothing else.
// Running pods go on, unless Kueue takes their quota back; the operator manages them again when the
// spec can be read.
JobStep RefuseStep(Life& life);

}  // namespace weft::life
