// What people do who may write in one namespace, or who administer the cluster.

#include <array>
#include <memory>
#include <vector>

#include "tests/world/faults.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

bool IsAccepted(const Json& job) {
  const Json& accepted = ConditionOf(job, "Accepted");
  return TextAt(accepted, {"status"}) == "True" &&
         NumberAt(accepted, {"observedGeneration"}) == GenerationOf(job);
}

// What a backup or a repository has of it.
Json BackupOf(const Json& job) {
  Json backup = {{"apiVersion", "weft.dev/v1alpha1"},
                 {"kind", "TrainingJob"},
                 {"metadata", {{"name", KeyOf(job).name}, {"namespace", KeyOf(job).space}}},
                 {"spec", At(job, {"spec"})}};
  const Json& labels = At(job, {"metadata", "labels"});
  if (!labels.is_null()) backup["metadata"]["labels"] = labels;
  return backup;
}

// Where the pods of another controller run as it says.
bool IsOfRunningPods(const Json& placement) {
  for (const Json& owner : At(placement, {"metadata", "ownerReferences"})) {
    if (At(owner, {"controller"}) == Json(true)) return false;
  }
  return !At(placement, {"spec", "podSelector"}).is_null() && IsTrue(placement, "Verified") &&
         !IsDeleting(placement);
}

}  // namespace

// Under the name that a job's Service is to have.
std::string Faults::ForeignService() {
  const auto& services = world_.server_.All(NameOf(kube::kServices));
  std::vector<api::ObjectKey> fit;
  for (const auto& [key, job] : world_.server_.All(NameOf(kube::kTrainingJobs))) {
    const bool over = IsTrue(*job, "Complete") || IsTrue(*job, "Failed") || IsDeleting(*job);
    if (!over && !services.contains(key)) fit.push_back(key);
  }
  if (fit.empty()) return "";
  const api::ObjectKey key = fit[Below(fit.size())];
  const Json service = {{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", {{"name", key.name}, {"namespace", key.space}}},
                        {"spec", {{"clusterIP", "None"}, {"selector", {{"app", "other"}}}}}};
  if (editor_.Create(kube::kServices, service) / 100 != 2) return "";
  const std::string uid = UidOf(*admin_.Find(kube::kServices, key));
  world_.fibers_.After(Some(10, 900), [this, key, uid] {
    editor_.Delete(kube::kServices, key, {.only = {.uid = uid, .resource_version = ""}});
  });
  return api::Show(key);
}

// What somebody with `edit` in one namespace may write: a Placement that holds nodes for nothing,
// or that has the name of another's.
std::string Faults::OwnerlessPlacement() {
  const auto job = Any(kube::kTrainingJobs);
  if (!job) return "";
  const api::ObjectKey key = KeyOf(*job);
  const bool claims = Below(2) == 0;
  Json meta = {{"name", claims ? key.name + "-1" : "odd-" + std::to_string(number_)},
               {"namespace", key.space}};
  if (!claims) {
    meta["ownerReferences"] = {{{"apiVersion", "weft.dev/v1alpha1"},
                                {"kind", "TrainingJob"},
                                {"name", key.name},
                                {"uid", UidOf(*job)}}};
  }
  const Json placement = {
      {"apiVersion", "weft.dev/v1alpha1"},
      {"kind", "Placement"},
      {"metadata", meta},
      {"spec",
       {{"workers", 8}, {"accelerator", {{"resourceName", "nvidia.com/gpu"}, {"perWorker", 8}}}}}};
  if (editor_.Create(kube::kPlacements, placement) / 100 != 2) return "";
  const api::ObjectKey made{key.space, meta.at("name").get<std::string>()};
  const std::string uid = UidOf(*admin_.Find(kube::kPlacements, made));
  world_.fibers_.After(Some(30, 600), [this, made, uid] {
    editor_.Delete(kube::kPlacements, made, {.only = {.uid = uid, .resource_version = ""}});
  });
  return api::Show(made);
}

std::string Faults::OddAnnotation() {
  static constexpr std::array kNames = {"weft.dev/waited-seconds", "weft.dev/excluded-nodes",
                                        "weft.dev/priority", "weft.dev/measured-step-seconds"};
  const auto job = Any(kube::kTrainingJobs);
  if (!job) return "";
  const std::string name = kNames[Below(kNames.size())];
  editor_.Patch(kube::kTrainingJobs, KeyOf(*job),
                {{"metadata", {{"annotations", {{name, "odd"}}}}}});
  return api::Show(KeyOf(*job)) + " " + name;
}

std::string Faults::OddLabel() {
  const auto job = Any(kube::kTrainingJobs);
  if (!job) return "";
  editor_.Patch(kube::kTrainingJobs, KeyOf(*job), {{"metadata", {{"labels", {{"odd", "1"}}}}}});
  return api::Show(KeyOf(*job));
}

std::string Faults::StripFinalizer() {
  const auto job = Any(kube::kTrainingJobs, [](const Json& one) {
    return !At(one, {"metadata", "finalizers"}).empty() && !IsDeleting(one);
  });
  if (!job) return "";
  editor_.Patch(kube::kTrainingJobs, KeyOf(*job), {{"metadata", {{"finalizers", nullptr}}}});
  return api::Show(KeyOf(*job));
}

// All of a team's objects go, and its namespace is made again. On half of the times a GitOps tool
// then applies its jobs again, except for those that their authors delete.
std::string Faults::DeleteNamespace() {
  const std::string space = AnySpace();
  const auto jobs = std::make_shared<std::vector<Json>>();
  if (Below(2) == 0) {
    for (const Users::Expected& one : world_.users_.expected()) {
      const auto job = admin_.Find(kube::kTrainingJobs, one.job);
      if (one.job.space != space || one.end.empty() || !job || !IsAccepted(*job)) continue;
      jobs->push_back(BackupOf(*job));
      jobs->back()["spec"]["suspend"] = false;  // it would be resumed before that
    }
  }
  admin_.Delete(kube::kNamespaces, {"", space});
  for (int i = 1; i < 60; ++i) {
    world_.fibers_.After(seconds(i * 10), [this, space, jobs] {
      const int made = admin_.Create(
          kube::kNamespaces,
          {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space}}}});
      if (made / 100 != 2) return;
      for (const Json& job : *jobs) admin_.Create(kube::kTrainingJobs, job);
    });
  }
  return space + (jobs->empty() ? "" : ", then applies its jobs again");
}

// Suspends a job, changes it and resumes it within seconds, as a script does: only a suspended job
// may change its workers.
std::string Faults::EditJob() {
  const auto job = Any(kube::kTrainingJobs);
  if (!job) return "";
  const api::ObjectKey key = KeyOf(*job);
  const bool scales = Below(2) == 0;
  Json workers = {{"replicas", 1 + Below(8)}};
  if (!scales) {
    workers = {{"template", {{"spec", {{"terminationGracePeriodSeconds", 5 + Below(40)}}}}}};
  }
  editor_.Patch(kube::kTrainingJobs, key, {{"spec", {{"suspend", true}}}});
  const std::uint64_t times = Below(3), pause = Below(2'000);  // drawn in this order
  const Millis time(times * pause);
  world_.fibers_.After(time, [this, key, workers] {
    editor_.Patch(kube::kTrainingJobs, key, {{"spec", {{"workers", workers}}}});
    editor_.Patch(kube::kTrainingJobs, key, {{"spec", {{"suspend", false}}}});
  });
  return api::Show(key) + (scales ? " to other replicas" : " to another template");
}

// From a backup that has no status, while its pods are still there.
std::string Faults::RestoreJob() {
  const auto job = Any(kube::kTrainingJobs, IsAccepted);
  if (!job) return "";
  const api::ObjectKey key = KeyOf(*job);
  const Json backup = BackupOf(*job);
  admin_.Patch(kube::kTrainingJobs, key, {{"metadata", {{"finalizers", nullptr}}}});
  admin_.Delete(kube::kTrainingJobs, key, {.propagation = Below(2) == 0 ? "Orphan" : "Background"});
  // What has no owner any more has the names that the new job needs; somebody removes it.
  world_.fibers_.After(Some(10, 300), [this, uid = UidOf(*job)] {
    for (const kube::Resource& resource : {kube::kPlacements, kube::kServices, kube::kPods}) {
      const auto all = world_.server_.All(NameOf(resource));
      for (const auto& [name, object] : all) {
        if (LabelOf(*object, "weft.dev/job-uid") == uid) admin_.Delete(resource, name);
      }
    }
  });
  for (int i = 0; i < 10; ++i) {
    world_.fibers_.After(seconds(i),
                         [this, backup] { admin_.Create(kube::kTrainingJobs, backup); });
  }
  return api::Show(key);
}

// The same of a Placement of another controller's pods, while they run.
std::string Faults::RestorePlacement() {
  const auto placement = Any(kube::kPlacements, IsOfRunningPods);
  if (!placement) return "";
  Json backup = *placement;
  backup.erase("status");
  for (const char* name : {"uid", "resourceVersion", "generation", "creationTimestamp"}) {
    backup["metadata"].erase(name);
  }
  admin_.Delete(kube::kPlacements, KeyOf(*placement));
  return admin_.Create(kube::kPlacements, backup) / 100 == 2 ? api::Show(KeyOf(*placement)) : "";
}

// What an administrator of a namespace may create, and nobody with `edit`: a pod with the labels of
// a job's.
std::string Faults::FalsePod() {
  const auto pod = Any(
      kube::kPods, [](const Json& one) { return !LabelOf(one, "weft.dev/worker-index").empty(); });
  if (!pod) return "";
  const std::string name = "false-" + std::to_string(number_);
  Json made = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", KeyOf(*pod).space},
        {"labels", At(*pod, {"metadata", "labels"})}}},
      {"spec", {{"containers", {{{"name", "one"}, {"image", "registry.example/other:1"}}}}}}};
  if (Below(2) == 0) made["metadata"]["labels"].erase("weft.dev/attempt");
  if (admin_.Create(kube::kPods, made) / 100 != 2) return "";
  const api::ObjectKey key = KeyOf(made);
  world_.fibers_.After(Some(30, 600), [this, key] { editor_.Delete(kube::kPods, key); });
  return api::Show(key);
}

}  // namespace weft::world
