// What admission refuses, fails to answer or changes.

#include <algorithm>
#include <utility>

#include "tests/world/faults.h"
#include "tests/world/world.h"

namespace weft::world {

using std::chrono::seconds;

std::string Faults::RefusePods() {
  const std::string space = AnySpace();
  const Instant until = world_.fibers_.now() + Some(5, 300);
  world_.refused_["pods"][space] = until;
  return space;
}

std::string Faults::RefusePlacements() {
  const std::string space = AnySpace();
  const Instant until = world_.fibers_.now() + Some(5, 300);
  world_.refused_["placements.weft.dev"][space] = until;
  return space;
}

// Of half-made gangs: a webhook of pods, which is tried again and does not refuse. Meanwhile
// something in a pod that runs writes its progress.
std::string Faults::FailWebhook() {
  AwaitCreation(40, [this, time = Some(8, 20)](const Json& placement) {
    Fail("pods", KeyOf(placement).space, time);
    const auto& of_job = world_.laws_.cluster().pods_of_job;
    const auto pods = of_job.find(JobOf(placement));
    if (pods == of_job.end() || pods->second.empty()) return;
    const api::ObjectKey pod = KeyOf(*pods->second.begin()->second);
    if (Below(3) == 0) {  // or somebody deletes it
      world_.fibers_.After(Millis(500 + Below(4'000)),
                           [this, pod] { tenant_.Delete(kube::kPods, pod); });
    }
    for (seconds at{1}; at < time; ++at) {
      world_.fibers_.After(at + Millis(Below(900)), [this, pod, at] {
        tenant_.Patch(kube::kPods, pod,
                      {{"metadata", {{"annotations", {{"step", std::to_string(at.count())}}}}}});
      });
    }
  });
  return "when a gang is half made";
}

std::string Faults::StripByPolicy() {
  const std::string space = AnySpace();
  const seconds time = Some(10, 300);
  world_.strips_[space] = world_.fibers_.now() + time;
  return space + " for " + std::to_string(time.count()) + " s";
}

void Faults::Fail(const char* resource, const std::string& space, seconds time) {
  const Instant until = world_.fibers_.now() + time;
  for (const char* what : {resource, "failing"}) {
    world_.refused_[what][space] = std::max(world_.refused_[what][space], until);
  }
}

std::string Faults::TightQuota() {
  const std::string space = AnySpace(), name = "tight-" + std::to_string(number_);
  const Json quota = {{"apiVersion", "v1"},
                      {"kind", "ResourceQuota"},
                      {"metadata", {{"name", name}, {"namespace", space}}},
                      {"spec", {{"hard", {{"pods", std::to_string(Below(12))}}}}}};
  admin_.Create(kube::kResourceQuotas, quota);
  world_.fibers_.After(Some(10, 600), [this, space, name] {
    admin_.Delete(kube::kResourceQuotas, {space, name});
  });
  return space;
}

}  // namespace weft::world
