#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/cluster/cluster.h"
#include "operator/fabric/pod_terms.h"
#include "operator/rules/pod_requirements.h"

namespace weft::cluster {

// Where volumes of these terms are: "in zone a", "on node n1", "on nodes with disk In (ssd)".
std::string PlaceText(const std::vector<rules::NodeSelectorTerm>& terms);

// What the objects of a cluster say of the volumes of pods.
//
// What is not known restricts nothing: claims while the kind may not be read (VolumeInputs), the
// volume that an Immediate claim of a file will get, where a driver makes a volume that workers
// share. Volumes that a node has attached without a pod (VolumeAttachment) and the storage left
// (CSIStorageCapacity) are not read.
// Cost  the first claim costs O(n log n) for n objects of storage, in order O(n); each further one
//       O(log n); those of a CSI driver with limits once O(n), ReadWriteOncePod O(pods).
// Thread-safety  none, as it keeps what it found.
class Volumes {
 public:
  // `cluster` must outlive this object.
  explicit Volumes(const Cluster& cluster) : cluster_(cluster), inputs_(*cluster.inputs) {}
  Volumes(const Volumes&) = delete;
  Volumes& operator=(const Volumes&) = delete;

  // Replaces the claims that the pod's terms name by what they allow its gang, beside the rules
  // that the pod has already. `pods`: the terms of the gang's pods; a template counts for all
  // workers. Claims that not all of them name are each one's own, and limit the gang as far as all
  // of them limit alike.
  void Resolve(const std::string& space, std::span<const fabric::PodTerms* const> pods,
               rules::PodRequirements& pod);

 private:
  // A claim of a pod. `claim`: null if there is none yet.
  struct Use {
    const fabric::ClaimedVolume* volume = nullptr;
    const api::VolumeClaim* claim = nullptr;
    bool shared = false;
  };

  void Index();
  const api::VolumeClaim* FindClaim(const std::string& space, const std::string& name) const;
  const api::PersistentVolume* FindVolume(const std::string& name) const;
  const api::StorageClass* FindClass(const std::string& name) const;

  void Judge(const std::string& space, const Use& use, rules::VolumeRules& rules);
  void JudgeBound(const api::VolumeClaim& claim, rules::VolumeRules& rules) const;
  void JudgeUnbound(const Use& use, rules::VolumeRules& rules);
  void AddSole(const std::string& space, const Use& use, rules::VolumeRules& rules) const;
  void AddAttached(const Use& use, rules::VolumeRules& rules);
  std::shared_ptr<const rules::DriverVolumes> DriverOf(const std::string& driver);
  std::vector<rules::FreeVolume> FreeFor(const api::VolumeClaim& claim) const;
  std::string DriverOfClaim(const api::VolumeClaim& claim) const;
  std::string HandleOf(const api::VolumeClaim& claim) const;

  const Cluster& cluster_;
  const api::Inputs& inputs_;
  bool indexed_ = false;
  std::vector<const api::VolumeClaim*> claims_;        // by key
  std::vector<const api::PersistentVolume*> volumes_;  // by key
  std::vector<const api::PersistentVolume*> free_;     // that no claim is bound to
  std::set<std::string, std::less<>> limited_;         // drivers that a node limits
  std::map<std::string, std::shared_ptr<const rules::DriverVolumes>> drivers_;
};

}  // namespace weft::cluster
