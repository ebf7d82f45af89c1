#pragma once

#include "operator/placement/instance.h"

namespace weft::placement {

// Why an instance has no answer: the rule that fails first, where it comes nearest, and what is
// missing. Call only where no placement was found.
// Cost  O(nodes x filters), and one more search with nothing else running, to say whether waiting
//       can help.
Unplaceable Refuse(const Instance& instance, const Options& options);

}  // namespace weft::placement
