#include "operator/api/pod.h"

#include "operator/base/seeded_bug.h"

namespace weft::api {

bool Pod::Holds() const {
  if (Seeded(Bug::kClaimsFreedEarly) && meta.deleting) return false;
  return !node_name.empty() && phase != "Succeeded" && phase != "Failed";
}

}  // namespace weft::api
