#pragma once

#include "operator/metrics/samples.h"

namespace weft::metrics {

// Adds CPU time, memory, open files and start time of this process, under Prometheus' usual names.
void MeasureProcess(Samples& samples);

}  // namespace weft::metrics
