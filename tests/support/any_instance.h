#pragma once

#include <cstdint>

#include "tests/support/random_instance.h"

namespace weft::testing {

struct AnyOptions {
  std::uint32_t most_workers = 200;
  std::uint32_t most_nodes = 400;
};

// A random placement problem of any kind that the solver knows: fabrics of zero to three levels,
// regular and ragged, with a scale-up network that nests or crosses, planes, a torus, rails and
// power limits; nodes in part use; jobs with every axis, levels and groups, a last attempt,
// excluded nodes and several products. It is drawn without regard to whether it fits: a refusal is
// an answer. The same seed gives the same problem everywhere.
//
// Used to look for crashes and broken promises (tests/fuzz/instances.cc), while random_instance.h
// has tiny problems with a known optimum and large_instance.h jobs as users have them.
RandomInstance MakeAnyInstance(std::uint64_t seed, const AnyOptions& options = {});

}  // namespace weft::testing
