#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "operator/api/decode.h"
#include "operator/controllers/gang_files.h"
#include "operator/controllers/job_controller.h"
#include "operator/controllers/placement_controller.h"
#include "operator/controllers/planner.h"
#include "tests/unit/controllers/fake_api.h"

namespace weft::controllers {

using Json = nlohmann::json;

inline constexpr UnixSeconds kStart = 1'800'000'000;
inline const api::ObjectKey kJob{"ns", "llama"};

// A job of three workers of 8 GPUs.
inline Json JobObject(const std::string& framework) {
  Json job = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"name": "llama", "namespace": "ns"},
      "spec": {"failurePolicy": {"maxRestarts": 2},
               "accelerator": {"perWorker": 8},
               "workers": {"replicas": 3, "template": {"spec": {"containers": [
                   {"name": "t", "image": "i", "command": ["train"],
                    "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})");
  job["spec"]["framework"] = {{"type", framework}};
  return job;
}

// Stores a job and its Placement, for which a step of 10 s was predicted.
inline void ApplyPredicted(FakeApi& api, const Json& job) {
  const std::string name = job["metadata"]["name"];
  api.Apply(Kind::kTrainingJob, job);
  const std::string uid = api.At(Kind::kTrainingJob, name)["metadata"]["uid"];
  api.Apply(Kind::kPlacement, {{"apiVersion", "weft.dev/v1alpha1"},
                               {"kind", "Placement"},
                               {"metadata",
                                {{"name", name + "-1"},
                                 {"namespace", "ns"},
                                 {"ownerReferences",
                                  {{{"apiVersion", "weft.dev/v1alpha1"},
                                    {"kind", "TrainingJob"},
                                    {"name", name},
                                    {"uid", uid},
                                    {"controller", true}}}}}},
                               {"spec", {{"workers", 3}, {"accelerator", {{"perWorker", 8}}}}}});
  api.Edit(Kind::kPlacement, name + "-1", [](Json& one) {
    one["status"] = {{"nodes", {"n0", "n1", "n2"}},
                     {"outlook", {{"accelerator", "H100"}, {"stepMilliseconds", 10'000}}}};
  });
}

class Events final : public Recorder {
 public:
  void Record(const Happening& one) override { reasons.emplace_back(one.reason); }
  std::vector<std::string> reasons;
};

// All that a leader is made of, read anew from the API server.
class Leader {
 public:
  Leader(FakeApi& api, UnixSeconds& now, Recorder& recorder,
         const std::function<bool()>& kueue_synced = {})
      : now_([&now] { return now; }),
        store(now_),
        pod_groups_(store, api, recorder, {.now = now_}),
        files_(store, cache_, api, pod_groups_, ""),
        planner(store, cache_, api, log_, PlannerOptions()),
        jobs(store, api, planner, recorder, log_, JobOptions(kueue_synced)),
        gangs(store, api, recorder, log_, {{}, now_, 1}) {
    for (int i = 0; i < 6; ++i) PutNode("n" + std::to_string(i));
    for (const auto& [key, object] : api.objects()) {
      See(std::get<0>(key), {std::get<1>(key), std::get<2>(key)}, object);
    }
  }

  // What the watch says.
  void See(Kind kind, const api::ObjectKey& key, const Json& object) {
    if (kind == Kind::kPod) return Take<api::Pod>(key, object, api::DecodePod(object, "test"));
    if (kind == Kind::kTrainingJob) {
      return Take<api::TrainingJob>(key, object,
                                    api::DecodeTrainingJob(object, "test", api::Reading::kServed));
    }
    if (kind == Kind::kPlacement) {
      return Take<api::Placement>(key, object,
                                  api::DecodePlacement(object, "test", api::Reading::kServed));
    }
    if (kind == Kind::kPodGroup) {
      return Take<api::PodGroup>(key, object, api::DecodePodGroup(object, "test"));
    }
    if (kind == Kind::kWorkload) {
      return Take<api::Workload>(key, object, api::DecodeWorkload(object, "test"));
    }
    if (kind == Kind::kService) {
      auto meta = object.is_null() ? Result<api::ObjectMeta>(api::ObjectMeta())
                                   : api::DecodeMetadata(object, "test");
      return Take<watch::Service>(key, object, watch::Service{*meta});
    }
  }

 private:
  template <typename T>
  void Take(const api::ObjectKey& key, const Json& object, Result<T> decoded) {
    if (object.is_null()) return store.Remove<T>({key});
    ASSERT_TRUE(decoded) << decoded.error().message;
    store.Put(*std::move(decoded));
  }
  void PutNode(const std::string& name) {
    api::Node node;
    node.meta.key.name = node.meta.uid = node.facts.name = name;
    node.facts.allocatable = {{"nvidia.com/gpu", 8}, {"pods", 110}};
    node.facts.conditions = {{"Ready", "True"}};
    store.Put(std::move(node));
  }
  Planner::Options PlannerOptions() {
    Planner::Options options;
    options.now = now_;
    options.on_answer = [](const api::ObjectKey&) {};
    options.on_workload_answer = [](const api::ObjectKey&) {};
    options.commits_at_once = 1;
    return options;
  }
  JobController::Options JobOptions(const std::function<bool()>& kueue_synced) {
    JobController::Options options;
    options.kueue_synced = kueue_synced;
    options.pod_groups = &pod_groups_;
    options.now = now_;
    options.gang_of = [this](const auto& job, const auto& placement) {
      return files_.Of(job, placement);
    };
    options.delete_files = [this](const auto& job, const auto* placement) {
      return files_.Delete(job, placement);
    };
    options.writes_at_once = 1;
    return options;
  }

  const std::function<UnixSeconds()> now_;
  Log log_{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  watch::FabricCache cache_;

 public:
  watch::Store store;

 private:
  PodGroups pod_groups_;
  GangFiles files_;

 public:
  Planner planner;
  JobController jobs;
  PlacementController gangs;
};

}  // namespace weft::controllers
