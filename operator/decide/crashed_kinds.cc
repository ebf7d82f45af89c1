#include "operator/decide/crashed_kinds.h"

#include <algorithm>
#include <utility>

namespace weft::decide {
namespace {

// A new member does not compile here: compare it below.

bool SameAccelerator(const api::Accelerator& a, const api::Accelerator& b) {
  const auto& [resource, per_worker, models, capacity] = a;
  return resource == b.resource_name && per_worker == b.per_worker && models == b.models &&
         capacity == b.capacity_types;
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

}  // namespace

bool CrashedKinds::Same(const Kind& kind, const Workload& workload) {
  return kind.subject.key.space == workload.key().space && kind.workers == workload.workers &&
         kind.fabric_name == *workload.fabric_name &&
         SameAccelerator(kind.accelerator, *workload.accelerator) &&
         kind.model == *workload.model && kind.parallelism == *workload.parallelism &&
         SameTopology(kind.topology, *workload.topology) && kind.pod == workload.pod;
}

void CrashedKinds::ForgetBefore(UnixSeconds now) {
  kinds_.remove_if([&](const Kind& kind) { return kind.refused + kKeepSeconds <= now; });
}

void CrashedKinds::Add(const Workload& workload, UnixSeconds now) {
  CrashSubject subject = SubjectOf(workload);
  kinds_.remove_if(
      [&](const Kind& kind) { return kind.subject.uid == subject.uid && Same(kind, workload); });
  kinds_.push_front({std::move(subject), workload.workers, *workload.fabric_name,
                     *workload.accelerator, *workload.model, *workload.parallelism,
                     *workload.topology, workload.pod, now});
  if (kinds_.size() > kMost) kinds_.pop_back();
}

void CrashedKinds::Forget(const Workload& workload) {
  kinds_.remove_if([&](const Kind& kind) { return Same(kind, workload); });
}

std::optional<std::string> CrashedKinds::Find(const Workload& workload) const {
  const std::string uid = SubjectOf(workload).uid;
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return kind.subject.uid != uid && Same(kind, workload);
  });
  if (found == kinds_.end()) return std::nullopt;
  return std::string(found->subject.kind) + " " + api::Show(found->subject.key);
}

}  // namespace weft::decide
