#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/inputs.h"

namespace weft::cluster {

// Which pods claim a channel of a ComputeDomain. A node has one channel, so it takes one such pod,
// and only such pods use NVLink between nodes. What a claim requests decides:
// - a device of the driver compute-domain.nvidia.com that the claim has been given, which is not of
//   the type `daemon`, as the driver's own pods have one;
// - before that, a request for a DeviceClass whose selectors name that driver, and no such type. A
//   class that is unknown, or names no driver, counts if it is api::kChannelClass. One of several
//   alternatives (firstAvailable) is enough; admin access is none.
// A pod's claim by template is the one that was made for it, else what the template says, else what
// a ComputeDomain among the inputs says of the template. Where all of these are unknown (the driver
// makes the template only after the ComputeDomain; a file may have neither), the names of the claim
// decide, as a last resort: api::NamesComputeDomain.
// Source  deviceclass-compute-domain-*.yaml of github.com/kubernetes-sigs/dra-driver-nvidia-gpu.
// Points into the inputs. Cost  O(n log n) to build for n classes, templates and claims, O(log n)
// per claim of a pod.
class ChannelClaims {
 public:
  explicit ChannelClaims(const api::Inputs& inputs);

  // Whether the claim of a pod in that namespace is for a channel.
  bool Is(const std::string& space, const api::ClaimReference& claim) const;

 private:
  bool IsClass(const std::string& device_class) const;
  bool Asks(const std::vector<api::DeviceRequest>& requests) const;
  bool Holds(const api::ResourceClaim& claim) const;

  std::map<std::string_view, const api::DeviceClass*> classes_;
  std::map<api::ObjectKey, const api::ClaimTemplate*> templates_;
  std::map<api::ObjectKey, const api::ResourceClaim*> claims_;
};

// Sets ClaimReference::channel and PodRequirements::claims_compute_domain of the inputs' pods, jobs
// and coming pods of Placements. To be called before CountClaims, which removes the claims. A job
// for which Weft makes the ComputeDomain claims one whatever its template says, until
// SettleAutoComputeDomains looks at its fabric.
// Cost  O(1) per pod and job without claims, else that of ChannelClaims.
void ResolveChannelClaims(api::Inputs& inputs);

}  // namespace weft::cluster
