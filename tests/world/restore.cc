// An administrator restores etcd from a backup and restarts the operators, as
// operator/docs/runbooks.md says.

#include <array>
#include <set>
#include <string>

#include "tests/world/faults.h"
#include "tests/world/pod_groups.h"
#include "tests/world/pods.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

// What other models follow: an object's owner comes before it.
constexpr std::array<const char*, 8> kFollowed = {
    "nodes",    "trainingjobs.weft.dev", "jobs.batch", "placements.weft.dev",
    "services", kPodGroupResource,       "pods",       "leases.coordination.k8s.io"};

std::string JobUidOf(const Json& object) { return LabelOf(object, "weft.dev/job-uid"); }

}  // namespace

std::string Faults::RestoreEtcd() {
  if (restores_) return "";  // once a day
  restores_ = true;
  const std::uint64_t backup = world_.server_.Checkpoint();
  const seconds later = Some(30, 1'200), down = Some(10, 60);
  world_.fibers_.After(later, [this, backup, down] {
    Hard(down);
    SetDown(true);
    world_.fibers_.After(down, [this, backup] {
      world_.Restore(backup);
      SetDown(false);
    });
  });
  return "to now, in " + std::to_string(later.count()) + " s";
}

// Containers go on meanwhile, except those of pods that nobody knows any more, or that are no
// longer bound: kube-scheduler and kubelets see these as deleted.
void World::Restore(std::uint64_t backup) {
  std::map<std::string, std::map<api::ObjectKey, std::shared_ptr<const Json>>> before;
  for (const char* resource : kFollowed) before[resource] = server_.All(resource);
  before["resourcequotas"] = server_.All("resourcequotas");
  for (Host& host : hosts_) {
    if (host.now) host.now->Kill();
  }
  server_.Restore(backup);
  Say("etcd is as it was at version " + std::to_string(backup));
  std::vector<Change> all;
  for (const char* resource : kFollowed) {
    const auto& objects = server_.All(resource);
    for (const auto& [key, object] : before[resource]) {
      const auto now = objects.find(key);
      const bool same = now != objects.end() && UidOf(*now->second) == UidOf(*object);
      if (same && NodeOf(*now->second) == NodeOf(*object)) continue;
      all.push_back(
          {Change::Type::kDeleted, server_.version(), resource, key, object, object, "etcd"});
    }
    for (const auto& [key, object] : objects) {
      all.push_back(
          {Change::Type::kAdded, server_.version(), resource, key, object, nullptr, "etcd"});
    }
  }
  laws_.OnRestore(all);
  for (const Change& change : all) {
    scheduler_.OnChange(change);
    kubelets_.OnRestore(change);
    if (stock_jobs_) stock_jobs_->OnChange(change);
  }
  if (kueue_) kueue_->OnRestore();
  for (std::size_t i = 0; i < options_.nodes; ++i) JoinAgain(i);
  kubelets_.ReportAll();
  std::set<std::string> jobs;
  for (const auto& [key, job] : server_.All("trainingjobs.weft.dev")) {
    jobs.insert(UidOf(*job));
    const auto was = before["trainingjobs.weft.dev"].find(key);
    const bool there = was != before["trainingjobs.weft.dev"].end();
    if ((!there || IsDeleting(*was->second)) && users_.Deletes(key)) {
      Repeat(kube::kTrainingJobs, *job, {});
      continue;
    }
    Json spec = At(there ? *was->second : *job, {"spec"});
    spec["suspend"] = false;  // it had ended, or would be resumed before this
    Repeat(kube::kTrainingJobs, *job, spec);
  }
  for (const kube::Resource* resource :
       {&kube::kResourceQuotas, &kube::kServices, &kube::kPlacements, &kube::kPods}) {
    for (const auto& [key, object] : server_.All(NameOf(*resource))) {
      const auto was = before[NameOf(*resource)].find(key);
      const bool there = was != before[NameOf(*resource)].end();
      if (there && UidOf(*was->second) == UidOf(*object)) continue;
      if (jobs.contains(JobUidOf(*object))) continue;
      Repeat(*resource, *object, {});
    }
  }
}

// Somebody does again what the restore took back: sets the spec, or deletes the object (null).
void World::Repeat(const kube::Resource& resource, const Json& object, const Json& spec) {
  if (At(object, {"spec"}) == spec) return;
  fibers_.After(seconds(10 + chance_.Below(110)),
                [this, &resource, key = KeyOf(object), uid = UidOf(object), spec] {
                  Actor admin(server_, "admin");
                  const auto there = admin.Find(resource, key);
                  if (!there) return;
                  if (UidOf(*there) != uid) {  // made again from a backup: its author resumes it
                    const bool resumes = &resource == &kube::kTrainingJobs && !spec.is_null();
                    if (resumes) admin.Patch(resource, key, {{"spec", {{"suspend", false}}}});
                    return;
                  }
                  if (spec.is_null()) {
                    admin.Delete(resource, key);
                    return;
                  }
                  Json wanted = *there;
                  wanted["spec"] = spec;
                  admin.Replace(resource, wanted);
                });
}

void Laws::OnRestore(const std::vector<Change>& all) {
  const std::set<std::string> unhealthy = std::move(cluster_.unhealthy);
  cluster_ = SeenCluster{};
  cluster_.unhealthy = unhealthy;
  cluster_.led_anew = fibers_.now();
  created_.clear();
  placed_.clear();
  open_.clear();
  mute_.clear();
  awaited_.clear();
  untold_.clear();
  warned_.clear();
  refused_at_bind_.clear();
  groups_.clear();
  in_group_.clear();
  OnGates(gates_on_);
  for (const Change& change : all) {
    if (change.type == Change::Type::kDeleted) continue;
    cluster_.Apply(change, fibers_.now());
    const Json& object = *change.object;
    const Gang gang{JobOf(object), AttemptOf(object)};
    if (change.resource == "trainingjobs.weft.dev") LookAtSpeech(object);
    if (change.resource == "placements.weft.dev" && !gang.first.empty()) {
      if (auto nodes = NodesOf(object); !nodes.empty()) planned_[gang] = std::move(nodes);
    }
    if (change.resource == kPodGroupResource) groups_[change.key] = change.object;
    if (change.resource == "pods") LookAtPodInGroup(change);
    if (change.resource == "pods" && !gang.first.empty() && WorkerOf(object)) {
      created_[{gang, *WorkerOf(object)}] = Instant::max();
      LookAtWindow(object);
    }
  }
}

// A pod that is known again starts again.
void Kubelets::OnRestore(const Change& change) {
  if (change.resource == "pods") runs_.erase(change.key);
  OnChange(change);
}

// Nodes and their controller tell what is.
void Kubelets::ReportAll() {
  const auto nodes = kubelet_.server().All("nodes");
  for (const auto& [key, object] : nodes) {
    const std::string node = key.name;
    const bool unknown = !IsTrue(*object, "Ready");
    if (lost_.erase(node) > 0) {
      Lose(node);
    } else if (unknown) {
      SetCondition(node, "True");
      Taint(node, false);
    }
  }
}

}  // namespace weft::world
