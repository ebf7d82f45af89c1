#include "tests/world/kueue_life.h"

#include <array>
#include <utility>

#include "operator/base/timestamp.h"
#include "operator/kube/requests.h"

namespace weft::world {
namespace {

constexpr const char* kApi = "kueue.x-k8s.io/v1beta2";
constexpr std::size_t kMostAlive = 6;

Json MetaOf(const std::string& name, const std::string& space = "") {
  Json meta = {{"name", name}};
  if (!space.empty()) meta["namespace"] = space;
  return meta;
}

KueueLife::Action Made(const kube::Resource& resource, const Json& object) {
  return {"create " + std::string(resource.plural) + " " + TextAt(object, {"metadata", "name"}),
          [resource, object](const auto&, std::int64_t) -> std::optional<kube::Request> {
            return kube::CreateRequest(resource, object, {.field_manager = "test"});
          }};
}

kube::Request Merge(const kube::Resource& resource, const api::ObjectKey& key, const Json& merge,
                    const std::string& subresource) {
  return kube::PatchRequest(resource, key, {kube::PatchType::kMerge, merge},
                            {.field_manager = "test", .subresource = subresource});
}

Json ConditionsOf(const Json& workload, const std::string& type, bool is, const std::string& reason,
                  std::int64_t now) {
  WorkloadStatus status(workload, now);
  status.Set(type.c_str(), is, reason, "by the owner");
  return At(status.object(), {"status", "conditions"});
}

}  // namespace

KueueLife::Action KueueLife::Patch(const std::string& what, const kube::Resource& resource,
                                   const api::ObjectKey& key, Json merge,
                                   std::string subresource) const {
  return {what + " " + api::Show(key),
          [=](const Find&, std::int64_t) -> std::optional<kube::Request> {
            return Merge(resource, key, merge, subresource);
          }};
}

std::vector<KueueLife::Action> KueueLife::Begin() const {
  const Json quota = {{"name", lane_},
                      {"resources", {{{"name", "nvidia.com/gpu"}, {"nominalQuota", "32"}}}}};
  const Json groups = {{{"coveredResources", {"nvidia.com/gpu"}}, {"flavors", {quota}}}};
  const Json active = {{{"type", "Active"},
                        {"status", "True"},
                        {"reason", "Active"},
                        {"message", ""},
                        {"lastTransitionTime", "2026-01-01T00:00:00Z"}}};
  return {
      Made(kube::kNamespaces,
           {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", MetaOf(lane_)}}),
      Made(kube::kResourceFlavors, {{"apiVersion", kApi},
                                    {"kind", "ResourceFlavor"},
                                    {"metadata", MetaOf(lane_)},
                                    {"spec", {{"nodeLabels", {{"pool", lane_}}}}}}),
      Made(kube::kAdmissionChecks, {{"apiVersion", kApi},
                                    {"kind", "AdmissionCheck"},
                                    {"metadata", MetaOf(lane_)},
                                    {"spec", {{"controllerName", "weft.dev/placement"}}}}),
      Patch("active", kube::kAdmissionChecks, {"", lane_}, {{"status", {{"conditions", active}}}},
            "status"),
      Made(kClusterQueues,
           {{"apiVersion", kApi},
            {"kind", "ClusterQueue"},
            {"metadata", MetaOf(lane_)},
            {"spec",
             {{"namespaceSelector", Json::object()},
              {"preemption", {{"withinClusterQueue", "LowerPriority"}}},
              {"admissionChecksStrategy", {{"admissionChecks", {{{"name", lane_}}}}}},
              {"resourceGroups", groups}}}}),
      Made(kLocalQueues, {{"apiVersion", kApi},
                          {"kind", "LocalQueue"},
                          {"metadata", MetaOf("queue", lane_)},
                          {"spec", {{"clusterQueue", lane_}}}}),
  };
}

KueueLife::Action KueueLife::Create() {
  const std::string name = "w" + std::to_string(made_.size());
  made_.push_back({lane_, name});
  const std::uint64_t count = Below(12) == 0 ? 5 : 1 + Below(4);
  const auto priority = std::array{0, 0, 0, 10, 100}[Below(5)];
  const std::string queue = Below(16) == 0 ? "missing" : "queue";
  const Json limits = {{"limits", {{"nvidia.com/gpu", "8"}}},
                       {"requests", {{"nvidia.com/gpu", "8"}}}};
  const Json container = {{"name", "a"}, {"image", "b"}, {"resources", limits}};
  Json pod = {{"containers", {container}}, {"restartPolicy", "Never"}};
  if (Below(16) == 0) pod["nodeSelector"] = {{"pool", "another"}};
  Json meta = MetaOf(name, lane_);
  meta["finalizers"] = {kInUse};
  meta["labels"] = {{kJobUid, "uid-" + name}};
  meta["ownerReferences"] = {{{"apiVersion", "weft.dev/v1alpha1"},
                              {"kind", "TrainingJob"},
                              {"name", name},
                              {"uid", "uid-" + name},
                              {"controller", true}}};
  return Made(
      kube::kWorkloads,
      {{"apiVersion", kApi},
       {"kind", "Workload"},
       {"metadata", meta},
       {"spec",
        {{"queueName", queue},
         {"priority", priority},
         {"podSets", {{{"name", "workers"}, {"count", count}, {"template", {{"spec", pod}}}}}}}}});
}

KueueLife::Action KueueLife::Answer(const api::ObjectKey& key, const char* state) {
  Json check = {{"name", lane_}, {"state", state}, {"message", "by the check"}};
  if (state == std::string("Ready")) {
    check["podSetUpdates"] = {{{"name", "workers"}, {"labels", {{"weft.dev/placement", "p"}}}}};
  }
  if (state == std::string("Retry") && Below(4) == 0) check["requeueAfterSeconds"] = 4;
  return {std::string("answer ") + state + " " + api::Show(key),
          [=](const Find&, std::int64_t now) -> std::optional<kube::Request> {
            Json entry = check;
            entry["lastTransitionTime"] = FormatTime(now);
            const Json merge = {{"status", {{"admissionChecks", {entry}}}}};
            return Merge(kube::kWorkloads, key, merge, "status");
          }};
}

KueueLife::Action KueueLife::GiveBack(const api::ObjectKey& key) const {
  return {"give back " + api::Show(key),
          [=](const Find& find, std::int64_t now) -> std::optional<kube::Request> {
            const Json workload = find(kube::kWorkloads, key);
            WorkloadStatus status(workload, now);
            const Json evicted = ConditionOf(workload, "Evicted");
            const std::string reason = TextAt(evicted, {"reason"});
            status.SetRequeued(reason == "Preempted", reason, "given back");
            const bool admitted = status.IsAdmitted();
            status.Set("QuotaReserved", false, "Pending", "given back");
            if (admitted) status.Set("Admitted", false, "NoReservation", "given back");
            const Json merge = {{"status",
                                 {{"admission", nullptr},
                                  {"conditions", At(status.object(), {"status", "conditions"})}}}};
            return Merge(kube::kWorkloads, key, merge, "status");
          }};
}

KueueLife::Action KueueLife::SetCondition(const api::ObjectKey& key, const std::string& type,
                                          bool is, const std::string& reason) const {
  return {type + " " + reason + " " + api::Show(key),
          [=](const Find& find, std::int64_t now) -> std::optional<kube::Request> {
            const Json workload = find(kube::kWorkloads, key);
            if (workload.is_null()) return std::nullopt;
            const Json merge = {
                {"status", {{"conditions", ConditionsOf(workload, type, is, reason, now)}}}};
            return Merge(kube::kWorkloads, key, merge, "status");
          }};
}

KueueLife::Action KueueLife::RemoveFinalizer(const api::ObjectKey& key) const {
  return Patch("remove finalizer", kube::kWorkloads, key,
               {{"metadata", {{"finalizers", nullptr}}}});
}

// What the webhook refuses.
KueueLife::Action KueueLife::Bad(const api::ObjectKey& key) const {
  return {"no admission " + api::Show(key),
          [=](const Find&, std::int64_t) -> std::optional<kube::Request> {
            return Merge(kube::kWorkloads, key, {{"status", {{"admission", nullptr}}}}, "status");
          }};
}

// Of the queues and the check.
KueueLife::Action KueueLife::OfRules() {
  if (stopped_ || (!inactive_ && Below(3) == 0)) {
    stopped_ = !stopped_;
    const char* policy = stopped_ ? std::array{"Hold", "HoldAndDrain"}[Below(2)] : "None";
    const bool local = lane_.back() % 2 == 0;  // always the same one of the two
    return Patch(std::string("stop policy ") + policy, local ? kLocalQueues : kClusterQueues,
                 local ? api::ObjectKey{lane_, "queue"} : api::ObjectKey{"", lane_},
                 {{"spec", {{"stopPolicy", policy}}}});
  }
  if (inactive_ || Below(2) == 0) {
    inactive_ = !inactive_;
    const Json condition = {{"type", "Active"},
                            {"status", inactive_ ? "False" : "True"},
                            {"reason", "Test"},
                            {"message", ""},
                            {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
    return Patch(inactive_ ? "check inactive" : "check active", kube::kAdmissionChecks, {"", lane_},
                 {{"status", {{"conditions", {condition}}}}}, "status");
  }
  const std::string gpus = std::to_string(8 * (1 + Below(8)));
  const Json quota = {{"name", lane_},
                      {"resources", {{{"name", "nvidia.com/gpu"}, {"nominalQuota", gpus}}}}};
  const Json groups = {{{"coveredResources", {"nvidia.com/gpu"}}, {"flavors", {quota}}}};
  return Patch("quota " + gpus, kClusterQueues, {"", lane_},
               {{"spec", {{"resourceGroups", groups}}}});
}

KueueLife::Action KueueLife::OfWorkload(const api::ObjectKey& key, const Json& workload) {
  const WorkloadStatus now(workload, 0);
  if (IsDeleting(workload)) return RemoveFinalizer(key);
  if (now.IsFinished()) {
    return {"delete " + api::Show(key),
            [=](const Find&, std::int64_t) -> std::optional<kube::Request> {
              return kube::DeleteRequest(kube::kWorkloads, key, {});
            }};
  }
  const std::uint64_t choice = Below(20);
  if (now.IsEvicted() && now.HasQuota() && choice < 16) return GiveBack(key);
  if (!now.active()) {
    return Patch("activate", kube::kWorkloads, key, {{"spec", {{"active", true}}}});
  }
  if (choice == 0)
    return Patch("deactivate", kube::kWorkloads, key, {{"spec", {{"active", false}}}});
  if (choice == 1) {
    return {"delete " + api::Show(key),
            [=](const Find&, std::int64_t) -> std::optional<kube::Request> {
              return kube::DeleteRequest(kube::kWorkloads, key, {});
            }};
  }
  if (now.IsAdmitted()) {
    if (choice < 6) return SetCondition(key, "PodsReady", true, "Started");
    if (choice < 8) return Answer(key, std::array{"Retry", "Rejected"}[Below(2)]);
    if (choice == 8) return Bad(key);
    return SetCondition(key, "Finished", true, std::array{"Succeeded", "Failed"}[Below(2)]);
  }
  if (now.HasQuota()) {
    if (choice < 5) return Answer(key, "Retry");
    if (choice < 8) return Answer(key, "Rejected");
    if (choice == 8) return Bad(key);
    if (choice == 9) {
      return Patch("queue", kube::kWorkloads, key, {{"spec", {{"queueName", "elsewhere"}}}});
    }
    return Answer(key, "Ready");
  }
  if (choice < 4)
    return Patch("queue", kube::kWorkloads, key, {{"spec", {{"queueName", "queue"}}}});
  return {"", nullptr};
}

KueueLife::Action KueueLife::Next(const Find& find) {
  std::vector<std::pair<api::ObjectKey, Json>> alive;
  for (const api::ObjectKey& key : made_) {
    Json workload = find(kube::kWorkloads, key);
    if (!workload.is_null()) alive.emplace_back(key, std::move(workload));
  }
  if (alive.empty() || (alive.size() < kMostAlive && Below(4) == 0)) return Create();
  if (Below(stopped_ || inactive_ ? 3 : 12) == 0) return OfRules();
  const auto& [key, workload] = alive[Below(alive.size())];
  return OfWorkload(key, workload);
}

}  // namespace weft::world
