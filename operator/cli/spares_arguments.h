#pragma once

#include <string>

#include "operator/outlook/failures.h"

namespace weft::cli {

// Of `weft advise --spares`.
struct SparesArguments {
  bool asked = false;   // --spares
  double failures = 0;  // per 1,000 node-days
  double repair_seconds = outlook::kRepairSeconds;
  bool failures_given = false, repair_given = false;
  std::string failure_model;  // a file; "": none
};

}  // namespace weft::cli
