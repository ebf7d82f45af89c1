#include "operator/plan/crashed_kinds.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace weft::plan {
namespace {

// A new member does not compile here: compare it below.

bool SameAccelerator(const api::Accelerator& a, const api::Accelerator& b) {
  const auto& [resource, per_worker, models, capacity, device_class] = a;
  return resource == b.resource_name && per_worker == b.per_worker && models == b.models &&
         capacity == b.capacity_types && device_class == b.device_class;
}

bool SameGroupSpec(const api::GroupSpec& a, const api::GroupSpec& b) {
  const auto& [axes, required, preferred] = a;
  return axes == b.axes && required == b.required && preferred == b.preferred;
}

bool SameTopology(const api::TopologySpec& a, const api::TopologySpec& b) {
  const auto& [required, preferred, wait, groups, compute_domain] = a;
  return required == b.required && preferred == b.preferred &&
         wait == b.wait_for_preferred_seconds && compute_domain == b.compute_domain &&
         std::equal(groups.begin(), groups.end(), b.groups.begin(), b.groups.end(), SameGroupSpec);
}

// Without what says where its volumes are, which changes while the object stays the same.
void DropVolumes(rules::PodRequirements& pod) {
  pod.volumes = {};
  if (pod.terms->volumes.empty()) return;
  fabric::PodTerms terms = *pod.terms;
  terms.volumes.clear();
  pod.terms = std::move(terms);
}

// Labels may name the object.
bool SamePod(rules::PodRequirements a, rules::PodRequirements b) {
  a.labels = b.labels = {};
  DropVolumes(a);
  DropVolumes(b);
  return a == b;
}

bool SameSpec(const CrashedKinds::Spec& a, const CrashedKinds::Spec& b) {
  const auto& [workers, fabric, accelerator, model, parallelism, topology, pod] = a;
  return workers == b.workers && fabric == b.fabric_name &&
         SameAccelerator(accelerator, b.accelerator) && model == b.model &&
         parallelism == b.parallelism && SameTopology(topology, b.topology) && SamePod(pod, b.pod);
}

bool Same(const CrashedKinds::Kind& a, const CrashedKinds::Kind& b) {
  return a.subject.key.space == b.subject.key.space &&
         std::is_permutation(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                             SameSpec);
}

}  // namespace

CrashedKinds::Kind CrashedKinds::KindOf(std::span<const cluster::WorkloadView* const> parts) {
  WEFT_CHECK(!parts.empty());
  Kind kind{SubjectOf(*parts.front()), {}};
  for (const cluster::WorkloadView* part : parts) {
    kind.parts.push_back({part->workers, *part->fabric_name, *part->accelerator, *part->model,
                          *part->parallelism, *part->topology, part->pod});
  }
  return kind;
}

void CrashedKinds::DropBefore(UnixSeconds now) {
  kinds_.remove_if([&](const Entry& one) { return one.at + kKeepSeconds <= now; });
}

void CrashedKinds::Add(Kind kind, UnixSeconds now) {
  kinds_.remove_if([&](const Entry& one) {
    return one.kind.subject.uid == kind.subject.uid && Same(one.kind, kind);
  });
  kinds_.push_front({std::move(kind), now});
  if (kinds_.size() > kMost) kinds_.pop_back();
  WEFT_CHECK(kinds_.size() <= kMost);
}

void CrashedKinds::Erase(const Kind& kind) {
  kinds_.remove_if([&](const Entry& one) { return Same(one.kind, kind); });
}

std::optional<std::string> CrashedKinds::Find(const Kind& kind) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Entry& one) {
    return one.kind.subject.uid != kind.subject.uid && Same(one.kind, kind);
  });
  if (found == kinds_.end()) return std::nullopt;
  const CrashSubject& subject = found->kind.subject;
  return std::string(subject.kind) + " " + api::Show(subject.key);
}

}  // namespace weft::plan
