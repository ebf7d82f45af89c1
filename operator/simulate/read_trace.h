#pragma once

#include "operator/base/result.h"
#include "operator/simulate/trace.h"

namespace weft::simulate {

// Reads a trace. Blank lines count as no job.
//
// Errors  kInvalid, "FILE: line N: ..." with the column, for a missing column, a number that is
//         none, a time that is none, or no job at all.
// Cost    O(bytes), and O(jobs log jobs) to sort them.
Result<Trace> ReadTrace(const TraceText& input);

}  // namespace weft::simulate
