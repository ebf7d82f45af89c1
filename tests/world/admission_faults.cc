// What admission refuses, fails to answer or changes.

#include <algorithm>
#include <array>
#include <utility>

#include "tests/world/faults.h"
#include "tests/world/world.h"

namespace weft::world {

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
                           [this, pod] { editor_.Delete(kube::kPods, pod); });
    }
    for (seconds at{1}; at < time; ++at) {
      world_.fibers_.After(at + Millis(Below(900)), [this, pod, at] {
        editor_.Patch(kube::kPods, pod,
                      {{"metadata", {{"annotations", {{"step", std::to_string(at.count())}}}}}});
      });
    }
  });
  return "when a gang is half made";
}

// It takes long, and then it fails.
std::string Faults::HangWebhook() {
  static constexpr std::array kResources = {"pods", "services", "configmaps"};
  const seconds time = Some(30, 180);
  Weather::Hang& hang = world_.weather_.hang;
  hang = {kResources[Below(kResources.size())], AnySpace(), Some(10, 30)};
  world_.fibers_.After(time, [this, number = ++hangs_] {
    if (hangs_ == number) world_.weather_.hang = {};  // else a later one goes on
  });
  return hang.resource + " in " + hang.space + " for " + std::to_string(time.count()) + " s";
}

// A webhook gives the pods of a team some of the nodes, or lets them onto tainted ones.
std::string Faults::MutatePods() {
  const std::string space = AnySpace();
  const seconds time = Some(30, 900);
  const bool selects = Below(2) == 0;
  world_.mutations_[space] = {world_.fibers_.now() + time, selects};
  return space + " for " + std::to_string(time.count()) + " s, " +
         (selects ? "selects nodes" : "tolerates taints");
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
  static constexpr std::array kLimited = {"pods", "pods", "count/placements.weft.dev", "services",
                                          "configmaps"};
  const std::string resource = kLimited[Below(kLimited.size())];
  const std::string space = AnySpace();
  const std::string limit = std::to_string(Below(12));
  MakeQuota(space, {{resource, limit}}, Some(10, 600));
  return space + " to " + limit + " " + resource;
}

// Enough of everything, but others use it at the same time: creates meet a conflict of its usage.
std::string Faults::QuotaConflict() {
  const std::string space = AnySpace();
  MakeQuota(space,
            {{"pods", "100k"},
             {"services", "100k"},
             {"configmaps", "100k"},
             {"count/placements.weft.dev", "100k"}},
            Some(60, 900));
  const int conflicts = static_cast<int>(1 + Below(20));
  world_.server_.SetQuotaConflicts(conflicts);
  return space + ", " + std::to_string(conflicts) + " times";
}

void Faults::MakeQuota(const std::string& space, const Json& hard, seconds time) {
  const std::string name = "quota-" + std::to_string(number_);
  admin_.Create(kube::kResourceQuotas, {{"apiVersion", "v1"},
                                        {"kind", "ResourceQuota"},
                                        {"metadata", {{"name", name}, {"namespace", space}}},
                                        {"spec", {{"hard", hard}}}});
  world_.fibers_.After(time, [this, space, name] {
    admin_.Delete(kube::kResourceQuotas, {space, name});
  });
}

void World::Mutate(const ApiServer::Attempt& attempt) const {
  const bool creates = attempt.before == nullptr && attempt.object != nullptr;
  if (attempt.resource != "pods" || !creates || !attempt.subresource.empty()) return;
  const auto mutation = mutations_.find(attempt.key.space);
  if (mutation == mutations_.end() || mutation->second.until <= fibers_.now()) return;
  Json& spec = (*attempt.object)["spec"];
  if (mutation->second.selects) {
    spec["nodeSelector"]["example.com/spine"] = "spine-00";
  } else {
    spec["tolerations"].push_back(
        {{"key", "example.com/team"}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  }
}

}  // namespace weft::world
