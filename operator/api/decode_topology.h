#pragma once

#include "operator/api/accelerator.h"
#include "operator/api/json_reader.h"
#include "operator/api/topology_spec.h"

namespace weft::api {

// spec.topology; checks the form of names. Whether a level exists, and whether `preferred` is wider
// than `required`, depends on the Fabric and is checked later.
TopologySpec DecodeTopology(const Field& topology);

// spec.accelerator; per_worker is 0 if absent.
Accelerator DecodeAccelerator(const Field& accelerator);

// A LabelSelector of our own kinds: unknown fields and operators are errors.
enum class Comparisons { kNone, kGtLt };  // whether Gt and Lt are allowed too, as for nodes
fabric::LabelSelector DecodeStrictSelector(const Field& selector, Comparisons comparisons);

}  // namespace weft::api
